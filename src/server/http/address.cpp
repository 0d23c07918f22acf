#include "server/http/address.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <cstdint>

namespace fovea::server {
namespace {

std::string network_of(in6_addr address) {
  if (!IN6_IS_ADDR_V4MAPPED(&address)) std::fill(address.s6_addr + 8, address.s6_addr + 16, std::uint8_t{0});
  char text[INET6_ADDRSTRLEN] = "";
  ::inet_ntop(AF_INET6, &address, text, sizeof(text));
  return text;
}

}  // namespace

std::string client_of(const sockaddr* address) {
  char text[INET6_ADDRSTRLEN] = "";
  if (address->sa_family == AF_INET) {
    ::inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in*>(address)->sin_addr, text, sizeof(text));
  } else if (address->sa_family == AF_INET6) {
    return network_of(reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr);
  }
  return text;
}

std::string client_of(std::string_view forwarded) {
  const std::size_t comma = forwarded.find_last_of(',');
  const std::size_t from = forwarded.find_first_not_of(" \t", comma == std::string_view::npos ? 0 : comma + 1);
  std::string last(from == std::string_view::npos ? std::string_view() : forwarded.substr(from));
  in6_addr address{};
  return ::inet_pton(AF_INET6, last.c_str(), &address) == 1 ? network_of(address) : last;
}

}  // namespace fovea::server
