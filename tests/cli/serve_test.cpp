// fovea serve as a process: options, signals and its exit.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <fstream>
#include <memory>

#include "server/client.hpp"
#include "support/files.hpp"
#include "support/scratch.hpp"
#include "support/tiny_model.hpp"

namespace fovea {
namespace {

using server::test::ask;
using server::test::post;
using testing::HasSubstr;

// A child process, with a way to wait for its output.
class Process {
 public:
  explicit Process(std::vector<std::string> arguments) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
    arguments.insert(arguments.begin(), FOVEA_BINARY_DIR "/fovea");
    std::vector<char*> argv;
    argv.reserve(arguments.size() + 1);
    for (auto& a : arguments) argv.push_back(a.data());
    argv.push_back(nullptr);
    child_ = ::fork();
    if (child_ == 0) {
      ::dup2(ends[1], STDOUT_FILENO);
      ::dup2(ends[1], STDERR_FILENO);
      ::execv(argv[0], argv.data());
      ::_exit(127);
    }
    ::close(ends[1]);
    out_ = ends[0];
  }
  ~Process() {
    if (child_ > 0) {
      ::kill(child_, SIGKILL);
      (void)wait();
    }
    ::close(out_);
  }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  /// Its whole output, as soon as that contains `text` or the process has ended.
  const std::string& until(const std::string& text) {
    while (said_.find(text) == std::string::npos && more()) {
    }
    return said_;
  }
  [[nodiscard]] int port() {
    const std::string before = "listening on http://127.0.0.1:";
    (void)until(before);
    while (said_.find('\n', said_.find(before)) == std::string::npos && more()) {
    }
    const auto at = said_.find(before);
    return at == std::string::npos ? 0 : std::stoi(said_.substr(at + before.size()));
  }
  void signal(int number) const { ::kill(child_, number); }
  /// Its peak resident memory.
  [[nodiscard]] double peak_megabytes() const {
    std::ifstream status("/proc/" + std::to_string(child_) + "/status");
    for (std::string word; status >> word;) {
      double kilobytes = 0;
      if (word == "VmHWM:" && status >> kilobytes) return kilobytes / 1024;
    }
    return 0;
  }
  /// The exit code, or minus the signal that ended it.
  int wait() {
    int status = 0;
    ::waitpid(child_, &status, 0);
    child_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }

 private:
  bool more() {
    char buffer[4096];
    const auto got = ::read(out_, buffer, sizeof(buffer));
    if (got <= 0) return false;
    said_.append(buffer, static_cast<std::size_t>(got));
    return true;
  }
  pid_t child_ = -1;
  int out_ = -1;
  std::string said_;
};

class Serve : public ::testing::Test {
 protected:
  void SetUp() override { test::write_tiny_model(folder_ / "model", test::tiny_rnn(), "en-de"); }
  [[nodiscard]] std::string model() const { return (folder_ / "model").string(); }
  test::Scratch folder_;
};

TEST_F(Serve, LoadsAgainOnSighupAndStopsOnSigterm) {
  Process process({"serve", "--port", "0", "--model", model()});
  const int port = process.port();
  const nlohmann::json question = {{"q", "one two three"}, {"source", "en"}, {"target", "de"}};
  const auto before = post(port, "/translate", question).json();
  EXPECT_TRUE(before.contains("translatedText"));
  test::write_tiny_model(folder_ / "model", test::tiny_rnn(), "en-fr", 9);
  process.signal(SIGHUP);
  (void)process.until("models loaded again");
  EXPECT_EQ(ask(port, "GET", "/languages").json()[1]["code"], "fr");
  test::write_text(folder_ / "model" / "config.json", "{");
  process.signal(SIGHUP);
  EXPECT_THAT(process.until("serving on"), HasSubstr("config.json"));
  EXPECT_EQ(ask(port, "GET", "/health").status, 200);
  process.signal(SIGTERM);
  EXPECT_EQ(process.wait(), 0);
}

TEST_F(Serve, StopsSoonWhileManyObjectsAreRead) {
  Process process({"serve", "--port", "0", "--model", model()});
  const int port = process.port();
  std::string body = R"({"q":"one","source":"en","target":"de","x":[{})";
  while (body.size() < 1'900'000) body += ",{}";
  const std::string request = server::test::request_text("POST", "/translate", body + "]}");
  std::vector<std::unique_ptr<server::test::Wire>> clients;
  for (int i = 0; i < 4; ++i) {
    clients.push_back(std::make_unique<server::test::Wire>(port));
    clients.back()->send(request);
  }
  const auto began = std::chrono::steady_clock::now();
  EXPECT_EQ(post(port, "/translate", {{"q", "one"}, {"source", "en"}, {"target", "de"}}).status, 200);
  process.signal(SIGTERM);
  EXPECT_EQ(process.wait(), 0);
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(30)) << "quadratic time would be minutes";
}

