#include "fovea/nn/parameters.hpp"

#include <fmt/format.h>

#include <cmath>

#include "base/rng.hpp"
#include "fovea/error.hpp"
#include "fovea/safetensors.hpp"
#include "kernels/half.hpp"
#include "kernels/kernels.hpp"
#include "nn/packed_file.hpp"
#include "nn/rounding.hpp"

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

// What an int8 tensor is multiplied by stands beside it under this name.
constexpr const char* kScale = ".scale";

bool is_scale(const Safetensors& file, const std::string& name) {
  const std::string_view suffix = kScale;
  if (!name.ends_with(suffix)) return false;
  const std::string of = name.substr(0, name.size() - suffix.size());
  return file.contains(of) && file.entry(of).dtype == "I8";
}

// Of the tensor `of`, checked.
Tensor read_scale(const Safetensors& file, const Safetensors::Entry& of, const std::filesystem::path& path) {
  const auto fail = [&](const std::string& what) {
    throw FileError(fmt::format("{}: weight {}{}: {}", path.string(), of.name, kScale, what));
  };
  if (of.shape.rank() != 2) {
    throw FileError(
        fmt::format("{}: weight {}: {} in I8; only matrices are stored so", path.string(), of.name, of.shape.text()));
  }
  const std::string name = of.name + kScale;
  if (!file.contains(name)) fail("is missing beside a weight in I8");
  const Tensor scale = file.tensor(name);
  if (!(scale.shape() == Shape{1, of.shape[1]}) && !(scale.shape() == Shape{of.shape[0], 1})) {
    fail(fmt::format("{} is there, [1,{}] or [{},1] is needed", scale.shape().text(), of.shape[1], of.shape[0]));
  }
  for (const float v : scale.values()) {
    if (!(std::isfinite(v) && v >= 0)) fail(fmt::format("{} is no scale", v));
  }
  return scale.clone();
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
  Entry& e = entry(name, shape, init);
  e.read = true;
  if (stands_for_packed(e.weight.value())) unpack(e);
  return e.frozen ? Var(e.weight.value()) : e.weight;
}

Parameters::Entry& Parameters::entry(const std::string& name, const Shape& shape, const Init& init,
                                     MatrixLayout layout) {
  Entry& e = entry(name, shape, init);
  if (e.layout && *e.layout != layout) {
    throw UsageError(fmt::format("weight {}: one layer multiplies with it, another with its transpose", name));
  }
  e.layout = layout;
  return e;
}

Var Parameters::get(const std::string& name, const Shape& shape, const Init& init, MatrixLayout layout) {
  Entry& e = entry(name, shape, init, layout);
  e.read = true;
  if (stands_for_packed(e.weight.value())) unpack(e);
  return e.frozen ? Var(e.weight.value()) : e.weight;
}

Weight Parameters::matrix(const std::string& name, const Shape& shape, const Init& init, MatrixLayout layout) {
  Entry& e = entry(name, shape, init, layout);
  e.to_pack = true;
  return {e.frozen ? Var(e.weight.value()) : e.weight, layout, e.packed};
}

void Parameters::put(const std::string& name, Tensor value) {
  if (!index_.emplace(name, entries_.size()).second) throw Error("weight " + name + ": there twice");
  entries_.push_back({name, Var::parameter(std::move(value)), false, {}, false, nullptr});
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
  for (const Entry& entry : entries_) total += entry.weight.size();
  return total;
}

void Parameters::unpack(Entry& entry) {
  if (stands_for_packed(entry.weight.value())) entry.weight = Var::parameter(entry.packed->unpacked(*entry.layout));
}

void Parameters::unpack() {
  for (Entry& entry : entries_) {
    if (!entry.mapped) continue;
    unpack(entry);
    entry.packed = nullptr;
    entry.mapped = false;
  }
}

