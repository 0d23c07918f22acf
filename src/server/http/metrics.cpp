#include "server/http/metrics.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <iterator>

namespace fovea::server {
namespace {

constexpr std::array<double, 12> kSeconds = {0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5};
constexpr std::array<double, 9> kLines = {1, 2, 4, 8, 16, 32, 64, 128, 256};

std::int64_t resident_bytes() {
  std::FILE* file = std::fopen("/proc/self/statm", "r");
  if (file == nullptr) return 0;
  long long all = 0;
  long long resident = 0;
  const int read = std::fscanf(file, "%lld %lld", &all, &resident);  // NOLINT(cert-err34-c)
  std::fclose(file);
  return read == 2 ? resident * ::sysconf(_SC_PAGESIZE) : 0;
}

void head(std::string& out, std::string_view name, std::string_view type, std::string_view help) {
  fmt::format_to(std::back_inserter(out), "# HELP {0} {2}\n# TYPE {0} {1}\n", name, type, help);
}

template <class T>
void line(std::string& out, std::string_view name, std::string_view labels, T value) {
  if (labels.empty()) {
    fmt::format_to(std::back_inserter(out), "{} {}\n", name, value);
  } else {
    fmt::format_to(std::back_inserter(out), "{}{{{}}} {}\n", name, labels, value);
  }
}

}  // namespace

void Histogram::add(double value) {
  std::size_t b = 0;
  while (b < bounds_.size() && value > bounds_[b]) ++b;
  ++counts_[b];
  sum_ += value;
}

void Histogram::write(std::string& out, std::string_view name, std::string_view labels) const {
  const std::string comma = labels.empty() ? "" : ",";
  std::uint64_t total = 0;
  for (std::size_t b = 0; b <= bounds_.size(); ++b) {
    total += counts_[b];
    const std::string bound = b < bounds_.size() ? fmt::format("{}", bounds_[b]) : "+Inf";
    line(out, fmt::format("{}_bucket", name), fmt::format("{}{}le=\"{}\"", labels, comma, bound), total);
  }
  line(out, fmt::format("{}_sum", name), labels, sum_);
  line(out, fmt::format("{}_count", name), labels, total);
}

void Metrics::answered(std::string_view path, int status, double seconds) {
  const std::lock_guard lock(mutex_);
  ++requests_[{std::string(path), status}];
  seconds_.try_emplace(std::string(path), kSeconds).first->second.add(seconds);
}

void Metrics::decoded(std::string_view model, std::int64_t lines, std::int64_t source_tokens,
                      std::int64_t target_tokens) {
  const std::lock_guard lock(mutex_);
  auto found = models_.find(model);
  if (found == models_.end()) found = models_.emplace(std::string(model), Model{Histogram(kLines)}).first;
  found->second.batches.add(static_cast<double>(lines));
  found->second.source_tokens += static_cast<std::uint64_t>(source_tokens);
  found->second.target_tokens += static_cast<std::uint64_t>(target_tokens);
}

void Metrics::loaded(bool well) {
  const std::lock_guard lock(mutex_);
  ++(well ? loads_ : failed_loads_);
}

std::string Metrics::text(const Gauges& gauges) const {
  const std::lock_guard lock(mutex_);
  std::string out;
  head(out, "fovea_requests_total", "counter", "Requests answered, by path and status.");
  for (const auto& [key, count] : requests_) {
    line(out, "fovea_requests_total", fmt::format("path=\"{}\",status=\"{}\"", key.first, key.second), count);
  }
  head(out, "fovea_request_seconds", "histogram", "From the last byte of a request to the first of its answer.");
  for (const auto& [path, histogram] : seconds_) {
    histogram.write(out, "fovea_request_seconds", fmt::format("path=\"{}\"", path));
  }
  head(out, "fovea_batch_lines", "histogram", "Lines decoded together.");
  for (const auto& [name, model] : models_) {
    model.batches.write(out, "fovea_batch_lines", fmt::format("model=\"{}\"", name));
  }
  head(out, "fovea_tokens_total", "counter", "Tokens read (source) and written (target).");
  for (const auto& [name, model] : models_) {
    line(out, "fovea_tokens_total", fmt::format("model=\"{}\",side=\"source\"", name), model.source_tokens);
    line(out, "fovea_tokens_total", fmt::format("model=\"{}\",side=\"target\"", name), model.target_tokens);
  }
  head(out, "fovea_model_loads_total", "counter", "Models read from their folders.");
  line(out, "fovea_model_loads_total", "result=\"ok\"", loads_);
  line(out, "fovea_model_loads_total", "result=\"failed\"", failed_loads_);
  head(out, "fovea_queue_requests", "gauge", "Requests that wait for a model.");
  line(out, "fovea_queue_requests", "", gauges.waiting);
  head(out, "fovea_connections", "gauge", "Open connections.");
  line(out, "fovea_connections", "", gauges.connections);
  head(out, "fovea_held_bytes", "gauge", "Memory reserved for request bodies, running requests and responses.");
  line(out, "fovea_held_bytes", "kind=\"requests\"", gauges.request_bytes);
  line(out, "fovea_held_bytes", "kind=\"answers\"", gauges.answer_bytes);
  head(out, "process_resident_memory_bytes", "gauge", "Resident memory.");
  line(out, "process_resident_memory_bytes", "", resident_bytes());
  return out;
}

}  // namespace fovea::server
