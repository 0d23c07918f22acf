// Who a client is: its address.
#pragma once

#include <sys/socket.h>

#include <string>
#include <string_view>

namespace fovea::server {

/// Who has one address of an IPv6 network has all 2^64 of it: of those the network is told.
[[nodiscard]] std::string client_of(const sockaddr* address);
/// The last of a list of addresses, as X-Forwarded-For has them: the proxy that is trusted appends the one it saw.
/// Empty when there is none.
[[nodiscard]] std::string client_of(std::string_view forwarded);

}  // namespace fovea::server
