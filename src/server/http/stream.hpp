// Bytes over a socket, plain or through TLS, without ever waiting.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

#include "server/http/tls.hpp"

namespace fovea::server {

class Stream {
 public:
  /// Owns the socket, which does not block. Without credentials it is plain.
  Stream(int socket, std::shared_ptr<const TlsCredentials> tls);
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  /// Bytes read; 0: none are there now; -1: the other side has ended, or the connection is broken.
  [[nodiscard]] std::ptrdiff_t read(char* to, std::size_t size);
  /// Bytes taken; 0: none can be taken now, and the next call must be given the same bytes; -1: broken. `more`: other
  /// bytes follow at once.
  [[nodiscard]] std::ptrdiff_t write(std::string_view bytes, bool more);
  /// Whether bytes wait that the socket no longer shows as readable.
  [[nodiscard]] bool pending() const;
  /// Whether reading waits until the socket can be written to, as in a handshake.
  [[nodiscard]] bool wants_write() const { return wants_write_; }
  /// Tells the other side that nothing more is coming.
  void finish();
  [[nodiscard]] int socket() const { return socket_; }

 private:
  [[nodiscard]] bool again(int code);  // of GnuTLS: whether to try later; sets wants_write_

  int socket_;
  std::shared_ptr<const TlsCredentials> tls_;
  gnutls_session_t session_ = nullptr;
  bool greeted_ = false;  // the handshake is done
  bool wants_write_ = false;
};

}  // namespace fovea::server
