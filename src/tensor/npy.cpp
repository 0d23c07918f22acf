#include "fovea/npy.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/mapped_file.hpp"
#include "fovea/error.hpp"
#include "tensor/convert.hpp"
#include "tensor/npy_header.hpp"
#include "tensor/write.hpp"

namespace fovea {
namespace {

// With an owner float32 values stay where they are; without one they are copied.
Tensor floats(std::span<std::byte> bytes, const std::string& name, const std::shared_ptr<void>& owner) {
  const detail::NpyHeader header = detail::parse_npy_header(bytes, name);
  std::byte* values = bytes.data() + header.offset;
  if (header.descr == "<f4") return detail::float_values(values, header.shape, owner);
  if (header.descr != "<f8") throw FileError(name + ": descr is " + header.descr + "; float32 or float64 is needed");
  return detail::converted<double>(values, header.shape);
}

}  // namespace

Tensor read_npy(const std::filesystem::path& path) {
  const auto file = MappedFile::open(path);
  return floats(file->bytes(), path.string(), file);
}

Tensor parse_npy(std::span<const std::byte> bytes, const std::string& name) {
  return floats({const_cast<std::byte*>(bytes.data()), bytes.size()}, name, nullptr);  // only read, without an owner
}

IntegerArray read_npy_integers(const std::filesystem::path& path) {
  return parse_npy_integers(MappedFile::open(path)->bytes(), path.string());
}

IntegerArray parse_npy_integers(std::span<const std::byte> bytes, const std::string& name) {
  const detail::NpyHeader header = detail::parse_npy_header(bytes, name);
  const std::byte* values = bytes.data() + header.offset;
  if (header.descr == "<i8") return {header.shape, detail::integers<std::int64_t>(values, header.shape)};
  if (header.descr == "<i4") return {header.shape, detail::integers<std::int32_t>(values, header.shape)};
  if (header.descr == "|u1") return {header.shape, detail::integers<std::uint8_t>(values, header.shape)};
  if (header.descr == "|b1") return {header.shape, detail::integers<detail::Bool>(values, header.shape)};
  throw FileError(name + ": descr is " + header.descr + "; integers or bool are needed");
}

TruthArray read_npy_truths(const std::filesystem::path& path) {
  const auto file = MappedFile::open(path);
  const detail::NpyHeader header = detail::parse_npy_header(file->bytes(), path.string());
  if (header.descr == "|b1" || header.descr == "|u1") {
    const auto* values = reinterpret_cast<const std::uint8_t*>(file->bytes().data() + header.offset);
    return {header.shape, {file, values}};
  }
  const IntegerArray array = parse_npy_integers(file->bytes(), path.string());
  const auto values = std::make_shared<std::uint8_t[]>(array.values.size());
  std::transform(array.values.begin(), array.values.end(), values.get(),
                 [](std::int64_t value) { return static_cast<std::uint8_t>(value != 0); });
  return {array.shape, {values, values.get()}};
}

void write_npy(WholeFile& file, const Tensor& tensor) {
  const Tensor packed = tensor.contiguous();
  file.write(detail::make_npy_header("<f4", tensor.shape()));
  file.write(std::as_bytes(packed.values()));
}

void write_npy(const std::filesystem::path& path, const Tensor& tensor) {
  WholeFile file(path);
  write_npy(file, tensor);
  file.commit();
}

void write_npy(const std::filesystem::path& path, const Shape& shape, std::span<const std::int64_t> values) {
  if (shape.size() != static_cast<std::int64_t>(values.size())) {
    throw ShapeError(fmt::format("write_npy: {} values do not fill {}", values.size(), shape.text()));
  }
  WholeFile file(path);
  file.write(detail::make_npy_header("<i8", shape));
  file.write(std::as_bytes(values));
  file.commit();
}

}  // namespace fovea
