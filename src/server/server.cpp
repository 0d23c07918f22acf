#include "server/server.hpp"

#include <utility>

namespace fovea::server {

Server::Server(const ServerOptions& options)
    : options_(options),
      access_(options.access),
      api_(std::make_unique<Api>(options.api, access_, metrics_,
                                 std::make_shared<Models>(options.models, options.most_waiting, metrics_))) {
  // Requests come as soon as it listens: all they may ask for is there before.
  api_->set_connections([this] {
    const HttpServer* http = listening_.load();
    return http == nullptr ? 0 : http->connections();
  });
  http_ = std::make_unique<HttpServer>(
      options.http, [this](const auto& request, const auto& reply) { api_->handle(request, reply); });
  listening_ = http_.get();
}

Server::~Server() {
  // Every connection that waits for a model must have its answer before the listener can go.
  http_->drain(0);
  const auto models = std::const_pointer_cast<Models>(api_->models());
  models->abandon();
  models->close();
  http_->drain(2);  // what has its answer now is sent
  listening_ = nullptr;
  http_.reset();
}

void Server::reload() {
  auto fresh = std::make_shared<Models>(options_.models, options_.most_waiting, metrics_);
  access_.reload();
  const auto old = std::const_pointer_cast<Models>(api_->exchange_models(std::move(fresh)));
  old->close();  // waits for what it has; requests that come too late for it go to the new ones
}

void Server::stop(int seconds) {
  http_->drain(seconds);
}

}  // namespace fovea::server
