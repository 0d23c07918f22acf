#include "server/api/api.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "fovea/error.hpp"
#include "server/api/call.hpp"
#include "server/api/models/translation_model.hpp"
#include "tasks/learning/course.hpp"
#include "text/languages.hpp"
#include "view/assets.hpp"

namespace fovea::server {
namespace {

constexpr int kReaders = 2;                 // threads that parse requests
constexpr std::size_t kLongestError = 500;  // bytes of an error message
constexpr std::size_t kMostTrainings = 8;   // of the course, that wait for the running one

bool is_get(const Request& r) {
  return r.method == "GET" || r.method == "HEAD";
}

[[noreturn]] void wrong_method() {
  throw Refusal(405, "Method Not Allowed");
}

}  // namespace

Response error_response(const Refusal& refusal) {
  // Messages may quote what a client sent: they are cut, and what is not UTF-8 is replaced.
  std::string_view message = refusal.what();
  std::size_t length = std::min(message.size(), kLongestError);
  while (length < message.size() && length > 0 && (static_cast<unsigned char>(message[length]) & 0xC0U) == 0x80)
    --length;
  const nlohmann::json json = {
      {"error", std::string(message.substr(0, length)) + (length < message.size() ? "…" : "")}};
  Response response{refusal.status(), json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)};
  if (refusal.retry_after() > 0) response.headers.emplace_back("Retry-After", std::to_string(refusal.retry_after()));
  return response;
}

void allow_origins(Response& response) {
  response.headers.emplace_back("Access-Control-Allow-Origin", "*");
  response.headers.emplace_back("Access-Control-Allow-Headers", "Authorization, Content-Type");
  response.headers.emplace_back("Access-Control-Expose-Headers", "Authorization");
  response.headers.emplace_back("Access-Control-Allow-Methods", "GET, POST");
  response.headers.emplace_back("Access-Control-Allow-Credentials", "true");
  response.headers.emplace_back("Access-Control-Max-Age", "1728000");
}

Api::Api(const ApiOptions& options, Access& access, Metrics& metrics, std::shared_ptr<const Models> models)
    : options_(options),
      access_(access),
      metrics_(metrics),
      models_(std::move(models)),
      course_(options.learn ? std::make_unique<learning::Course>() : nullptr),
      trainer_(options.learn ? std::make_unique<TaskQueue>(1, kMostTrainings) : nullptr),
      readers_(kReaders, options.most_reading) {}

Api::~Api() {
  close();
}

void Api::close() {
  closing_ = true;  // a running training ends at its next step
  readers_.close();
  if (trainer_) trainer_->close();
}

std::shared_ptr<const Models> Api::models() const {
  const std::lock_guard lock(mutex_);
  return models_;
}

std::shared_ptr<const Models> Api::exchange_models(std::shared_ptr<const Models> models) {
  const std::lock_guard lock(mutex_);
  return std::exchange(models_, std::move(models));
}

std::optional<Response> Api::admit(const Request& request) {
  if (!is_work(request)) return {};
  try {
    access_.admit(request.client);
    return {};
  } catch (const Refusal& refusal) {
    Response response = error_response(refusal);
    allow_origins(response);
    metrics_.answered(label_of(request.path), response.status, 0);
    return response;
  }
}

void Api::handle(const std::shared_ptr<Request>& request, const std::shared_ptr<Reply>& reply) {
  const auto call = std::make_shared<Call>(Call{request, reply, label_of(request->path), models()});
  if (!is_work(*request)) return work(call);
  request->canceled = [this, reply] { return closing_.load() || reply->gone(); };
  if (!readers_.submit([this, call] { work(call); })) {
    finish(call, error_response(Refusal(429, "Slowdown: too many requests are waiting", 1)));
  }
}

void Api::work(const Shared& call) {
  if (call->reply->gone()) return;
  try {
    route(call);
  } catch (const Refusal& refusal) {
    finish(call, error_response(refusal));
  } catch (const std::exception& error) {
    finish(call, error_response(Refusal(500, error.what())));
  }
}

// A path and its handler. POST requests count for the rate limit and are parsed outside the connection thread.
struct Api::Endpoint {
  std::string_view path;
  std::string_view method;
  void (Api::*answer)(const Shared& call);
};

const Api::Endpoint* Api::endpoint(std::string_view path) {
  static constexpr Endpoint all[] = {
      {"/translate", "POST", &Api::translate},
      {"/detect", "POST", &Api::detect},
      {"/attention", "POST", &Api::attention},
      {"/explain", "POST", &Api::explain},
      {"/classify", "POST", &Api::classify},
      {"/caption", "POST", &Api::caption},
      {"/chat", "POST", &Api::chat},
      {"/learn/train", "POST", &Api::learn_train},
      {"/learn/ask", "POST", &Api::learn_ask},
      {"/learn", "GET", &Api::learn_state},
      {"/models", "GET", &Api::list_models},
      {"/languages", "GET", &Api::languages},
      {"/frontend/settings", "GET", &Api::settings},
      {"/health", "GET", &Api::health},
      {"/spec", "GET", &Api::spec},
      {"/metrics", "GET", &Api::metrics},
  };
  for (const Endpoint& one : all) {
    if (one.path == path) return &one;
  }
  return nullptr;
}

