#include "fovea/nn/trace.hpp"

#include <fmt/format.h>

#include "fovea/error.hpp"

namespace fovea {

const Tensor* Trace::find(std::string_view name) const {
  for (const Entry& entry : entries_) {
    if (entry.name == name) return &entry.value;
  }
  return nullptr;
}

const Tensor& Trace::at(std::string_view name) const {
  if (const Tensor* value = find(name)) return *value;
  throw UsageError(fmt::format("trace: the run computed no {}", name));
}

}  // namespace fovea
