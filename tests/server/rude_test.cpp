// Malformed requests and slow clients: an error or a closed connection, and other clients are served.
#include <gmock/gmock.h>
#include <sys/resource.h>

#include <chrono>
#include <thread>

#include "server/serving.hpp"

namespace fovea::server::test {
namespace {

using testing::AnyOf;

class Rude : public Serving {
 protected:
  void SetUp() override {
    Serving::SetUp();
    options_.http.receive_seconds = 1;
    options_.http.body_limit = 100000;
  }
  void TearDown() override {
    if (server_) {
      EXPECT_NE(text_of("one two"), "?") << "the server still answers";
    }
  }
};

TEST_F(Rude, MalformedBodiesAreRefused) {
  start();
  const std::vector<std::string> broken{"{",
                                        "",
                                        "null",
                                        "[]",
                                        "\"q\"",
                                        "{\"q\":}",
                                        "{\"q\":\"\xff\xfe\"}",
                                        "{\"q\":\"\\ud800\"}",
                                        std::string(50000, '['),
                                        std::string("\0\0", 2),
                                        "{\"q\":\"a\"}x"};
  for (const std::string& body : broken) {
    const Answer answer = ask(port_, "POST", "/translate", body);
    EXPECT_EQ(answer.status, 400) << body.substr(0, 20);
    EXPECT_EQ(answer.error(), "Invalid JSON format");
  }
}

TEST_F(Rude, InvalidUtf8IsRefused) {
  start();
  const std::string form = "application/x-www-form-urlencoded";
  EXPECT_EQ(ask(port_, "POST", "/translate", "q=%ff%fe&source=en&target=de", form).error(),
            "Invalid request: q parameter is not UTF-8");
  EXPECT_EQ(ask(port_, "POST", "/translate", "q=a&source=%ff&target=de", form).status, 400);
  EXPECT_EQ(ask(port_, "POST", "/translate?q=%ff&source=en&target=de").status, 400);
  EXPECT_EQ(ask(port_, "POST", "/translate", "q=%00%01one&source=en&target=de", form).status, 200);
  for (const char* type :
       {"multipart/form-data", "multipart/form-data; boundary=", "multipart/form-data; boundary=x"}) {
    EXPECT_EQ(ask(port_, "POST", "/translate", "--y\r\n\r\n", type).status, 400) << type;
  }
}

TEST_F(Rude, WrongTypesAreRefused) {
  start();
  const std::vector<nlohmann::json> values{7, 1.5, true, nlohmann::json::object(), {{"a", 1}}, {1, 2}, {nullptr}};
  for (const auto& value : values) {
    EXPECT_EQ(translate({{"q", value}}).status, 400) << value;
    EXPECT_EQ(translate({{"q", "one"}, {"source", value}}).status, 400) << value;
    EXPECT_EQ(translate({{"q", "one"}, {"target", value}}).status, 400) << value;
    EXPECT_EQ(post(port_, "/detect", {{"q", value}}).status, 400) << value;
  }
  EXPECT_EQ(translate({{"q", "one"}, {"alternatives", 1e300}}).status, 400);
  EXPECT_EQ(translate({{"q", "one"}, {"attention", "perhaps"}}).status, 400);
}

TEST_F(Rude, BodiesAboveTheLimitAreRefused) {
  start();
  EXPECT_EQ(translate({{"q", std::string(200000, 'a')}}).status, 413);
  Wire wire(port_);  // a huge Content-Length: refused before the body
  wire.send("POST /translate HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999\r\n\r\n");
  EXPECT_EQ(read_answer(wire).status, 413);
  Wire endless(port_);  // chunked, without a length
  endless.send("POST /translate HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n");
  const std::string piece = "10000\r\n" + std::string(0x10000, 'a') + "\r\n";
  bool open = true;
  for (int i = 0; open && i < 200; ++i) open = endless.send(piece);
  EXPECT_FALSE(open) << "an endless body is cut off";
}

TEST_F(Rude, TextWithoutSpacesIsSplit) {
  start();
  for (const std::string unit : {"a", "。", "<a "}) {
    std::string text;
    while (text.size() < 3000) text += unit;
    EXPECT_EQ(translate({{"q", text}, {"format", "html"}}).status, 200) << unit;
  }
}

TEST_F(Rude, OtherProtocolsAreRefused) {
  start();
  for (const std::string bytes : {"\x16\x03\x01\x02", "GET\r\n\r\n", "GET / HTTP/9.9\r\n\r\n", "\r\n\r\n\r\n\r\n",
                                  "GET / HTTP/1.1\r\nHost: x\r\nContent-Length: -5\r\n\r\n"}) {
    Wire wire(port_);
    wire.send(bytes);
    wire.finish_sending();
    EXPECT_THAT(read_answer(wire).status, AnyOf(0, 400, 413, 505)) << bytes;
  }
  Wire wire(port_);
  wire.send("GET /" + std::string(100000, 'a') + " HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_THAT(read_answer(wire).status, AnyOf(0, 400, 413, 414, 431));
}

// Bytes that a proxy may take for the body must not be answered as a second request.
TEST_F(Rude, ARequestOfAmbiguousLengthEndsItsConnection) {
  start();
  for (const std::string headers : {"Content-Length: 0\r\nContent-Length: 33\r\n", "Content-Length : 33\r\n",
                                    "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n"}) {
    Wire wire(port_);
    wire.send("POST /translate HTTP/1.1\r\nHost: x\r\n" + headers +
              "\r\n0\r\n\r\nGET /health HTTP/1.1\r\nHost: x\r\n\r\n");
    wire.finish_sending();
    EXPECT_THAT(read_answer(wire).status, AnyOf(0, 400)) << headers;
    EXPECT_EQ(read_answer(wire).status, 0) << headers;
  }
  Wire wire(port_);
  wire.send("GET /health HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_EQ(read_answer(wire).status, 200);
}

TEST_F(Rude, SlowClientsAreDisconnected) {
  start();
  Wire header(port_);
  Wire body(port_);
  header.send("GET /health HTT");
  body.send("POST /translate HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n{");
  // Single bytes keep the connections from being idle.
  bool open = true;
  for (int i = 0; open && i < 50; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    const bool one = header.send("P");
    const bool two = body.send(" ");
    open = one || two;
  }
  EXPECT_FALSE(open);
}

TEST_F(Rude, IdleConnectionsEnd) {
  start();
  Wire idle(port_);
  EXPECT_TRUE(idle.closes(4));
  Wire kept(port_);
  kept.send(request_text("GET", "/health"));
  EXPECT_EQ(read_answer(kept).status, 200);
  kept.send(request_text("GET", "/health"));
  EXPECT_EQ(read_answer(kept).status, 200) << "a connection serves several requests";
  EXPECT_TRUE(kept.closes(4));
}

TEST_F(Rude, DisconnectingClientsCostNothing) {
  start();
  for (int i = 0; i < 50; ++i) {
    Wire gone(port_);
    gone.send(request_text("POST", "/translate", R"({"q":"one two three","source":"en","target":"de"})"));
  }
  Wire half(port_);
  half.send(request_text("POST", "/translate", R"({"q":"one two three","source":"en","target":"de"})"));
  half.finish_sending();
  EXPECT_THAT(read_answer(half).status, AnyOf(0, 200)) << "a response or the end, without a timeout";
}

TEST_F(Rude, ThousandsOfConnectionsLeaveRoomForMore) {
  rlimit files{};
  ::getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = std::min<rlim_t>(files.rlim_max, 8192);
  ::setrlimit(RLIMIT_NOFILE, &files);
  const int many = files.rlim_cur >= 8192 ? 3000 : 300;
  options_.http.connections = many;  // fewer than connect
  options_.http.receive_seconds = 30;
  options_.http.crowded_seconds = 1;
  start();
  std::vector<std::unique_ptr<Wire>> crowd;
  for (int i = 0; i < many + 200; ++i) {
    crowd.push_back(std::make_unique<Wire>(port_));
    crowd.back()->send("GET /hea");
  }
  EXPECT_EQ(ask(port_, "GET", "/health").status, 200);
}

}  // namespace
}  // namespace fovea::server::test