TEST_F(Serve, TypeRoundsAsQuantizeDoes) {
  const std::string rounded = (folder_ / "int8").string();
  ASSERT_EQ(test::run_cli({"quantize", "--model", model(), "--out", rounded, "--type", "int8"}).code, 0);
  const auto weights = [](std::vector<std::string> options) {
    options.insert(options.begin(), {"serve", "--port", "0"});
    Process process(options);
    const nlohmann::json question = {{"q", "one two three"}, {"source", "en"}, {"target", "de"}};
    return post(process.port(), "/attention", question).json()["weights"];
  };
  const auto quantized = weights({"--model", rounded});
  ASSERT_FALSE(quantized.empty());
  EXPECT_EQ(weights({"--model", model(), "--type", "int8"}), quantized);
  EXPECT_NE(weights({"--model", model()}), quantized);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // their own memory does not count
// On top of --memory: the stacks, and the buffers of two decoding threads.
constexpr double kOtherMegabytes = 40;

class ServeInMemory : public ::testing::Test {
 protected:
  void TearDown() override { EXPECT_LT(process_.peak_megabytes() - before_, 64 + kOtherMegabytes); }
  // Sends a request from many clients that never read; each must get a response or the end of its connection.
  void ask_without_reading(const std::string& request, int clients) {
    std::vector<std::unique_ptr<server::test::Wire>> silent;
    for (int i = 0; i < clients; ++i) {
      silent.push_back(std::make_unique<server::test::Wire>(port_));
      silent.back()->send(request);
    }
    for (const auto& one : silent) EXPECT_TRUE(one->something_comes(60)) << "an answer, or the end of the connection";
    EXPECT_EQ(ask(port_, "GET", "/health").status, 200);
  }
  test::Scratch model_folder_;
  Process process_{{"serve", "--port", "0", "--memory", "64", "--threads", "2", "--model", written_model()}};
  int port_ = process_.port();
  double before_ = process_.peak_megabytes();

 private:
  std::string written_model() {
    test::write_tiny_model(model_folder_ / "model", test::tiny_transformer(), "en-de");
    return (model_folder_ / "model").string();
  }
};

TEST_F(ServeInMemory, UnreadResponses) {
  std::string text;
  while (text.size() < 2500) text += "one two three four five six seven. ";
  const nlohmann::json question = {{"q", text}, {"source", "en"}, {"target", "de"}, {"beam", 1}};
  EXPECT_GT(post(port_, "/attention", question).body.size(), 4'000'000) << "so that 30 of them do not fit";
  ask_without_reading(server::test::request_text("POST", "/attention", question.dump()), 30);
}

TEST_F(ServeInMemory, UselessJson) {
  std::string body = R"({"x":[)";
  while (body.size() < 2'000'000) body += "[],";
  ask_without_reading(server::test::request_text("POST", "/translate", body + "[]]}"), 8);
}
#endif

TEST_F(Serve, SaysWhatIsWrongInOneLine) {
  const auto fails = [](const std::vector<std::string>& arguments, int code, const std::string& text) {
    const test::Ran ran = test::run_cli(arguments);
    EXPECT_EQ(ran.code, code);
    EXPECT_THAT(ran.err, HasSubstr(text));
    EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1);
  };
  fails({"serve"}, 2, "--model");
  fails({"serve", "--model", "/nowhere/at/all"}, 1, "/nowhere/at/all");
  fails({"serve", "--model", "english=" + model()}, 2, "en-de=DIR");
  fails({"serve", "--model", model(), "--port", "70000"}, 2, "--port");
  fails({"serve", "--model", model(), "--port", "0", "--host", "no host"}, 2, "--host");
  fails({"serve", "--model", model(), "--port", "0", "--api-keys", (folder_ / "none").string()}, 1, "none");
  fails({"serve", "--model", model(), "--rate", "-1"}, 2, "--rate");
  fails({"serve", "--model", model(), "--type", "int4"}, 2, "--type: \"int4\" is not one of fp32, f16, int8");
  for (const std::string& option :
       std::vector<std::string>{"--api-keys", "--tls-cert", "--tls-key", "--rate", "--host", "--port", "--memory",
                                "--char-limit", "--threads", "--type"}) {
    fails({"serve", "--model", model(), option, ""}, 2, option + ": is empty");
  }
  fails({"serve", "--model", ""}, 2, "--model: is empty");
  fails({"learn", "--host", ""}, 2, "--host: is empty");
  Process process({"serve", "--port", "0", "--model", model()});
  fails({"serve", "--model", model(), "--port", std::to_string(process.port())}, 1, "port chooses another");
}

}  // namespace
}  // namespace fovea
