#include "fovea/precision.hpp"

#include <atomic>

#include "kernels/kernels.hpp"

namespace fovea {
namespace {

std::atomic<Precision> current{Precision::fp32};

}  // namespace

Precision precision() {
  return current.load(std::memory_order_relaxed);
}

void set_precision(Precision wanted) {
  current.store(wanted, std::memory_order_relaxed);
}

bool has_bf16() {
  const kernels::Bf16Kernels* found = kernels::permitted_bf16();
  return found != nullptr && found != kernels::available().front()->bf16;
}

}  // namespace fovea
