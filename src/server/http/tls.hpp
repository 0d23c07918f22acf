// The certificate and key of a TLS server.
#pragma once

#include <gnutls/gnutls.h>

#include <filesystem>
#include <memory>

namespace fovea::server {

/// Shared by the connections that started with it; reloading the files creates another.
class TlsCredentials {
 public:
  /// Both files in PEM; the certificate may be followed by its chain. Throws FileError naming the file that cannot be
  /// read or is not a certificate or key, and a key that does not belong to the certificate.
  TlsCredentials(const std::filesystem::path& certificate, const std::filesystem::path& key);
  ~TlsCredentials();
  TlsCredentials(const TlsCredentials&) = delete;
  TlsCredentials& operator=(const TlsCredentials&) = delete;

  /// A session, TLS 1.2 or 1.3, for an accepted socket. Throws Error when out of memory.
  [[nodiscard]] gnutls_session_t session(int socket) const;

 private:
  gnutls_certificate_credentials_t credentials_ = nullptr;
  gnutls_priority_t priorities_ = nullptr;
};

}  // namespace fovea::server
