#include "fovea/nn/parameters.hpp"

#include <fmt/format.h>

#include <cmath>

#include "base/rng.hpp"
#include "fovea/error.hpp"

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

Var var_for_layers(const Parameters::Entry& entry) {
  return entry.frozen && entry.weight ? Var(entry.weight.value()) : entry.weight;
}

void set_layout(Parameters::Entry& entry, MatrixLayout layout) {
  if (entry.layout && *entry.layout != layout) {
    throw UsageError(fmt::format("weight {}: one layer multiplies with it, another with its transpose", entry.name));
  }
  entry.layout = layout;
}

}  // namespace

Parameters::Entry& Parameters::insert(const std::string& name, const Shape& shape) {
  if (!index_.emplace(name, entries_.size()).second) throw Error("duplicate weight name " + name);
  return entries_.emplace_back(Entry{.name = name, .shape = shape});
}

Parameters::Entry& Parameters::entry(const std::string& name, const Shape& shape, const Init& init, Use use) {
  auto found = index_.find(name);
  if (found == index_.end()) {
    if (sealed_) throw Error(fmt::format("weight {} of shape {} is missing", name, shape.text()));
    put(name, initial(shape, init, seed_ ^ hash(name)));
    found = index_.find(name);
  }
  Entry& entry = entries_[found->second];
  if (!(entry.shape == shape)) {
    throw ShapeError(fmt::format("weight {}: shape is {}, {} is needed", name, entry.shape.text(), shape.text()));
  }
  entry.use = entry.use == Use::none || entry.use == use ? use : Use::both;
  return entry;
}

void Parameters::read_values(Entry& entry) {
  if (!entry.weight) entry.weight = Var::parameter(entry.stored->values());
}

Var Parameters::get(const std::string& name, const Shape& shape, const Init& init) {
  Entry& e = entry(name, shape, init, Use::values);
  read_values(e);
  return var_for_layers(e);
}

Var Parameters::get(const std::string& name, const Shape& shape, const Init& init, MatrixLayout layout) {
  Entry& e = entry(name, shape, init, Use::values);
  set_layout(e, layout);
  read_values(e);
  return var_for_layers(e);
}

Weight Parameters::matrix(const std::string& name, const Shape& shape, const Init& init, MatrixLayout layout) {
  Entry& e = entry(name, shape, init, Use::products);
  set_layout(e, layout);
  if (e.stored && !e.packed) {
    if (e.stored->layout() == layout && PackedWeight::fits(*e.stored)) {
      e.packed = std::make_shared<const PackedWeight>(*e.stored);
    } else {
      read_values(e);
      e.stored = nullptr;
    }
  }
  return {var_for_layers(e), layout, e.packed};
}

void Parameters::put(const std::string& name, Tensor value) {
  Entry& entry = insert(name, value.shape());
  entry.weight = Var::parameter(std::move(value));
}

void Parameters::put(const std::string& name, Int8Matrix matrix) {
  const Shape shape = matrix.shape();
  insert(name, shape).stored = std::make_shared<const Int8Matrix>(std::move(matrix));
}

void Parameters::freeze(std::string_view prefix) {
  for (Entry& entry : entries_) {
    if (entry.name.starts_with(prefix)) entry.frozen = true;
  }
}

const Var* Parameters::find(std::string_view name) const {
  const auto found = index_.find(std::string(name));
  return found == index_.end() ? nullptr : &entries_[found->second].weight;
}

std::int64_t Parameters::count() const {
  std::int64_t total = 0;
  for (const Entry& entry : entries_) total += entry.shape.size();
  return total;
}

Parameters Parameters::replica() const {
  Parameters copy = *this;
  for (Entry& entry : copy.entries_) {
    if (entry.weight) entry.weight = Var::parameter(entry.weight.value());
  }
  copy.seal();
  return copy;
}

void Parameters::zero_grad() const {
  for (const Entry& entry : entries_) {
    if (entry.weight) entry.weight.zero_grad();
  }
}

}  // namespace fovea
