// A request on its way through the API.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "server/api/api.hpp"

namespace fovea::server {

struct Api::Call {
  std::shared_ptr<const Request> request;
  std::shared_ptr<Reply> reply;
  std::string label;  // the path as metrics count it: known ones only
  std::shared_ptr<const Models> models;
  std::chrono::steady_clock::time_point began = std::chrono::steady_clock::now();

  /// Gives the answer that `make` will return, on the server's thread; what it throws becomes an error.
  template <class Make>
  void answer(Metrics& metrics, Make make) const {
    reply->with([&metrics, began = began, label = label, make = std::move(make)]() mutable {
      Response response;
      try {
        response = make();
      } catch (const Refusal& refusal) {
        response = error_response(refusal);
      } catch (const std::exception& error) {
        response = error_response(Refusal(500, error.what()));
      }
      allow_origins(response);
      const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
      metrics.answered(label, response.status, took.count());
      return response;
    });
  }
};

}  // namespace fovea::server
