#include "fovea/precision.hpp"

#include <atomic>

#include "kernels/kernels.hpp"

namespace fovea {
namespace {

std::atomic<Precision> current{Precision::fp32};

}  // namespace

const char* name_of(Storage storage) {
  switch (storage) {
    case Storage::f16:
      return "f16";
    case Storage::int8:
      return "int8";
    default:
      return "fp32";
  }
}

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
