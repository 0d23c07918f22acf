// The numbers of a run: what every layer computed on the way, by name.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "fovea/tensor.hpp"

namespace FOVEA_API fovea {

/// Filled by the layers of a run whose pass points to it. Names follow those of the weights: the queries of a layer
/// whose weights are encoder.0.self.… are encoder.0.self.query. What is there are the arrays the run went on with, not
/// a second computation.
///
///     Trace trace;
///     Pass pass;
///     pass.trace = &trace;
///     model.encode(source, pass);
///     trace.at("encoder.0.self.weights");  // [batch, heads, queries, keys]
class Trace {
 public:
  /// Something that was computed.
  struct Entry {
    std::string name;  // "encoder.0.self.query"
    Tensor value;      // a copy
  };

  /// Copies the value: layers may go on writing to it.
  void add(std::string name, const Tensor& value) { entries_.push_back({std::move(name), value.clone()}); }
  /// The value of this name, or null.
  [[nodiscard]] const Tensor* find(std::string_view name) const;
  /// Throws UsageError when there is none.
  [[nodiscard]] const Tensor& at(std::string_view name) const;
  /// All of them in the order of the run.
  [[nodiscard]] const std::vector<Entry>& entries() const { return entries_; }

 private:
  std::vector<Entry> entries_;
};

}  // namespace fovea
