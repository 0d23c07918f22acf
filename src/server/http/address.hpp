// The address that identifies a client.
#pragma once

#include <sys/socket.h>

#include <string>
#include <string_view>

namespace fovea::server {

/// Of IPv6 the /64 prefix: a client usually has all addresses of its network.
[[nodiscard]] std::string client_of(const sockaddr* address);
/// The last address of an X-Forwarded-For header, which the trusted proxy appends. Empty when there is none.
[[nodiscard]] std::string client_of(std::string_view forwarded);

}  // namespace fovea::server
