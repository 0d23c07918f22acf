#include "server/api/api.hpp"

#include <fmt/format.h>

#include <array>

#include "fovea/error.hpp"
#include "server/api/call.hpp"
#include "text/languages.hpp"
#include "view/assets.hpp"

namespace fovea::server {
namespace {

constexpr std::array<std::string_view, 13> kPaths = {
    "/",        "/translate", "/detect",  "/attention", "/languages", "/frontend/settings", "/health", "/spec",
    "/metrics", "/classify",  "/caption", "/chat",      "/assets"};

std::string label_of(const std::string& path) {
  if (path.starts_with("/assets/")) return "/assets";
  for (const std::string_view known : kPaths) {
    if (path == known) return path;
  }
  return "other";
}

bool is_get(const Request& r) {
  return r.method == "GET" || r.method == "HEAD";
}

[[noreturn]] void wrong_method() {
  throw Refusal(405, "Method Not Allowed");
}

}  // namespace

Response error_response(const Refusal& refusal) {
  // Messages may hold what a client sent; what is not UTF-8 of it is replaced.
  const nlohmann::json json = {{"error", refusal.what()}};
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
    : options_(options), access_(access), metrics_(metrics), models_(std::move(models)) {}

std::shared_ptr<const Models> Api::models() const {
  const std::lock_guard lock(mutex_);
  return models_;
}

std::shared_ptr<const Models> Api::exchange_models(std::shared_ptr<const Models> models) {
  const std::lock_guard lock(mutex_);
  return std::exchange(models_, std::move(models));
}

void Api::handle(const std::shared_ptr<const Request>& request, const std::shared_ptr<Reply>& reply) {
  const auto call = std::make_shared<Call>(Call{request, reply, label_of(request->path), models()});
  try {
    route(call);
  } catch (const Refusal& refusal) {
    finish(call, error_response(refusal));
  } catch (const std::exception& error) {
    finish(call, error_response(Refusal(500, error.what())));
  }
}

void Api::route(const Shared& call) {
  const Request& r = *call->request;
  const std::string& path = r.path;
  if (r.method == "OPTIONS") return finish(call, {200, "", "text/plain"});
  if (path == "/translate" || path == "/detect" || path == "/attention" || path == "/classify" || path == "/caption" ||
      path == "/chat") {
    if (r.method != "POST") wrong_method();
    if (path == "/translate") return translate(call);
    if (path == "/detect") return detect(call);
    if (path == "/attention") return attention(call);
    throw Refusal(400, fmt::format("no model that is loaded has the task \"{}\"", path.substr(1)));
  }
  if (call->label == "other") throw Refusal(404, "Not Found");
  if (!is_get(r)) wrong_method();
  if (path == "/languages") return finish(call, languages());
  if (path == "/frontend/settings") return finish(call, settings());
  if (path == "/health") return finish(call, {200, R"({"status":"ok"})"});
  if (path == "/spec") return finish(call, {200, spec_text()});
  if (path == "/metrics") {
    return finish(call, {200, metrics_.text(call->models->waiting(), connections_()), "text/plain; version=0.0.4"});
  }
  finish(call, page(path));
}

void Api::finish(const Shared& call, Response response) {
  call->answer(metrics_, [response = std::move(response)]() mutable { return std::move(response); });  // once
}

void Api::respond(const Shared& call, const std::function<Response()>& make) {
  try {
    finish(call, make());
  } catch (const Refusal& refusal) {
    finish(call, error_response(refusal));
  } catch (const std::exception& error) {
    finish(call, error_response(Refusal(500, error.what())));
  }
}

void Api::check_access(const Call& call, const Fields& fields, int cost) {
  access_.check(fields.text("api_key"), call.request->client, cost);
}

const Model& Api::model_for(const Models& models, const std::string& source, const std::string& target) {
  if (const Model* model = models.find(source, target)) return *model;
  if (!models.knows_source(source)) throw Refusal(400, fmt::format("{} is not supported", source));
  if (!models.knows_target(target)) throw Refusal(400, fmt::format("{} is not supported", target));
  throw Refusal(400, fmt::format("{} ({}) is not available as a target language from {} ({})",
                                 text::language_name(target), target, text::language_name(source), source));
}

void Api::submit(const Shared& call, const Model& model, const std::shared_ptr<Job>& job) {
  const Batcher::Taken taken = model.batcher->submit(job);
  if (taken == Batcher::Taken::yes) return;
  job->done = nullptr;
  if (taken == Batcher::Taken::full) throw Refusal(429, "Slowdown: too many requests are waiting", 1);
  // The models have been exchanged since the request began: once more, with those that are there now.
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
        "<!doctype html><meta charset=utf-8><title>Fovea</title><p>Fovea answers here: POST /translate, /attention.";
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