// The label of a path in the metrics.
std::string Api::label_of(const std::string& path) {
  if (path.starts_with("/assets/")) return "/assets";
  return path == "/" || path == "/assets" || endpoint(path) != nullptr ? path : "other";
}

bool Api::is_work(const Request& request) {
  const Endpoint* found = request.method == "POST" ? endpoint(request.path) : nullptr;
  return found != nullptr && found->method == "POST";
}

void Api::route(const Shared& call) {
  const Request& r = *call->request;
  if (r.method == "OPTIONS") return finish(call, {200, "", "text/plain"});
  if (const Endpoint* found = endpoint(r.path)) {
    if (found->method == "POST" ? r.method != "POST" : !is_get(r)) wrong_method();
    return (this->*found->answer)(call);
  }
  if (call->label == "other") throw Refusal(404, "Not Found");
  if (!is_get(r)) wrong_method();
  finish(call, page(r.path));
}

void Api::health(const Shared& call) {
  finish(call, {200, R"({"status":"ok"})"});
}

void Api::spec(const Shared& call) {
  finish(call, {200, spec_text()});
}

void Api::metrics(const Shared& call) {
  const Metrics::Gauges gauges{call->models->waiting(), connections_(), options_.bodies ? options_.bodies->held() : 0,
                               options_.memory->held()};
  finish(call, {200, metrics_.text(gauges), "text/plain; version=0.0.4"});
}

void Api::finish(const Shared& call, Response response) {
  call->answer(metrics_, std::move(response));
}

void Api::respond(const Shared& call, const std::function<Response()>& make) {
  if (call->reply->gone()) return;
  try {
    finish(call, make());
  } catch (const Refusal& refusal) {
    finish(call, error_response(refusal));
  } catch (const std::exception& error) {
    finish(call, error_response(Refusal(500, error.what())));
  }
}

void Api::check_access(Call& call) {
  if (call.account) return;  // the request is handled again, with new models
  call.account = access_.check(access_.needs_key() ? api_key_of(*call.request) : "", call.request->client);
}

void Api::charge(Call& call, int cost) {
  if (!call.charged) access_.charge(*call.account, cost);
  call.charged = true;
}

const TranslationModel& Api::model_for(const Models& models, const std::string& source, const std::string& target) {
  if (models.translations().empty()) (void)models.find(Task::generate, "");  // refuses
  if (const TranslationModel* model = models.translation(source, target)) return *model;
  if (!models.knows_source(source)) throw Refusal(400, fmt::format("{} is not supported", source));
  if (!models.knows_target(target)) throw Refusal(400, fmt::format("{} is not supported", target));
  throw Refusal(400, fmt::format("{} ({}) is not available as a target language from {} ({})",
                                 text::language_name(target), target, text::language_name(source), source));
}

void Api::submit(const Shared& call, const Model& model, const std::shared_ptr<Job>& job) {
  const Batcher::Taken taken = model.batcher().submit(job);
  if (taken == Batcher::Taken::yes) return call->request->forget_body();
  job->done = nullptr;
  if (taken == Batcher::Taken::full) throw Refusal(429, "Slowdown: too many requests are waiting", 1);
  // The models were reloaded since the request began: handle it again with the new ones.
  const auto now = models();
  if (now == call->models) throw Refusal(503, "the server is stopping", 1);
  call->models = now;
  route(call);
}

Response Api::page(const std::string& path) const {
  constexpr std::string_view assets = "/assets/";
  if (path != "/" && !path.starts_with(assets)) throw Refusal(404, "Not Found");
  const std::string name = path == "/" ? "app.html" : path.substr(assets.size());
  std::string_view bytes;
  try {
    bytes = view::asset(name);
  } catch (const Error&) {
    if (path != "/") throw Refusal(404, "Not Found");
    bytes =
        "<!doctype html><meta charset=utf-8><title>Fovea</title><p>Fovea answers here: POST /translate, /attention, "
        "/classify, /chat.";
  }
  const char* type = name.ends_with(".css")   ? "text/css; charset=utf-8"
                     : name.ends_with(".js")  ? "text/javascript; charset=utf-8"
                     : name.ends_with(".svg") ? "image/svg+xml"
                                              : "text/html; charset=utf-8";
  Response response{200, std::string(bytes), type};
  response.headers.emplace_back("Cache-Control", "no-cache");
  response.headers.emplace_back("X-Content-Type-Options", "nosniff");
  if (name.ends_with(".html")) {
    response.headers.emplace_back("Content-Security-Policy",
                                  "default-src 'self'; object-src 'none'; base-uri 'none'; frame-ancestors 'self'");
  }
  return response;
}

}  // namespace fovea::server