void Parameters::round(Storage storage) {
  if (storage == Storage::f32) return;
  for (Entry& entry : entries_) {
    const Storage as = stored_as(entry, storage);
    if (as == Storage::f32) continue;
    check_fits(entry, as);
    if (as == Storage::int8) {
      const Int8Weight rounded = to_int8(entry);
      entry.weight = Var::parameter(from_int8(entry.weight.shape(), rounded.q.data(), rounded.scale));
    } else {
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
    if (!entry.to_pack || entry.mapped) continue;
    entry.packed = std::make_shared<const PackedWeight>(entry.weight.value(), *entry.layout, storage);
    if (file_ && file_->contains(entry.name)) file_->forget(entry.name);
  }
}

Parameters Parameters::replica() const {
  Parameters copy(seed_);
  for (const Entry& entry : entries_) {
    copy.put(entry.name, entry.weight.value());
    copy.entries_.back().layout = entry.layout;
    copy.entries_.back().to_pack = entry.to_pack;
    copy.entries_.back().packed = entry.packed;
    copy.entries_.back().frozen = entry.frozen;
    copy.entries_.back().read = entry.read;
    copy.entries_.back().mapped = entry.mapped;
  }
  copy.packed_ = packed_;
  copy.stored_ = stored_;
  copy.file_ = file_;
  copy.seal();
  return copy;
}

void Parameters::zero_grad() const {
  for (const Entry& entry : entries_) entry.weight.zero_grad();
}

void Parameters::save(const std::filesystem::path& file, Storage storage) const {
  SafetensorsWriter writer;
  for (const Entry& entry : entries_) {
    const Storage as = stored_as(entry, storage);
    if (as != Storage::f32) check_fits(entry, as);
    if (as == Storage::int8) {
      const Int8Weight rounded = to_int8(entry);
      writer.add(entry.name, entry.weight.shape(), std::span<const std::int8_t>(rounded.q));
      writer.add(entry.name + kScale, rounded.scale);
    } else if (as == Storage::f16) {
      writer.add_f16(entry.name, entry.weight.value());
    } else {
      writer.add(entry.name, entry.weight.value());
    }
  }
  writer.write(file);
}

void Parameters::save_packed(const std::filesystem::path& file, Storage storage) const {
  Parameters rounded = replica();
  rounded.unpack();
  rounded.round(storage);
  SafetensorsWriter writer;
  writer.set_metadata(kStorage, std::string(name_of(storage)));
  for (const Entry& entry : rounded.entries_) {
    const bool packed = entry.to_pack && entry.weight.rank() == 2 && entry.weight.size() > 1;
    if (packed) add_packed(writer, entry, storage);
    if (!packed || entry.read) writer.add(entry.name, entry.weight.value());
  }
  writer.write(file);
}

void Parameters::put_packed(FilePacked weight, const std::filesystem::path& file) {
  const auto found = index_.find(weight.name);
  if (found == index_.end()) {
    put(weight.name, weight.packed ? packed_stand_in(weight.shape) : weight.values);
  } else if (!(entries_[found->second].weight.shape() == weight.shape)) {
    throw FileError(fmt::format("{}: weight {}: {} is there, and {} packed", file.string(), weight.name,
                                entries_[found->second].weight.shape().text(), weight.shape.text()));
  }
  if (!weight.packed) return;
  Entry& entry = entries_[index_.at(weight.name)];
  entry.layout = weight.layout;
  entry.packed = std::move(weight.packed);
  entry.mapped = true;
}

Parameters Parameters::load(const std::filesystem::path& file, bool in_place) {
  const auto opened = std::make_shared<const Safetensors>(file);
  const Safetensors& weights = *opened;
  Parameters parameters(0);
  std::vector<FilePacked> packed;
  for (const auto& entry : weights.entries()) {
    if (is_scale(weights, entry.name)) continue;
    if (auto found = read_packed(opened, entry, file, in_place)) {
      packed.push_back(std::move(*found));
      continue;
    }
    if (entry.dtype == "I8") {
      parameters.stored_ = Storage::int8;
      const Tensor scale = read_scale(weights, entry, file);
      parameters.put(entry.name, from_int8(entry.shape, weights.int8(entry.name).data(), scale));
      continue;
    }
    if (entry.dtype == "F16" && parameters.stored_ == Storage::f32) parameters.stored_ = Storage::f16;
    // Copies, unless asked not to: a file that is written over while it is mapped would change, or end, under a running
    // program.
    const Tensor values = weights.tensor(entry.name);
    parameters.put(entry.name, in_place ? values : values.clone());
  }
  for (FilePacked& weight : packed) parameters.put_packed(std::move(weight), file);
  if (const auto storage = packed_storage(weights, file)) parameters.stored_ = *storage;
  if (in_place) parameters.file_ = opened;
  parameters.seal();
  return parameters;
}

}  // namespace fovea
