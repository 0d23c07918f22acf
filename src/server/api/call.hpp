// A request that the API handles.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "server/api/api.hpp"

namespace fovea::server {

struct Api::Call {
  std::shared_ptr<Request> request;
  std::shared_ptr<Reply> reply;
  std::string label;  // of the path in the metrics
  std::shared_ptr<const Models> models;
  std::chrono::steady_clock::time_point began = std::chrono::steady_clock::now();
  std::optional<Access::Account> account = {};  // after the key has been checked
  bool charged = false;                         // all its cost has been counted

  void answer(Metrics& metrics, Response response) const {
    allow_origins(response);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
    metrics.answered(label, response.status, took.count());
    reply->with(std::move(response));
  }
};

}  // namespace fovea::server
