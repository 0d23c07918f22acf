// A request, its response, and where the response goes.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "server/http/memory_budget.hpp"

namespace fovea::server {

struct Request {
  std::string method;
  std::string path;                                        // decoded, without the query
  std::vector<std::pair<std::string, std::string>> query;  // decoded
  std::string content_type;                                // as sent
  std::string body;
  std::string client;                   // its address, or the address that a trusted proxy gives
  bool too_large = false;               // the body exceeded the limit and was discarded
  MemoryReservation memory = {};        // of the body
  std::function<bool()> canceled = {};  // whether the answer is no longer needed; may be empty

  /// Releases the body and its memory after it has been read.
  void forget_body() {
    body = {};
    memory.release();
  }
};

struct Response {
  int status = 200;
  std::string body = {};
  std::string type = "application/json";
  std::vector<std::pair<std::string, std::string>> headers = {};
  MemoryReservation memory = {};  // of the body, if it was reserved before the body was written
};

/// Takes the response to one request, from any thread. The first response counts.
class Reply {
 public:
  virtual ~Reply() = default;
  /// Sends 503 instead when the memory budget is used up.
  virtual void with(Response response) = 0;
  /// Whether the client has disconnected.
  [[nodiscard]] virtual bool gone() const = 0;
};

}  // namespace fovea::server
