// fovea serve --model DIR [--model en-de=DIR …] [--model topics=DIR …] [--host H] [--port P]
//
// LibreTranslate's REST API, classification, attention, metrics and a page, until SIGTERM or SIGINT; SIGHUP loads the
// models and keys again.
#include "cli/command.hpp"
#include "cli/options/not_empty.hpp"
#include "cli/options/storage.hpp"
#include "cli/serve/serving.hpp"
#include "fovea/error.hpp"

namespace fovea::cli {
namespace {

struct ServeFlags {
  std::vector<std::string> models;
  server::ServerOptions server;
  LoadOptions load;
  std::string keys;
  std::string certificate, key;  // of TLS
  int memory = 512;              // MB
  int threads = 0;
};

void serve(ServeFlags& o, const Streams& streams) {
  for (const std::string& text : o.models) {
    o.server.models.push_back(server::ModelPlace::parse(text));
    o.server.models.back().load = o.load;
  }
  o.server.access.keys = o.keys;
  if (o.certificate.empty() != o.key.empty()) {
    throw UsageError(o.key.empty() ? "--tls-cert: needs --tls-key, the file of its private key"
                                   : "--tls-key: needs --tls-cert, the file of its certificate");
  }
  o.server.http.tls_certificate = o.certificate;
  o.server.http.tls_key = o.key;
  const std::size_t bytes = static_cast<std::size_t>(o.memory) << 20;
  o.server.http.bodies = std::make_shared<server::MemoryBudget>(bytes / 4);
  o.server.http.answers = std::make_shared<server::MemoryBudget>(bytes - bytes / 4);
  run_server(o.server, o.threads, streams);
}

}  // namespace

void add_serve(CLI::App& app, const Streams& streams) {
  auto* sub = app.add_subcommand("serve", "models of all tasks over HTTP: LibreTranslate's API, attention and a page");
  const auto o = std::make_shared<ServeFlags>();
  server::ServerOptions& s = o->server;
  sub->add_option("--model", o->models, "a model folder, or NAME=DIR: topics=DIR, en-de=DIR; may be repeated")
      ->required();
  add_type(*sub, o->load);
  sub->add_option("--host", s.http.host, "address to listen on");
  sub->add_option("--port", s.http.port, "port; 0: a free one");
  sub->add_option("--beam", s.api.beam, "hypotheses kept; 1: greedy")->check(CLI::Range(1, 100));
  sub->add_option("--api-keys", o->keys, "file of API keys, one per line, optionally followed by requests per minute");
  sub->add_option("--rate", s.access.rate, "requests per minute and client; 0: unlimited");
  sub->add_option("--queue", s.most_waiting, "requests in the queue of a model; more are answered 429")
      ->check(CLI::Range(1, 1000000));
  sub->add_option("--char-limit", s.api.char_limit, "characters of one text; -1: unlimited")
      ->check(CLI::Range(-1, 1 << 30));
  sub->add_option("--batch-limit", s.api.batch_limit, "texts of one request; -1: unlimited")
      ->check(CLI::Range(-1, 1 << 30));
  sub->add_option("--body-limit", s.http.body_limit, "bytes of one request")->check(CLI::Range(1, 1 << 30));
  sub->add_option("--connections", s.http.connections, "open connections; more wait")->check(CLI::Range(1, 1000000));
  sub->add_option("--timeout", s.http.receive_seconds, "seconds a client may take to send a request")
      ->check(CLI::Range(1, 86400));
  sub->add_option("--memory", o->memory, "MB for all requests and responses together; more are refused")
      ->check(CLI::Range(16, 1 << 20));
  sub->add_option("--tls-cert", o->certificate, "certificate chain in PEM: serve HTTPS");
  sub->add_option("--tls-key", o->key, "its private key in PEM");
  sub->add_flag("--learn", s.api.learn, "also serve the course (fovea learn), whose lessons train small models");
  sub->add_flag("--behind-proxy", s.http.behind_proxy, "take the address of a client from X-Forwarded-For");
  sub->add_option("--threads", o->threads, "default: all cores");
  refuse_empty_values(*sub);
  sub->callback([o, streams] { serve(*o, streams); });
}

}  // namespace fovea::cli
