#include "nn/parameters.hpp"

#include <fmt/format.h>

#include <cmath>

#include "base/rng.hpp"
#include "fovea/error.hpp"
#include "kernels/packed_matrix.hpp"

namespace fovea {
namespace {

std::uint64_t hash(std::string_view text) {  // FNV-1a
  std::uint64_t h = 1469598103934665603ULL;
  for (const char c : text) h = (h ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  return h;
}

Tensor initial(const Shape& shape, Init init, std::uint64_t seed) {
  if (init == Init::zeros) return Tensor::zeros(shape);
  if (init == Init::ones) return Tensor::full(shape, 1.0F);
  Tensor t = Tensor::empty(shape);
  const auto rows = static_cast<double>(shape.rank() > 1 ? shape.leading().size() : 1);
  const auto columns = static_cast<double>(shape[-1]);
  Rng rng(seed);
  if (init == Init::embedding) {
    const double deviation = 1.0 / std::sqrt(columns);
    for (float& v : t.values()) v = static_cast<float>(rng.normal() * deviation);
    if (shape.rank() == 2) t.slice(0, 0, 1).fill(0.0F);
    return t;
  }
  const double limit = init == Init::xavier ? std::sqrt(6.0 / (rows + columns)) : 1.0 / std::sqrt(rows);
  for (float& v : t.values()) v = static_cast<float>((2.0 * rng.uniform() - 1.0) * limit);
  return t;
}

}  // namespace

Var Parameters::get(const std::string& name, const Shape& shape, Init init) {
  const auto found = index_.find(name);
  if (found != index_.end()) {
    Entry& entry = entries_[found->second];
    if (!(entry.weight.shape() == shape)) {
      throw ShapeError(
          fmt::format("weight {}: {} is there, {} is needed", name, entry.weight.shape().text(), shape.text()));
    }
    entry.asked = true;
    return entry.weight;
  }
  if (sealed_) throw Error(fmt::format("weight {} of shape {} is missing", name, shape.text()));
  put(name, initial(shape, init, seed_ ^ hash(name)));
  entries_.back().asked = true;
  return entries_.back().weight;
}

void Parameters::put(const std::string& name, Tensor value) {
  if (!index_.emplace(name, entries_.size()).second) throw Error("weight " + name + ": there twice");
  entries_.push_back({name, Var::parameter(std::move(value)), false, nullptr});
}

const Var* Parameters::find(std::string_view name) const {
  const auto found = index_.find(std::string(name));
  return found == index_.end() ? nullptr : &entries_[found->second].weight;
}

std::int64_t Parameters::count() const {
  std::int64_t total = 0;
  for (const Entry& entry : entries_) total += entry.weight.size();
  return total;
}

void Parameters::pack() {
  using kernels::PackedMatrix;
  using kernels::Trans;
  for (Entry& entry : entries_) {
    if (entry.weight.rank() != 2) continue;
    const Tensor w = entry.weight.value().contiguous();
    // The output layer's rows are tokens, as an embedding's are: it is used transposed.
    if (entry.name == "output.weight" || entry.name == "target.embedding" || entry.name == "embedding") {
      entry.packed = std::make_shared<PackedMatrix>(Trans::yes, w.dim(1), w.dim(0), w.data(), w.dim(1));
    } else if (entry.name.ends_with(".weight")) {
      entry.packed = std::make_shared<PackedMatrix>(Trans::no, w.dim(0), w.dim(1), w.data(), w.dim(1));
    }
  }
}

std::shared_ptr<const kernels::PackedMatrix> Parameters::packed(std::string_view name) const {
  const auto found = index_.find(std::string(name));
  return found == index_.end() ? nullptr : entries_[found->second].packed;
}

Parameters Parameters::replica() const {
  Parameters copy(seed_);
  for (const Entry& entry : entries_) {
    copy.put(entry.name, entry.weight.value());
    copy.entries_.back().packed = entry.packed;
  }
  copy.seal();
  return copy;
}

}  // namespace fovea
