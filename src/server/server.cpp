#include "server/server.hpp"

#include <utility>

namespace fovea::server {

Server::Server(const ServerOptions& options)
    : options_(options),
      access_(options.access),
      api_(std::make_unique<Api>(options.api, access_, metrics_,
                                 std::make_shared<Models>(options.models, options.most_waiting, metrics_))),
      http_(std::make_unique<HttpServer>(
          options.http, [this](const auto& request, const auto& reply) { api_->handle(request, reply); })) {
  api_->set_connections([this] { return http_->connections(); });
}

Server::~Server() {
  // Every connection that waits for a model must have its answer before the listener can go.
  http_->drain(0);
  std::const_pointer_cast<Models>(api_->models())->close();
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
