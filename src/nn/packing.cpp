// Weights rounded and packed for inference.
#include <fmt/format.h>

#include <cmath>
#include <vector>

#include "fovea/error.hpp"
#include "fovea/nn/parameters.hpp"
#include "fovea/safetensors.hpp"
#include "kernels/half.hpp"
#include "kernels/kernels.hpp"
#include "nn/storage_of.hpp"

namespace fovea {

Storage storage_of(const Parameters::Entry& entry, Storage wanted) {
  if (entry.shape.rank() < 2 || wanted == Storage::f32) return Storage::f32;
  const Storage storage = entry.shape.rank() > 2 && wanted == Storage::int8 ? Storage::f16 : wanted;
  constexpr float kLargestHalf = 65504;
  const Tensor values = entry.values().contiguous();
  for (const float v : values.values()) {
    if (std::isfinite(v) && (storage != Storage::f16 || std::abs(v) <= kLargestHalf)) continue;
    throw Error(fmt::format("weight {}: {} does not fit {}", entry.name, v, name_of(storage)));
  }
  return storage;
}

Int8Matrix to_int8(const Parameters::Entry& entry) {
  return Int8Matrix::of(entry.values(), entry.layout.value_or(MatrixLayout::out_in));
}

void Parameters::round(Storage storage) {
  unpack();
  for (Entry& entry : entries_) {
    const Storage as = storage_of(entry, storage);
    if (as == Storage::int8) {
      entry.weight = Var::parameter(to_int8(entry).values());
    } else if (as == Storage::f16) {
      const Tensor values = entry.weight.value().contiguous();
      const Tensor rounded = Tensor::empty(values.shape());
      std::vector<kernels::Half> halves(static_cast<std::size_t>(values.size()));
      kernels::active().half->narrow(values.size(), values.data(), halves.data());
      kernels::active().half->widen(values.size(), halves.data(), rounded.data());
      entry.weight = Var::parameter(rounded);
    }
  }
}

void Parameters::pack(Storage storage) {
  packed_ = storage;
  for (Entry& entry : entries_) {
    if (entry.use != Use::products && entry.use != Use::both) continue;
    if (!entry.stored || !entry.packed) {
      entry.packed = std::make_shared<const PackedWeight>(entry.values(), *entry.layout, storage);
    }
    if (file_ && file_->contains(entry.name)) file_->forget(entry.name);
  }
}

void Parameters::unpack() {
  for (Entry& entry : entries_) {
    if (!entry.stored) continue;
    read_values(entry);
    entry.stored = nullptr;
    entry.packed = nullptr;
  }
}

}  // namespace fovea
