// An HTTP client for tests: requests, and arbitrary bytes.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fovea::server::test {

/// A TCP connection to a local port.
class Wire {
 public:
  explicit Wire(int port) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(static_cast<std::uint16_t>(port));
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::connect(socket_, reinterpret_cast<sockaddr*>(&to), sizeof(to)) != 0) {
      ::close(socket_);
      throw std::runtime_error("cannot connect");
    }
  }
  ~Wire() { ::close(socket_); }
  Wire(const Wire&) = delete;
  Wire& operator=(const Wire&) = delete;

  /// False when the server has closed the connection.
  bool send(std::string_view bytes) {
    while (!bytes.empty()) {
      const auto sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }
  void finish_sending() { ::shutdown(socket_, SHUT_WR); }

  /// Appends received bytes; false at the end, or when nothing arrives for `seconds`.
  bool receive(std::string& to, double seconds = 20) {
    pollfd p{socket_, POLLIN, 0};
    if (::poll(&p, 1, static_cast<int>(seconds * 1000)) <= 0) return false;
    char buffer[65536];
    const auto got = ::recv(socket_, buffer, sizeof(buffer), 0);
    if (got <= 0) return false;
    to.append(buffer, static_cast<std::size_t>(got));
    return true;
  }
  /// Whether bytes or the end arrive within `seconds`; reads nothing.
  bool something_comes(double seconds) {
    pollfd p{socket_, POLLIN, 0};
    return ::poll(&p, 1, static_cast<int>(seconds * 1000)) > 0;
  }
  /// Whether the server closes the connection within `seconds`.
  bool closes(double seconds) {
    const auto until = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
    std::string ignored;
    while (std::chrono::steady_clock::now() < until) {
      pollfd p{socket_, POLLIN, 0};
      if (::poll(&p, 1, 50) > 0 && !receive(ignored, 0.1)) return true;
    }
    return false;
  }

 private:
  int socket_;
};

struct Answer {
  int status = 0;
  std::string head, body;

  [[nodiscard]] nlohmann::json json() const { return nlohmann::json::parse(body, nullptr, false); }
  [[nodiscard]] std::string error() const { return json().value("error", ""); }
  /// The value of a header, or empty.
  [[nodiscard]] std::string header(const std::string& name) const {
    const auto at = head.find("\r\n" + name + ": ");
    if (at == std::string::npos) return {};
    const auto from = at + name.size() + 4;
    return head.substr(from, head.find("\r\n", from) - from);
  }
};

/// Reads one response; status 0 when the connection ends before.
inline Answer read_answer(Wire& wire) {
  std::string bytes;
  Answer answer;
  std::size_t head_end = std::string::npos;
  while ((head_end = bytes.find("\r\n\r\n")) == std::string::npos) {
    if (!wire.receive(bytes)) return answer;
  }
  answer.head = bytes.substr(0, head_end + 2);
  bytes.erase(0, head_end + 4);
  const std::string length = answer.header("Content-Length");
  const std::size_t size = length.empty() ? 0 : std::stoul(length);
  while (bytes.size() < size) {
    if (!wire.receive(bytes)) return answer;
  }
  answer.body = bytes.substr(0, size);
  answer.status = std::stoi(answer.head.substr(9, 3));
  return answer;
}

inline std::string request_text(const std::string& method, const std::string& path, const std::string& body = "",
                                const std::string& type = "application/json", const std::string& more = "") {
  std::string text = method + " " + path + " HTTP/1.1\r\nHost: localhost\r\n" + more;
  if (method == "POST") {
    text += "Content-Type: " + type + "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n";
  }
  return text + "\r\n" + body;
}

inline Answer ask(int port, const std::string& method, const std::string& path, const std::string& body = "",
                  const std::string& type = "application/json", const std::string& more = "") {
  Wire wire(port);
  wire.send(request_text(method, path, body, type, more));
  return read_answer(wire);
}

inline Answer post(int port, const std::string& path, const nlohmann::json& body) {
  return ask(port, "POST", path, body.dump());
}

}  // namespace fovea::server::test
