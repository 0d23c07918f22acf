#include "server/http/stream.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace fovea::server {
namespace {

bool try_later(int error) {
  return error == EAGAIN || error == EWOULDBLOCK || error == EINTR;
}

}  // namespace

Stream::Stream(int socket, std::shared_ptr<const TlsCredentials> tls) : socket_(socket), tls_(std::move(tls)) {
  try {
    if (tls_ != nullptr) session_ = tls_->session(socket);
  } catch (...) {
    ::close(socket);
    throw;
  }
}

Stream::~Stream() {
  if (session_ != nullptr) gnutls_deinit(session_);
  ::close(socket_);
}

bool Stream::again(int code) {
  wants_write_ = false;
  if (code == GNUTLS_E_REHANDSHAKE || gnutls_error_is_fatal(code) != 0) return false;
  wants_write_ = code == GNUTLS_E_AGAIN && gnutls_record_get_direction(session_) == 1;
  return true;
}

std::ptrdiff_t Stream::read(char* to, std::size_t size) {
  if (session_ == nullptr) {
    const auto got = ::recv(socket_, to, size, 0);
    if (got > 0) return got;
    return got < 0 && try_later(errno) ? 0 : -1;
  }
  wants_write_ = false;
  if (!greeted_) {
    const int code = gnutls_handshake(session_);
    if (code < 0) return again(code) ? 0 : -1;
    greeted_ = true;
  }
  const auto got = gnutls_record_recv(session_, to, size);
  if (got > 0) return got;
  return got < 0 && again(static_cast<int>(got)) ? 0 : -1;
}

std::ptrdiff_t Stream::write(std::string_view bytes, bool more) {
  if (session_ == nullptr) {
    const auto sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL | (more ? MSG_MORE : 0));
    if (sent >= 0) return sent;
    return try_later(errno) ? 0 : -1;
  }
  const auto sent = gnutls_record_send(session_, bytes.data(), bytes.size());
  if (sent >= 0) return sent;
  return again(static_cast<int>(sent)) ? 0 : -1;
}

bool Stream::pending() const {
  return session_ != nullptr && gnutls_record_check_pending(session_) > 0;
}

void Stream::finish() {
  if (session_ != nullptr && greeted_) (void)gnutls_bye(session_, GNUTLS_SHUT_WR);
  (void)::shutdown(socket_, SHUT_WR);
}

}  // namespace fovea::server
