// A listening TCP socket.
#pragma once

#include <string>

namespace fovea::server {

/// The socket's number. Throws UsageError for a host that cannot be, Error when the address is taken.
[[nodiscard]] int listen_on(const std::string& host, int port);
/// The port a socket is bound to.
[[nodiscard]] int port_of(int socket);
/// How many connections there may be, `wanted` at most: raises the process's limit of open files for that if it may.
[[nodiscard]] int possible_connections(int wanted);

}  // namespace fovea::server
