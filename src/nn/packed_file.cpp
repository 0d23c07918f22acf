// A packed weight is a U8 tensor NAME.packed, filled up to a multiple of 64 bytes, and a text of the same name in the
// metadata: storage, which way round, inputs, outputs, columns of a panel ("int8 in_out 128 512 16").
#include "nn/packed_file.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <sstream>

#include "fovea/error.hpp"
#include "kernels/packed_matrix.hpp"
#include "nn/rounding.hpp"

namespace fovea {
namespace {

constexpr std::size_t kAlign = 64;  // of tensors in a file that are used in place

std::size_t aligned(std::size_t bytes) {
  return (bytes + kAlign - 1) / kAlign * kAlign;
}

std::optional<Storage> storage_named(const std::string& name) {
  for (const Storage storage : {Storage::f32, Storage::f16, Storage::int8}) {
    if (name == name_of(storage)) return storage;
  }
  return std::nullopt;
}

// Of the last panel, where packing leaves whatever was there: files of one model are the same bytes.
void clear_unused_columns(const kernels::PackedLayout& layout, std::vector<std::uint8_t>& bytes) {
  const std::int64_t used = layout.n % layout.width;
  if (layout.storage != Storage::f32 || used == 0) return;
  for (std::int64_t p = 0; p < layout.k; ++p) {
    const std::int64_t row = (layout.n - used) * layout.k + p * layout.width;
    std::memset(bytes.data() + static_cast<std::size_t>(row + used) * sizeof(float), 0,
                static_cast<std::size_t>(layout.width - used) * sizeof(float));
  }
}

struct Described {
  kernels::PackedLayout layout;
  MatrixLayout way = MatrixLayout::in_out;
};

// None if the text describes nothing that can be.
std::optional<Described> described(const std::string& text) {
  std::istringstream in(text);
  std::string storage, way, rest;
  Described out;
  in >> storage >> way >> out.layout.k >> out.layout.n >> out.layout.width;
  const bool read = static_cast<bool>(in) && !(in >> rest);
  const auto as = storage_named(storage);
  constexpr std::int64_t kMost = std::int64_t{1} << 28;  // so that no size below overflows
  constexpr std::int64_t kWidest = 1024;
  const auto within = [](std::int64_t value, std::int64_t most) { return value >= 1 && value <= most; };
  if (!read || !as || (way != "in_out" && way != "out_in")) return std::nullopt;
  if (!within(out.layout.k, kMost) || !within(out.layout.n, kMost) || !within(out.layout.width, kWidest)) {
    return std::nullopt;
  }
  out.layout.storage = *as;
  out.way = way == "in_out" ? MatrixLayout::in_out : MatrixLayout::out_in;
  if (*as == Storage::int8 && (out.layout.k > kernels::kInt8Longest || out.layout.width != kernels::kInt8Columns)) {
    return std::nullopt;
  }
  return out;
}

}  // namespace

Tensor packed_stand_in(const Shape& shape) {
  return Tensor::repeated(shape, std::numeric_limits<float>::quiet_NaN());
}

bool stands_for_packed(const Tensor& values) {
  return values.rank() == 2 && values.size() > 1 && values.stride(0) == 0 && values.stride(1) == 0;
}

void add_packed(SafetensorsWriter& writer, const Parameters::Entry& entry, Storage storage) {
  const PackedWeight packed(entry.weight.value(), *entry.layout, storage);
  const kernels::PackedMatrix& matrix = packed.matrix();
  if (matrix.bf16() != nullptr) throw UsageError("precision: packed weights are written in fp32");
  const kernels::PackedLayout layout = matrix.layout();
  std::vector<std::uint8_t> bytes(aligned(layout.bytes()));
  std::memcpy(bytes.data(), matrix.memory(), layout.bytes());
  clear_unused_columns(layout, bytes);
  const std::string name = entry.name + kPacked;
  writer.add(name, {static_cast<std::int64_t>(bytes.size())}, std::span<const std::uint8_t>(bytes));
  writer.set_metadata(
      name, fmt::format("{} {} {} {} {}", name_of(layout.storage),
                        *entry.layout == MatrixLayout::in_out ? "in_out" : "out_in", layout.k, layout.n, layout.width));
}

std::optional<Storage> packed_storage(const Safetensors& file, const std::filesystem::path& path) {
  const auto found = file.metadata().find(kStorage);
  if (found == file.metadata().end()) return std::nullopt;
  const auto storage = storage_named(found->second);
  if (!storage) {
    throw FileError(
        fmt::format("{}: \"{}\" is \"{}\"; fp32, f16 or int8 is needed", path.string(), kStorage, found->second));
  }
  return storage;
}

std::optional<FilePacked> read_packed(const std::shared_ptr<const Safetensors>& file, const Safetensors::Entry& entry,
                                      const std::filesystem::path& path, bool in_place) {
  const auto text = file->metadata().find(entry.name);
  if (text == file->metadata().end() || entry.dtype != "U8" || !entry.name.ends_with(kPacked)) return std::nullopt;
  const auto fail = [&](const std::string& what) {
    throw FileError(fmt::format("{}: weight {}: {}", path.string(), entry.name, what));
  };
  const auto found = described(text->second);
  if (!found) fail(fmt::format("\"{}\" describes no packed matrix", text->second));
  const kernels::PackedLayout& layout = found->layout;
  const std::span<const std::byte> bytes = file->bytes(entry.name);
  if (bytes.size() != aligned(layout.bytes())) {
    fail(fmt::format("{} bytes are there, {} are needed for \"{}\"", bytes.size(), aligned(layout.bytes()),
                     text->second));
  }
  const bool whole = reinterpret_cast<std::uintptr_t>(bytes.data()) % kAlign == 0;
  std::vector<std::byte> copy;  // a file that somebody else wrote may have it anywhere
  if (!whole) {
    copy.resize(bytes.size() + kAlign);
    const auto at = reinterpret_cast<std::uintptr_t>(copy.data());
    std::memcpy(copy.data() + (kAlign - at % kAlign), bytes.data(), bytes.size());
  }
  const std::byte* memory =
      whole ? bytes.data() : copy.data() + (kAlign - reinterpret_cast<std::uintptr_t>(copy.data()) % kAlign);
  if (layout.storage == Storage::int8) {
    for (std::int64_t j = 0; j < layout.n; ++j) {
      const float scale = layout.int8_scales(memory)[j];
      if (!(std::isfinite(scale) && scale >= 0)) fail(fmt::format("{} is no scale", scale));
    }
  }
  FilePacked out;
  out.name = entry.name.substr(0, entry.name.size() - std::strlen(kPacked));
  out.layout = found->way;
  const bool by_rows = out.layout == MatrixLayout::in_out;
  out.shape = by_rows ? Shape{layout.k, layout.n} : Shape{layout.n, layout.k};
  if (in_place && whole && layout.usable()) {
    out.packed = std::make_shared<const PackedWeight>(layout, memory, file);
    return out;
  }
  out.values = Tensor::empty(out.shape);
  kernels::unpack(layout, memory, out.values.data(), by_rows ? layout.n : 1, by_rows ? 1 : layout.k);
  return out;
}

}  // namespace fovea
