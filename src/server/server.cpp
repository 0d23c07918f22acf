#include "server/server.hpp"

#include <utility>

namespace fovea::server {

namespace {

// Requests being handled and their responses share a budget.
ServerOptions shared_budget(ServerOptions options) {
  options.api.memory = options.http.answers;
  options.api.bodies = options.http.bodies;
  return options;
}

}  // namespace

Server::Server(const ServerOptions& options)
    : options_(shared_budget(options)),
      access_(options.access),
      api_(std::make_unique<Api>(options_.api, access_, metrics_,
                                 std::make_shared<Models>(options.models, options.most_waiting, metrics_))) {
  // Requests arrive as soon as the server listens: everything else is created before.
  api_->set_connections([this] {
    const HttpServer* http = listening_.load();
    return http == nullptr ? 0 : http->connections();
  });
  http_ = std::make_unique<HttpServer>(
      options_.http, HttpHandler{[this](const Request& request) { return api_->admit(request); },
                                 [this](const auto& request, const auto& reply) { api_->handle(request, reply); }});
  listening_ = http_.get();
}

Server::~Server() {
  // Every connection that waits for a model must be answered before the HTTP server is destroyed.
  http_->drain(0);
  api_->close();
  const auto models = std::const_pointer_cast<Models>(api_->models());
  models->abandon();
  models->close();
  forget_retired(true);
  http_->drain(2);  // sends the last responses
  listening_ = nullptr;
  http_.reset();
}

void Server::reload() {
  auto fresh = std::make_shared<Models>(options_.models, options_.most_waiting, metrics_);
  access_.reload();
  http_->reload();
  auto old = std::const_pointer_cast<Models>(api_->exchange_models(std::move(fresh)));
  forget_retired(false);
  // Closing finishes their jobs, which may take long, so a thread does it. Requests that come too late for the old
  // models are handled by the new ones.
  Retired retired{old, {}};
  retired.closing = std::thread([old = std::move(old)]() mutable {
    old->close();
    old.reset();
  });
  retired_.push_back(std::move(retired));
}

// Joins the threads of closed models; `all`: abandons the jobs of the others first.
void Server::forget_retired(bool all) {
  for (Retired& retired : retired_) {
    const auto models = retired.models.lock();
    if (models && !all) continue;
    if (models) models->abandon();
    retired.closing.join();
  }
  std::erase_if(retired_, [](const Retired& retired) { return !retired.closing.joinable(); });
}

void Server::stop(int seconds) {
  http_->drain(seconds);
}

}  // namespace fovea::server
