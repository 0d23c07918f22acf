#include "server/server.hpp"

#include <utility>

namespace fovea::server {

namespace {

// One budget for what a request holds while it is worked on and for its answer.
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
  // Requests come as soon as it listens: all they may ask for is there before.
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
  // Every connection that waits for a model must have its answer before the listener can go.
  http_->drain(0);
  api_->close();
  const auto models = std::const_pointer_cast<Models>(api_->models());
  models->abandon();
  models->close();
  forget_retired(true);
  http_->drain(2);  // what has its answer now is sent
  listening_ = nullptr;
  http_.reset();
}

void Server::reload() {
  auto fresh = std::make_shared<Models>(options_.models, options_.most_waiting, metrics_);
  access_.reload();
  http_->reload();
  auto old = std::const_pointer_cast<Models>(api_->exchange_models(std::move(fresh)));
  forget_retired(false);
  // Closing waits for what they have, which may take long: whoever wants to stop the server shall not wait for that.
  // Requests that come too late for them go to the new ones.
  Retired retired{old, {}};
  retired.closing = std::thread([old = std::move(old)]() mutable {
    old->close();
    old.reset();
  });
  retired_.push_back(std::move(retired));
}

// Joins those that are done, or makes all of them done.
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
