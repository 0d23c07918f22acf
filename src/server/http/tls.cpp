#include "server/http/tls.hpp"

#include <fmt/format.h>
#include <gnutls/x509.h>

#include <fstream>
#include <iterator>
#include <string>

#include "fovea/error.hpp"

namespace fovea::server {
namespace {

constexpr std::size_t kLargestFile = std::size_t{1} << 20;

std::string read(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::string bytes(kLargestFile + 1, '\0');
  in.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  if (in.bad() || (in.fail() && !in.eof()) || in.gcount() == 0) throw FileError(file.string() + ": cannot be read");
  bytes.resize(static_cast<std::size_t>(in.gcount()));
  if (bytes.size() > kLargestFile) throw FileError(file.string() + ": larger than 1 MiB");
  return bytes;
}

gnutls_datum_t datum(std::string& bytes) {
  return {reinterpret_cast<unsigned char*>(bytes.data()), static_cast<unsigned>(bytes.size())};
}

// Each file is checked alone, so that an error names the right one.
void check_certificate(const std::filesystem::path& file, gnutls_datum_t bytes) {
  gnutls_x509_crt_t* list = nullptr;
  unsigned count = 0;
  const int code = gnutls_x509_crt_list_import2(&list, &count, &bytes, GNUTLS_X509_FMT_PEM, 0);
  if (code < 0) throw FileError(fmt::format("{}: no certificate in PEM: {}", file.string(), gnutls_strerror(code)));
  for (unsigned i = 0; i < count; ++i) gnutls_x509_crt_deinit(list[i]);
  gnutls_free(list);
}

void check_key(const std::filesystem::path& file, gnutls_datum_t bytes) {
  gnutls_x509_privkey_t key = nullptr;
  if (gnutls_x509_privkey_init(&key) < 0) throw Error("TLS: out of memory");
  const int code = gnutls_x509_privkey_import2(key, &bytes, GNUTLS_X509_FMT_PEM, nullptr, 0);
  gnutls_x509_privkey_deinit(key);
  if (code < 0) {
    throw FileError(
        fmt::format("{}: no private key in PEM without a password: {}", file.string(), gnutls_strerror(code)));
  }
}

}  // namespace

TlsCredentials::TlsCredentials(const std::filesystem::path& certificate, const std::filesystem::path& key) {
  std::string certificate_bytes = read(certificate);
  std::string key_bytes = read(key);
  const gnutls_datum_t certificate_datum = datum(certificate_bytes);
  const gnutls_datum_t key_datum = datum(key_bytes);
  check_certificate(certificate, certificate_datum);
  check_key(key, key_datum);
  if (gnutls_certificate_allocate_credentials(&credentials_) < 0) throw Error("TLS: out of memory");
  int code = gnutls_certificate_set_x509_key_mem(credentials_, &certificate_datum, &key_datum, GNUTLS_X509_FMT_PEM);
  const bool fits = code >= 0;
  if (fits) code = gnutls_priority_init(&priorities_, "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2", nullptr);
  gnutls_memset(key_bytes.data(), 0, key_bytes.size());
  if (code >= 0) return;
  gnutls_certificate_free_credentials(credentials_);
  if (!fits) {
    throw FileError(
        fmt::format("{}: not the key of {}: {}", key.string(), certificate.string(), gnutls_strerror(code)));
  }
  throw Error(fmt::format("TLS: {}", gnutls_strerror(code)));
}

TlsCredentials::~TlsCredentials() {
  gnutls_priority_deinit(priorities_);
  gnutls_certificate_free_credentials(credentials_);
}

gnutls_session_t TlsCredentials::session(int socket) const {
  gnutls_session_t session = nullptr;
  if (gnutls_init(&session, GNUTLS_SERVER | GNUTLS_NONBLOCK | GNUTLS_NO_SIGNAL) < 0) throw Error("TLS: out of memory");
  if (gnutls_priority_set(session, priorities_) < 0 ||
      gnutls_credentials_set(session, GNUTLS_CRD_CERTIFICATE, credentials_) < 0) {
    gnutls_deinit(session);
    throw Error("TLS: cannot create a session");
  }
  gnutls_transport_set_int(session, socket);
  return session;
}

}  // namespace fovea::server
