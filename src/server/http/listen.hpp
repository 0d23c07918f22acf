// A listening TCP socket.
#pragma once

#include <string>

namespace fovea::server {

/// Returns the socket. Throws UsageError for an invalid host, Error when the address is taken.
[[nodiscard]] int listen_on(const std::string& host, int port);
/// The port a socket is bound to.
[[nodiscard]] int port_of(int socket);
/// Raises the process's limit of open files for `wanted` connections; returns how many are possible, at most `wanted`.
[[nodiscard]] int possible_connections(int wanted);

}  // namespace fovea::server
