// A request on its way through the API.
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
  std::string label;  // the path as metrics count it: known ones only
  std::shared_ptr<const Models> models;
  std::chrono::steady_clock::time_point began = std::chrono::steady_clock::now();
  std::optional<Access::Account> account = {};  // once the key has been checked
  bool charged = false;                         // for all that it counts as

  void answer(Metrics& metrics, Response response) const {
    allow_origins(response);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
    metrics.answered(label, response.status, took.count());
    reply->with(std::move(response));
  }
};

}  // namespace fovea::server
