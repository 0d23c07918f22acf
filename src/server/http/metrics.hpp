// Counters of the server in the format of Prometheus.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fovea::server {

/// Counts values by upper bound.
class Histogram {
 public:
  explicit Histogram(std::span<const double> bounds) : bounds_(bounds), counts_(bounds.size() + 1) {}
  void add(double value);
  /// Appends the text format; `labels` may be empty or `path="/translate"`.
  void write(std::string& out, std::string_view name, std::string_view labels) const;

 private:
  std::span<const double> bounds_;
  std::vector<std::uint64_t> counts_;
  double sum_ = 0;
};

class Metrics {
 public:
  void answered(std::string_view path, int status, double seconds);
  void decoded(std::string_view model, std::int64_t lines, std::int64_t source_tokens, std::int64_t target_tokens);
  void loaded(bool well);

  /// Values that other parts of the server provide.
  struct Gauges {
    std::int64_t waiting = 0;                         // requests that wait for a model
    int connections = 0;                              // that are open
    std::size_t request_bytes = 0, answer_bytes = 0;  // held
  };
  /// The text of GET /metrics.
  [[nodiscard]] std::string text(const Gauges& gauges) const;

 private:
  struct Model {
    Histogram batches;
    std::uint64_t source_tokens = 0, target_tokens = 0;
  };
  mutable std::mutex mutex_;
  std::map<std::pair<std::string, int>, std::uint64_t> requests_;
  std::map<std::string, Histogram, std::less<>> seconds_;
  std::map<std::string, Model, std::less<>> models_;
  std::uint64_t loads_ = 0, failed_loads_ = 0;
};

}  // namespace fovea::server
