// The API of the server: LibreTranslate's API, other tasks, attention, metrics and the page.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "server/api/batching/task_queue.hpp"
#include "server/api/models/models.hpp"
#include "server/http/access.hpp"
#include "server/http/fields.hpp"
#include "server/http/metrics.hpp"
#include "server/http/request.hpp"

namespace fovea::learning {
class Course;
}

namespace fovea::server {

constexpr int kWidestBeam = 32;  // whose tree is sent: every hypothesis is a node

struct ApiOptions {
  int beam = 5;
  int char_limit = 100000;  // characters of one text; -1: unlimited
  int batch_limit = 1000;   // texts of one request; -1: unlimited
  int alternatives_limit = 10;
  bool learn = false;                          // serve the course, whose lessons train small models
  std::size_t most_reading = 512;              // requests that wait to be parsed; more are answered 429
  std::shared_ptr<const MemoryBudget> bodies;  // for /metrics; may be empty
  // For all requests together: lines, weights, and responses while they are written.
  std::shared_ptr<MemoryBudget> memory = std::make_shared<MemoryBudget>(std::size_t{384} << 20);
};

class Api {
 public:
  /// `access` and `metrics` must outlive it.
  Api(const ApiOptions& options, Access& access, Metrics& metrics, std::shared_ptr<const Models> models);
  ~Api();

  /// Called before the body of a request is read: the refusal, if its client is above its rate limit.
  [[nodiscard]] std::optional<Response> admit(const Request& request);
  /// Answers a request, now or when a model has finished. Never throws for a mistake of a client.
  void handle(const std::shared_ptr<Request>& request, const std::shared_ptr<Reply>& reply);
  /// Discards the requests that are not parsed yet.
  void close();

  [[nodiscard]] std::shared_ptr<const Models> models() const;
  /// Uses these models for new requests; returns the old ones.
  std::shared_ptr<const Models> exchange_models(std::shared_ptr<const Models> models);
  void set_connections(std::function<int()> count) { connections_ = std::move(count); }

 private:
  struct Call;  // a request being handled
  using Shared = std::shared_ptr<Call>;
  struct Endpoint;  // a path and its handler
  [[nodiscard]] static const Endpoint* endpoint(std::string_view path);
  [[nodiscard]] static std::string label_of(const std::string& path);
  [[nodiscard]] static bool is_work(const Request& request);

  void route(const Shared& call);
  void work(const Shared& call);
  // The handlers, one per path; the table is in api.cpp.
  void translate(const Shared& call);
  void attention(const Shared& call);
  void explain(const Shared& call);
  void detect(const Shared& call);
  void classify(const Shared& call);
  void caption(const Shared& call);
  void chat(const Shared& call);
  void learn_train(const Shared& call);
  void learn_ask(const Shared& call);
  void learn_state(const Shared& call);
  void list_models(const Shared& call);
  void languages(const Shared& call);
  void settings(const Shared& call);
  void health(const Shared& call);
  void spec(const Shared& call);
  void metrics(const Shared& call);
  [[nodiscard]] Response page(const std::string& path) const;

  /// Checks the key and the rate limit, before anything else of the body is parsed.
  void check_access(Call& call);
  /// Counts a request as `cost` requests.
  void charge(Call& call, int cost);
  /// The model of a language pair. Throws LibreTranslate's Refusal when there is none.
  [[nodiscard]] static const TranslationModel& model_for(const Models& models, const std::string& source,
                                                         const std::string& target);
  /// Throws Refusal if the course is not served.
  [[nodiscard]] learning::Course& course() const;
  void submit(const Shared& call, const Model& model, const std::shared_ptr<Job>& job);
  void finish(const Shared& call, Response response);
  /// Finishes with the result of `make` or the error it throws.
  void respond(const Shared& call, const std::function<Response()>& make);

  const ApiOptions options_;
  Access& access_;
  Metrics& metrics_;
  std::function<int()> connections_ = [] { return 0; };
  mutable std::mutex mutex_;
  std::shared_ptr<const Models> models_;
  std::unique_ptr<learning::Course> course_;  // empty: not served
  std::atomic<bool> closing_ = false;
  std::unique_ptr<TaskQueue> trainer_;  // a thread for the trainings of the course; empty: not served
  TaskQueue readers_;                   // last: its threads use the other members
};

/// {"error": message}; 429 carries Retry-After.
[[nodiscard]] Response error_response(const Refusal& refusal);
/// Adds the CORS headers of LibreTranslate, which allow pages of any origin.
void allow_origins(Response& response);
/// The description of the API for GET /spec (Swagger 2).
[[nodiscard]] std::string spec_text();

}  // namespace fovea::server
