// The certificate and key of a server that speaks TLS.
#pragma once

#include <gnutls/gnutls.h>

#include <filesystem>
#include <memory>

namespace fovea::server {

/// Shared by the connections that were begun with it; whoever replaces the files loads another.
class TlsCredentials {
 public:
  /// Both files in PEM, the certificate perhaps followed by those that signed it. Throws FileError naming the file that
  /// cannot be read, is no certificate or no key, or whose key is not the certificate's.
  TlsCredentials(const std::filesystem::path& certificate, const std::filesystem::path& key);
  ~TlsCredentials();
  TlsCredentials(const TlsCredentials&) = delete;
  TlsCredentials& operator=(const TlsCredentials&) = delete;

  /// A session for a socket that has just been accepted: TLS 1.2 or 1.3. Throws Error when there is no memory.
  [[nodiscard]] gnutls_session_t session(int socket) const;

 private:
  gnutls_certificate_credentials_t credentials_ = nullptr;
  gnutls_priority_t priorities_ = nullptr;
};

}  // namespace fovea::server
