// HTTPS with a generated certificate and a client that verifies it.
#include <gmock/gmock.h>
#include <gnutls/x509.h>

#include <array>
#include <thread>

#include "fovea/error.hpp"
#include "server/serving.hpp"

namespace fovea::server::test {
namespace {

using testing::HasSubstr;

struct Pem {
  std::string certificate, key;
};

std::string text_of(gnutls_datum_t& datum) {
  std::string text(reinterpret_cast<const char*>(datum.data), datum.size);
  gnutls_free(datum.data);
  return text;
}

// A P-256 key and a self-signed certificate for localhost.
Pem make_certificate() {
  gnutls_x509_privkey_t key = nullptr;
  gnutls_x509_crt_t certificate = nullptr;
  gnutls_x509_privkey_init(&key);
  gnutls_x509_privkey_generate(key, GNUTLS_PK_ECDSA, GNUTLS_CURVE_TO_BITS(GNUTLS_ECC_CURVE_SECP256R1), 0);
  gnutls_x509_crt_init(&certificate);
  const std::string name = "localhost";
  gnutls_x509_crt_set_version(certificate, 3);
  gnutls_x509_crt_set_serial(certificate, "\1", 1);
  gnutls_x509_crt_set_dn_by_oid(certificate, GNUTLS_OID_X520_COMMON_NAME, 0, name.data(), 9);
  gnutls_x509_crt_set_subject_alt_name(certificate, GNUTLS_SAN_DNSNAME, name.data(), 9, GNUTLS_FSAN_SET);
  gnutls_x509_crt_set_activation_time(certificate, ::time(nullptr) - 60);
  gnutls_x509_crt_set_expiration_time(certificate, ::time(nullptr) + 3600);
  gnutls_x509_crt_set_basic_constraints(certificate, 1, -1);
  gnutls_x509_crt_set_key(certificate, key);
  EXPECT_EQ(gnutls_x509_crt_sign2(certificate, certificate, key, GNUTLS_DIG_SHA256, 0), 0);
  gnutls_datum_t pem{};
  Pem out;
  EXPECT_EQ(gnutls_x509_crt_export2(certificate, GNUTLS_X509_FMT_PEM, &pem), 0);
  out.certificate = text_of(pem);
  EXPECT_EQ(gnutls_x509_privkey_export2(key, GNUTLS_X509_FMT_PEM, &pem), 0);
  out.key = text_of(pem);
  gnutls_x509_crt_deinit(certificate);
  gnutls_x509_privkey_deinit(key);
  return out;
}

// The response to `request`, read until the server closes; empty when the certificate is not `trusted`.
std::string ask_over_tls(int port, const std::string& request, const std::string& trusted) {
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(static_cast<std::uint16_t>(port));
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(socket, reinterpret_cast<sockaddr*>(&to), sizeof(to)) != 0) throw std::runtime_error("cannot connect");
  gnutls_certificate_credentials_t credentials = nullptr;
  gnutls_session_t session = nullptr;
  gnutls_certificate_allocate_credentials(&credentials);
  std::string bytes = trusted;
  const gnutls_datum_t datum{reinterpret_cast<unsigned char*>(bytes.data()), static_cast<unsigned>(bytes.size())};
  gnutls_certificate_set_x509_trust_mem(credentials, &datum, GNUTLS_X509_FMT_PEM);
  gnutls_init(&session, GNUTLS_CLIENT);
  gnutls_set_default_priority(session);
  gnutls_credentials_set(session, GNUTLS_CRD_CERTIFICATE, credentials);
  gnutls_session_set_verify_cert(session, "localhost", 0);
  gnutls_transport_set_int(session, socket);
  int code = 0;
  do {
    code = gnutls_handshake(session);
  } while (code < 0 && gnutls_error_is_fatal(code) == 0);
  std::string got;
  if (code == 0) {
    for (std::string_view rest = request; !rest.empty();) {
      const auto sent = gnutls_record_send(session, rest.data(), rest.size());
      if (sent <= 0) break;
      rest.remove_prefix(static_cast<std::size_t>(sent));
    }
    std::array<char, 16384> buffer{};
    for (ssize_t n = 0; (n = gnutls_record_recv(session, buffer.data(), buffer.size())) > 0 || n == GNUTLS_E_AGAIN;) {
      if (n > 0) got.append(buffer.data(), static_cast<std::size_t>(n));
    }
  }
  gnutls_deinit(session);
  gnutls_certificate_free_credentials(credentials);
  ::close(socket);
  return got;
}

class Tls : public Serving {
 protected:
  void SetUp() override {
    Serving::SetUp();
    write(pem_);
    options_.http.tls_certificate = folder_ / "cert.pem";
    options_.http.tls_key = folder_ / "key.pem";
  }
  void write(const Pem& pem) const {
    fovea::test::write_text(folder_ / "cert.pem", pem.certificate);
    fovea::test::write_text(folder_ / "key.pem", pem.key);
  }
  [[nodiscard]] std::string health(const std::string& trusted) const {
    return ask_over_tls(port_, request_text("GET", "/health", "", "", "Connection: close\r\n"), trusted);
  }
  Pem pem_ = make_certificate();
};

TEST_F(Tls, AnswersClientsThatTrustItsCertificate) {
  start();
  EXPECT_THAT(health(pem_.certificate), testing::EndsWith("\r\n\r\n{\"status\":\"ok\"}"));
  EXPECT_EQ(health(make_certificate().certificate), "") << "another certificate";
}

TEST_F(Tls, CarriesLargeBodiesAndResponses) {
  start();
  std::string q;
  while (q.size() < 90'000) q += "one two three. ";
  const std::string body = nlohmann::json{{"q", q}, {"source", "en"}, {"target", "de"}}.dump();
  const std::string got = ask_over_tls(
      port_, request_text("POST", "/translate", body, "application/json", "Connection: close\r\n"), pem_.certificate);
  EXPECT_THAT(got.substr(0, 15), "HTTP/1.1 200 OK");
  const auto answer = nlohmann::json::parse(got.substr(got.find("\r\n\r\n") + 4), nullptr, false);
  EXPECT_TRUE(answer.is_object());
}

TEST_F(Tls, TwoPipelinedRequestsHaveTwoResponses) {
  start();
  const std::string got = ask_over_tls(
      port_, request_text("GET", "/health") + request_text("GET", "/health", "", "", "Connection: close\r\n"),
      pem_.certificate);
  EXPECT_NE(got.find("HTTP/1.1 200", 1), std::string::npos) << got;
}

TEST_F(Tls, PlainHttpHasNoResponse) {
  start();
  EXPECT_EQ(ask(port_, "GET", "/health").status, 0);
  Wire silent(port_);
  silent.send("\x16\x03\x01");
  EXPECT_NE(health(pem_.certificate), "") << "an unfinished handshake does not block others";
}

TEST_F(Tls, ReloadUsesANewCertificateAndKeepsTheOldOneIfItIsInvalid) {
  start();
  const Pem fresh = make_certificate();
  write(fresh);
  server_->reload();
  EXPECT_NE(health(fresh.certificate), "");
  EXPECT_EQ(health(pem_.certificate), "");
  fovea::test::write_text(folder_ / "cert.pem", "none");
  EXPECT_THAT(fovea::test::message_of<FileError>([&] { server_->reload(); }), HasSubstr("cert.pem: no certificate"));
  EXPECT_NE(health(fresh.certificate), "") << "the old certificate";
}

TEST_F(Tls, ErrorsNameTheFile) {
  const auto error = [&] { return fovea::test::message_of<FileError>([&] { start(); }); };
  fovea::test::write_text(folder_ / "key.pem", "none");
  EXPECT_THAT(error(), HasSubstr("key.pem: no private key in PEM"));
  fovea::test::write_text(folder_ / "key.pem", make_certificate().key);
  EXPECT_THAT(error(), HasSubstr("key.pem: not the key of"));
  options_.http.tls_key = folder_ / "missing.pem";
  EXPECT_THAT(error(), HasSubstr("missing.pem: cannot be read"));
  options_.http.tls_key = "";
  EXPECT_THROW(start(), UsageError);
}

}  // namespace
}  // namespace fovea::server::test
