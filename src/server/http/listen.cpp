#include "server/http/listen.hpp"

#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include "fovea/error.hpp"

namespace fovea::server {
namespace {

constexpr int kBacklog = 1024;
constexpr int kOtherFiles = 64;  // of models, logs and libraries

}  // namespace

int listen_on(const std::string& host, int port) {
  if (port < 0 || port > 65535) throw UsageError("port", fmt::format("must be 0 to 65535, is {}", port));
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int failed = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
  if (failed != 0) {
    throw UsageError("host", fmt::format("\"{}\" is no address of this machine: {}", host, ::gai_strerror(failed)));
  }
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> all(found, ::freeaddrinfo);
  int error = 0;
  for (const addrinfo* a = found; a != nullptr; a = a->ai_next) {
    const int s = ::socket(a->ai_family, a->ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC, a->ai_protocol);
    if (s < 0) {
      error = errno;
      continue;
    }
    const int on = 1;
    (void)::setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    if (::bind(s, a->ai_addr, a->ai_addrlen) == 0 && ::listen(s, kBacklog) == 0) return s;
    error = errno;
    ::close(s);
  }
  throw Error(fmt::format("{}:{}: cannot listen: {}{}", host, port, std::strerror(error),
                          error == EADDRINUSE ? "; port chooses another" : ""));
}

int port_of(int socket) {
  sockaddr_storage address{};
  socklen_t size = sizeof(address);
  if (::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size) != 0) return 0;
  if (address.ss_family == AF_INET6) return ntohs(reinterpret_cast<sockaddr_in6&>(address).sin6_port);
  return ntohs(reinterpret_cast<sockaddr_in&>(address).sin_port);
}

int possible_connections(int wanted) {
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) != 0) return wanted;
  const auto needed = static_cast<rlim_t>(wanted) + kOtherFiles;
  if (files.rlim_cur < needed) {
    rlimit more = files;
    more.rlim_cur = std::min(needed, files.rlim_max);
    if (::setrlimit(RLIMIT_NOFILE, &more) == 0) files = more;
  }
  if (files.rlim_cur >= needed) return wanted;
  return std::max(1, static_cast<int>(files.rlim_cur) - kOtherFiles);
}

}  // namespace fovea::server
