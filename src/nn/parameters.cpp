#include "fovea/nn/parameters.hpp"

#include <fmt/format.h>

#include <cmath>

#include "base/rng.hpp"
#include "fovea/error.hpp"
#include "fovea/safetensors.hpp"
#include "nn/weight.hpp"

namespace fovea {
namespace {

std::uint64_t hash(std::string_view text) {  // FNV-1a
  std::uint64_t h = 1469598103934665603ULL;
  for (const char c : text) h = (h ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  return h;
}

Tensor initial(const Shape& shape, const Init& init, std::uint64_t seed) {
  if (init.kind == Init::Kind::constant) return Tensor::full(shape, static_cast<float>(init.scale));
  Tensor t = Tensor::empty(shape);
  const auto rows = static_cast<double>(shape.rank() > 1 ? shape.leading().size() : 1);
  const auto columns = static_cast<double>(shape[-1]);
  Rng rng(seed);
  if (init.kind == Init::Kind::normal || init.kind == Init::Kind::embedding) {
    const double deviation = init.kind == Init::Kind::normal ? init.scale : 1.0 / std::sqrt(columns);
    for (float& v : t.values()) v = static_cast<float>(rng.normal() * deviation);
    if (init.kind == Init::Kind::embedding && shape.rank() == 2) t.slice(0, 0, 1).fill(0.0F);
    return t;
  }
  const double limit = init.kind == Init::Kind::uniform  ? init.scale
                       : init.kind == Init::Kind::xavier ? std::sqrt(6.0 / (rows + columns))
                                                         : 1.0 / std::sqrt(rows);
  for (float& v : t.values()) v = static_cast<float>((2.0 * rng.uniform() - 1.0) * limit);
  return t;
}

}  // namespace

Parameters::Entry& Parameters::entry(const std::string& name, const Shape& shape, const Init& init) {
  auto found = index_.find(name);
  if (found == index_.end()) {
    if (sealed_) throw Error(fmt::format("weight {} of shape {} is missing", name, shape.text()));
    put(name, initial(shape, init, seed_ ^ hash(name)));
    found = index_.find(name);
  }
  Entry& entry = entries_[found->second];
  if (!(entry.weight.shape() == shape)) {
    throw ShapeError(
        fmt::format("weight {}: {} is there, {} is needed", name, entry.weight.shape().text(), shape.text()));
  }
  entry.used = true;
  return entry;
}

Var Parameters::get(const std::string& name, const Shape& shape, const Init& init) {
  return entry(name, shape, init).weight;
}

Weight Parameters::matrix(const std::string& name, const Shape& shape, const Init& init, MatrixLayout layout) {
  Entry& e = entry(name, shape, init);
  if (e.layout && *e.layout != layout) {
    throw UsageError(fmt::format("weight {}: one layer multiplies with it, another with its transpose", name));
  }
  e.layout = layout;
  return {e.weight, layout, e.packed};
}

void Parameters::put(const std::string& name, Tensor value) {
  if (!index_.emplace(name, entries_.size()).second) throw Error("weight " + name + ": there twice");
  entries_.push_back({name, Var::parameter(std::move(value)), false, {}, nullptr});
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
  for (Entry& entry : entries_) {
    if (entry.layout) entry.packed = pack_f32(entry.weight.value(), *entry.layout);
  }
}

Parameters Parameters::replica() const {
  Parameters copy(seed_);
  for (const Entry& entry : entries_) {
    copy.put(entry.name, entry.weight.value());
    copy.entries_.back().layout = entry.layout;
    copy.entries_.back().packed = entry.packed;
  }
  copy.seal();
  return copy;
}

void Parameters::zero_grad() const {
  for (const Entry& entry : entries_) entry.weight.zero_grad();
}

void Parameters::save(const std::filesystem::path& file) const {
  SafetensorsWriter writer;
  for (const Entry& entry : entries_) writer.add(entry.name, entry.weight.value());
  writer.write(file);
}

Parameters Parameters::load(const std::filesystem::path& file) {
  const Safetensors weights(file);
  Parameters parameters(0);
  for (const auto& entry : weights.entries()) {
    // Copies: a file that is written over while it is mapped would change, or end, under a running program.
    parameters.put(entry.name, weights.tensor(entry.name).clone());
  }
  parameters.seal();
  return parameters;
}

}  // namespace fovea
