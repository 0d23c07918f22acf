#include <fmt/format.h>

#include <algorithm>

#include "base/mapped_file.hpp"
#include "fovea/error.hpp"
#include "fovea/safetensors.hpp"
#include "tensor/convert.hpp"
#include "tensor/safetensors_header.hpp"

namespace fovea {

Safetensors::Safetensors(const std::filesystem::path& path) : name_(path.string()) {
  const auto file = MappedFile::open(path);
  owner_ = file;
  bytes_ = file->bytes();
  parse();
}

Safetensors::Safetensors(std::span<const std::byte> bytes, std::string name)
    : bytes_(const_cast<std::byte*>(bytes.data()), bytes.size()),  // only read: without an owner values are copied
      name_(std::move(name)) {
  parse();
}

void Safetensors::parse() {
  detail::SafetensorsHeader header = detail::parse_safetensors_header(bytes_, name_);
  entries_ = std::move(header.entries);
  metadata_ = std::move(header.metadata);
}

bool Safetensors::contains(std::string_view name) const {
  const auto found =
      std::ranges::lower_bound(entries_, name, {}, [](const Entry& e) -> std::string_view { return e.name; });
  return found != entries_.end() && found->name == name;
}

const Safetensors::Entry& Safetensors::entry(std::string_view name) const {
  const auto found =
      std::ranges::lower_bound(entries_, name, {}, [](const Entry& e) -> std::string_view { return e.name; });
  if (found == entries_.end() || found->name != name) {
    throw FileError(fmt::format("{}: tensor \"{}\" is missing", name_, name));
  }
  return *found;
}

Tensor Safetensors::tensor(std::string_view name) const {
  const Entry& e = entry(name);
  std::byte* values = bytes_.data() + e.begin;
  if (e.dtype == "F32") return detail::float_values(values, e.shape, owner_);
  if (e.dtype == "F64") return detail::converted<double>(values, e.shape);
  if (e.dtype == "F16") return detail::converted<detail::Half>(values, e.shape);
  if (e.dtype == "BF16") return detail::converted<detail::BFloat>(values, e.shape);
  throw FileError(fmt::format("{}: tensor \"{}\": dtype is {}; F32, F64, F16 or BF16 is needed", name_, name, e.dtype));
}

IntegerArray Safetensors::integers(std::string_view name) const {
  const Entry& e = entry(name);
  const std::byte* values = bytes_.data() + e.begin;
  if (e.dtype == "I64") return {e.shape, detail::integers<std::int64_t>(values, e.shape)};
  if (e.dtype == "I32") return {e.shape, detail::integers<std::int32_t>(values, e.shape)};
  if (e.dtype == "U8") return {e.shape, detail::integers<std::uint8_t>(values, e.shape)};
  if (e.dtype == "BOOL") return {e.shape, detail::integers<detail::Bool>(values, e.shape)};
  throw FileError(fmt::format("{}: tensor \"{}\": dtype is {}; I64, I32, U8 or BOOL is needed", name_, name, e.dtype));
}

}  // namespace fovea
