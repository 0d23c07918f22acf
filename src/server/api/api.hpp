// What the server answers: LibreTranslate's API, other tasks, attention, metrics and the page.
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
#include "server/http/http.hpp"
#include "server/http/metrics.hpp"

namespace fovea::learning {
class Course;
}

namespace fovea::server {

constexpr int kWidestBeam = 32;  // that is shown: every hypothesis is a node of a tree

struct ApiOptions {
  int beam = 5;
  int char_limit = 100000;  // characters of one text; -1: any number
  int batch_limit = 1000;   // texts of one request; -1: any number
  int alternatives_limit = 10;
  bool learn = false;                          // offer the course, whose lessons train small models here
  std::size_t most_reading = 512;              // requests whose bodies wait to be read; more are answered 429
  std::shared_ptr<const MemoryBudget> bodies;  // told in /metrics; may be empty
  // Bytes held for all requests: their lines, their weights, their answers while they are written.
  std::shared_ptr<MemoryBudget> memory = std::make_shared<MemoryBudget>(std::size_t{384} << 20);
};

class Api {
 public:
  /// What it is given must outlive it.
  Api(const ApiOptions& options, Access& access, Metrics& metrics, std::shared_ptr<const Models> models);
  ~Api();

  /// Before the body of a request has been read: its refusal, when its client has had its share.
  [[nodiscard]] std::optional<Response> admit(const Request& request);
  /// Answers a request, now or when a model has done its part. Never throws what a client could cause.
  void handle(const std::shared_ptr<Request>& request, const std::shared_ptr<Reply>& reply);
  /// No request that has not been read by now will be.
  void close();

  [[nodiscard]] std::shared_ptr<const Models> models() const;
  /// From now on requests go to these; gives back those that were.
  std::shared_ptr<const Models> exchange_models(std::shared_ptr<const Models> models);
  void set_connections(std::function<int()> count) { connections_ = std::move(count); }

 private:
  struct Call;  // a request on its way
  using Shared = std::shared_ptr<Call>;
  struct Endpoint;  // a path and what answers it
  [[nodiscard]] static const Endpoint* endpoint(std::string_view path);
  [[nodiscard]] static std::string label_of(const std::string& path);
  [[nodiscard]] static bool is_work(const Request& request);

  void route(const Shared& call);
  void work(const Shared& call);
  // One for each path; the table is in api.cpp.
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

  /// Key and rate, before anything else of the body is read.
  void check_access(Call& call);
  /// What a request counts as beyond one.
  void charge(Call& call, int cost);
  /// The model of a pair, in LibreTranslate's words when there is none.
  [[nodiscard]] static const TranslationModel& model_for(const Models& models, const std::string& source,
                                                         const std::string& target);
  /// Throws Refusal where it is not offered.
  [[nodiscard]] learning::Course& course() const;
  void submit(const Shared& call, const Model& model, const std::shared_ptr<Job>& job);
  void finish(const Shared& call, Response response);
  /// Finishes with what `make` gives or with what it throws.
  void respond(const Shared& call, const std::function<Response()>& make);

  const ApiOptions options_;
  Access& access_;
  Metrics& metrics_;
  std::function<int()> connections_ = [] { return 0; };
  mutable std::mutex mutex_;
  std::shared_ptr<const Models> models_;
  std::unique_ptr<learning::Course> course_;  // empty: not offered
  std::atomic<bool> closing_ = false;
  std::unique_ptr<TaskQueue> trainer_;  // one thread for the course's trainings; empty: not offered
  TaskQueue readers_;                   // last: its threads use the others
};

/// {"error": message}; 429 carries Retry-After.
[[nodiscard]] Response error_response(const Refusal& refusal);
/// The headers that let pages from anywhere ask, as LibreTranslate has them.
void allow_origins(Response& response);
/// The description of the API for GET /spec (Swagger 2).
[[nodiscard]] std::string spec_text();

}  // namespace fovea::server
