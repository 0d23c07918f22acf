#include "cli/serve/serving.hpp"

#include <fmt/format.h>
#include <malloc.h>
#include <pthread.h>

#include <csignal>
#include <ostream>

#include "fovea/threads.hpp"

namespace fovea::cli {
namespace {

constexpr int kStopSeconds = 30;

// The signals of a server. The constructor blocks them before any thread starts, so that they can be waited for; the
// destructor restores them.
class Signals {
 public:
  Signals() {
    sigemptyset(&set_);
    for (const int s : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&set_, s);
    pthread_sigmask(SIG_BLOCK, &set_, &before_);
  }
  ~Signals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  [[nodiscard]] int wait() const {
    int got = 0;
    while (sigwait(&set_, &got) != 0) {
    }
    return got;
  }

 private:
  sigset_t set_{}, before_{};
};

}  // namespace

void run_server(const server::ServerOptions& options, int threads, const Streams& streams) {
  const Signals signals;
  (void)::mallopt(M_MMAP_THRESHOLD, server::kMappedBytes);
  if (threads != 0) set_threads(threads);
  server::Server server(options);
  const std::string& host = options.http.host;
  const bool ipv6 = host.find(':') != std::string::npos;
  for (const auto& model : server.models()->all())
    streams.out << fmt::format("model {} ({})\n", model->name(), enum_text(model->task()));
  streams.out << fmt::format("listening on {}://{}{}{}:{}\n", options.http.tls_key.empty() ? "http" : "https",
                             ipv6 ? "[" : "", host, ipv6 ? "]" : "", server.port())
              << std::flush;
  for (int signal = signals.wait(); signal == SIGHUP; signal = signals.wait()) {
    try {
      server.reload();
      streams.out << "models loaded again\n" << std::flush;
    } catch (const std::exception& error) {
      streams.err << fmt::format("fovea: {}; serving on with what was loaded\n", error.what()) << std::flush;
    }
  }
  streams.out << "stopping\n" << std::flush;
  server.stop(kStopSeconds);
}

}  // namespace fovea::cli
