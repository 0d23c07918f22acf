#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>

#include "base/mapped_file.hpp"
#include "fovea/error.hpp"
#include "fovea/safetensors.hpp"
#include "kernels/half.hpp"
#include "kernels/kernels.hpp"
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
  if (e.dtype == "F16") {
    Tensor out = Tensor::empty(e.shape);
    // The header's check keeps each tensor aligned within the file, and the file is mapped at a page; bytes of a
    // caller may be at any address.
    if (reinterpret_cast<std::uintptr_t>(values) % sizeof(kernels::Half) != 0) {
      return detail::converted<detail::Half>(values, e.shape);
    }
    kernels::active().half->widen(out.size(), reinterpret_cast<const kernels::Half*>(values), out.data());
    return out;
  }
  if (e.dtype == "BF16") return detail::converted<detail::BFloat>(values, e.shape);
  throw FileError(fmt::format("{}: tensor \"{}\": dtype is {}; F32, F64, F16 or BF16 is needed", name_, name, e.dtype));
}

std::span<const std::int8_t> Safetensors::int8(std::string_view name) const {
  const Entry& e = entry(name);
  if (e.dtype != "I8") {
    throw FileError(fmt::format("{}: tensor \"{}\": dtype is {}; I8 is needed", name_, name, e.dtype));
  }
  return {reinterpret_cast<const std::int8_t*>(bytes_.data() + e.begin), e.end - e.begin};
}

std::span<const std::byte> Safetensors::bytes(std::string_view name) const {
  const Entry& e = entry(name);
  return bytes_.subspan(e.begin, e.end - e.begin);
}

void Safetensors::forget(std::string_view name) const {
  if (owner_ == nullptr) return;
  const Entry& e = entry(name);
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto at = reinterpret_cast<std::uintptr_t>(bytes_.data());
  const std::uintptr_t begin = (at + e.begin + page - 1) / page * page;
  const std::uintptr_t end = (at + e.end) / page * page;
  if (begin < end) (void)madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
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
