// Valid and malformed HTTP requests.
#include "server/http/parser.hpp"

#include <gmock/gmock.h>

namespace fovea::server {
namespace {

using Step = RequestParser::Step;

struct Parsed {
  Step last = Step::more;
  int status = 0;
  std::string method, path, query, body, rest;
  bool keep_alive = false;
  bool operator==(const Parsed&) const = default;
};

// Parses `part` bytes at a time.
Parsed parsed(const std::string& text, std::size_t part) {
  RequestParser parser;
  Parsed out;
  for (std::size_t at = 0; at < text.size(); at += part) {
    std::string_view in = std::string_view(text).substr(at, part);
    do {
      out.last = parser.feed(in);
      if (out.last == Step::body) out.body += parser.piece();
    } while (out.last == Step::head || out.last == Step::body);
    if (out.last == Step::done) out.rest = std::string(in) + text.substr(std::min(text.size(), at + part));
    if (out.last != Step::more) break;
  }
  out.status = parser.status();
  out.method = parser.method();
  out.path = parser.path();
  out.query = parser.query();
  out.keep_alive = parser.keep_alive();
  return out;
}

Parsed whole(const std::string& text) {
  const Parsed out = parsed(text, text.size());
  EXPECT_EQ(parsed(text, 1), out) << "the result must not depend on the pieces: " << text.substr(0, 80);
  return out;
}

int status_of(const std::string& text) {
  return whole(text).status;
}

TEST(Parser, ReadsAGet) {
  const Parsed r = whole("GET /a%20b+c?q=1&x HTTP/1.1\r\nHost: x\r\nAccept:\t*/* \r\n\r\nGET");
  EXPECT_EQ(r.last, Step::done);
  EXPECT_EQ(r.method, "GET");
  EXPECT_EQ(r.path, "/a b+c");
  EXPECT_EQ(r.query, "q=1&x");
  EXPECT_EQ(r.rest, "GET");
  EXPECT_TRUE(r.keep_alive);
}

TEST(Parser, ReadsBodiesByLengthAndInChunks) {
  EXPECT_EQ(whole("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabcd").body, "abc");
  const Parsed r = whole(
      "POST / HTTP/1.1\r\nhost: x\r\ntransfer-ENCODING: Chunked\r\n\r\n3\r\nabc\r\nA;x=y\r\n0123456789\r\n0\r\nT: "
      "1\r\n\r\nGET");
  EXPECT_EQ(r.last, Step::done);
  EXPECT_EQ(r.body, "abc0123456789");
  EXPECT_EQ(r.rest, "GET");
}

TEST(Parser, KeepsOrClosesConnectionsAsRequested) {
  EXPECT_FALSE(whole("GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, Close\r\n\r\n").keep_alive);
  EXPECT_FALSE(whole("GET / HTTP/1.0\r\n\r\n").keep_alive);
  EXPECT_TRUE(whole("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n").keep_alive);
}

TEST(Parser, AcceptsTheFormsThatProxiesSend) {
  EXPECT_EQ(whole("GET http://x:80/health?a HTTP/1.1\r\nHost: x\r\n\r\n").path, "/health");
  EXPECT_EQ(whole("GET http://x HTTP/1.1\r\nHost: x\r\n\r\n").path, "/");
  EXPECT_EQ(whole("\r\nGET /b HTTP/1.1\r\nHost: x\r\n\r\n").path, "/b") << "an empty line before it";
}

TEST(Parser, RefusesWhatAProxyMightParseDifferently) {
  const std::string head = "POST / HTTP/1.1\r\nHost: x\r\n";
  for (const std::string bad : {
           "Content-Length: +5\r\n",
           "Content-Length: -5\r\n",
           "Content-Length: 5, 5\r\n",
           "Content-Length: 0x5\r\n",
           "Content-Length:\r\n",
           "Content-Length: 5\r\nContent-Length: 5\r\n",
           "Content-Length : 5\r\n",
           "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
           "Transfer-Encoding : chunked\r\nContent-Length: 5\r\n",
           "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
           "Host: y\r\n",
           "A: b\nC: d\r\n",
           "A: b\r\n c\r\n",
           "A: b\rC: d\r\n",
           "A\r\n",
           ": b\r\n",
           "A B: c\r\n",
       }) {
    EXPECT_EQ(status_of(head + bad + "\r\nabcde"), 400) << bad;
  }
  EXPECT_EQ(status_of(head + std::string("A: b\0c\r\n\r\n", 11)), 400);
  EXPECT_EQ(status_of("GET / HTTP/1.1\r\n\r\n"), 400) << "no Host";
  EXPECT_EQ(status_of("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"), 400);
  EXPECT_EQ(status_of(head + "Transfer-Encoding: gzip, chunked\r\n\r\n"), 501);
  EXPECT_EQ(status_of(head + "Expect: tea\r\n\r\n"), 417);
  EXPECT_EQ(status_of(head + "Content-Length: 99999999999999999999999\r\n\r\n"), 413);
}

TEST(Parser, RefusesMalformedChunks) {
  const std::string head = "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n";
  for (const std::string bad : {"3\nabc\n0\n\n", "3\r\nabc\n", "3\r\nabcd\r\n", "\r\n", "x\r\n", "+3\r\nabc\r\n",
                                "0x3\r\n", " 3\r\n", "fffffffffffffffff\r\n", "0\r\nA: b\n\r\n"}) {
    EXPECT_EQ(status_of(head + bad), 400) << bad;
  }
  EXPECT_EQ(status_of(head + std::string(300, '0') + "\r\n"), 400);
  EXPECT_EQ(status_of(head + "3;" + std::string(300, 'x')), 400);
}

TEST(Parser, RefusesMalformedRequestLines) {
  for (const std::string bad :
       {"GET\r\n\r\n", "GET /\r\n\r\n", "GET  / HTTP/1.1\r\n", "GET / HTTP/1.1 \r\n", "G(T / HTTP/1.1\r\n",
        "GET x HTTP/1.1\r\n", "\r\n\r\n", "GET / HTTX/1.1\r\n", "\x16\x03\x01", "GET / HTTP/1.1\n"}) {
    EXPECT_EQ(status_of(bad), 400) << bad;
  }
  EXPECT_EQ(status_of("GET / HTTP/2.0\r\n"), 505);
}

TEST(Parser, RefusesEverythingAboveItsLimit) {
  EXPECT_EQ(status_of("GET /" + std::string(9000, 'a')), 414);
  std::string many = "GET /health?a=1";
  for (int i = 0; i < 500; ++i) many += "&a=1";
  EXPECT_EQ(status_of(many + " HTTP/1.1\r\n"), 414);
  std::string headers = "GET / HTTP/1.1\r\nHost: x\r\n";
  for (int i = 0; i < 150; ++i) headers += "A: b\r\n";
  EXPECT_EQ(status_of(headers), 431);
  EXPECT_EQ(status_of("GET / HTTP/1.1\r\nHost: x\r\nA: " + std::string(40000, 'b')), 431);
}

}  // namespace
}  // namespace fovea::server
