// Non-blocking bytes over a socket, plain or through TLS.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

#include "server/http/tls.hpp"

namespace fovea::server {

class Stream {
 public:
  /// Owns the socket, which must be non-blocking. Plain without credentials.
  Stream(int socket, std::shared_ptr<const TlsCredentials> tls);
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  /// Bytes read; 0: none available; -1: end of stream or error.
  [[nodiscard]] std::ptrdiff_t read(char* to, std::size_t size);
  /// Bytes sent; 0: none can be sent now, and the next call must pass the same bytes; -1: error. `more`: other bytes
  /// follow at once.
  [[nodiscard]] std::ptrdiff_t write(std::string_view bytes, bool more);
  /// Whether TLS has buffered bytes that epoll does not report.
  [[nodiscard]] bool pending() const;
  /// Whether reading has to wait until the socket is writable, as in a handshake.
  [[nodiscard]] bool wants_write() const { return wants_write_; }
  /// Ends the outgoing direction.
  void finish();
  [[nodiscard]] int socket() const { return socket_; }

 private:
  [[nodiscard]] bool again(int code);  // whether a GnuTLS call can be repeated later; sets wants_write_

  int socket_;
  std::shared_ptr<const TlsCredentials> tls_;
  gnutls_session_t session_ = nullptr;
  bool greeted_ = false;  // the handshake is done
  bool wants_write_ = false;
};

}  // namespace fovea::server
