#include <fmt/format.h>

#include <array>
#include <cstring>
#include <nlohmann/json.hpp>

#include "fovea/error.hpp"
#include "fovea/safetensors.hpp"
#include "kernels/half.hpp"
#include "kernels/kernels.hpp"
#include "tensor/safetensors_header.hpp"
#include "tensor/write.hpp"

namespace fovea {
namespace {

constexpr std::size_t kAlign = 64;

// `text` as a JSON string.
std::string quoted(const std::string& text) {
  try {
    return nlohmann::json(text).dump();
  } catch (const nlohmann::json::exception&) {
    throw UsageError("safetensors: a name or a metadata text is not UTF-8");
  }
}

}  // namespace

SafetensorsWriter::Item& SafetensorsWriter::insert(const std::string& name, const char* dtype, const Shape& shape,
                                                   std::size_t count) {
  const std::string shown = quoted(name);
  if (name == "__metadata__") throw UsageError("safetensors: a tensor cannot be named __metadata__");
  if (shape.size() != static_cast<std::int64_t>(count)) {
    throw ShapeError(fmt::format("safetensors: {} values of {} do not fill {}", count, shown, shape.text()));
  }
  const auto [place, fresh] = items_.try_emplace(name);
  if (!fresh) throw UsageError(fmt::format("safetensors: the name {} is used twice", shown));
  place->second.dtype = dtype;
  place->second.shape = shape;
  return place->second;
}

void SafetensorsWriter::add(const std::string& name, const Tensor& tensor) {
  insert(name, "F32", tensor.shape(), static_cast<std::size_t>(tensor.size())).tensor = tensor;
}

void SafetensorsWriter::add(const std::string& name, const Shape& shape, std::span<const std::int64_t> values) {
  const auto bytes = std::as_bytes(values);
  insert(name, "I64", shape, values.size()).bytes.assign(bytes.begin(), bytes.end());
}

void SafetensorsWriter::add(const std::string& name, const Shape& shape, std::span<const std::uint8_t> values) {
  const auto bytes = std::as_bytes(values);
  insert(name, "U8", shape, values.size()).bytes.assign(bytes.begin(), bytes.end());
}

void SafetensorsWriter::add(const std::string& name, const Shape& shape, std::span<const std::int8_t> values) {
  const auto bytes = std::as_bytes(values);
  insert(name, "I8", shape, values.size()).bytes.assign(bytes.begin(), bytes.end());
}

void SafetensorsWriter::add_f16(const std::string& name, const Tensor& tensor) {
  const Tensor values = tensor.contiguous();
  std::vector<kernels::Half> halves(static_cast<std::size_t>(values.size()));
  kernels::active().half->narrow(values.size(), values.data(), halves.data());
  const auto bytes = std::as_bytes(std::span(halves));
  insert(name, "F16", tensor.shape(), halves.size()).bytes.assign(bytes.begin(), bytes.end());
}

void SafetensorsWriter::set_metadata(const std::string& key, const std::string& value) {
  (void)quoted(key + value);
  metadata_[key] = value;
}

void SafetensorsWriter::write(const std::filesystem::path& path) const {
  WholeFile file(path);
  write_safetensors(file, *this);
  file.commit();
}

void write_safetensors(WholeFile& file, const SafetensorsWriter& writer) {
  std::string header = "{";
  if (!writer.metadata_.empty()) {
    header += R"("__metadata__":{)";
    for (const auto& [key, value] : writer.metadata_) header += fmt::format("{}:{},", quoted(key), quoted(value));
    header.back() = '}';
  }
  // Those first that leave the next one aligned as tensors are, so that most can be used in place; then wide types
  // first, so that every tensor is aligned for its type without gaps between them.
  std::vector<const SafetensorsWriter::Item*> order;
  std::size_t at = 0;
  for (const bool whole : {true, false}) {
    for (const std::size_t width : {std::size_t{8}, std::size_t{4}, std::size_t{2}, std::size_t{1}})
      for (const auto& [name, item] : writer.items_) {
        if (detail::safetensors_item(item.dtype) != width) continue;
        if ((static_cast<std::size_t>(item.shape.size()) * width % kAlign == 0) != whole) continue;
        const std::size_t end = at + static_cast<std::size_t>(item.shape.size()) * width;
        header += fmt::format(R"({}{}:{{"dtype":"{}","shape":{},"data_offsets":[{},{}]}})",
                              header.size() > 1 ? "," : "", quoted(name), item.dtype, item.shape.text(), at, end);
        at = end;
        order.push_back(&item);
      }
  }
  header += '}';
  const std::uint64_t length = (sizeof(std::uint64_t) + header.size() + kAlign - 1) / kAlign * kAlign - sizeof(length);
  header.resize(length, ' ');

  file.write(std::as_bytes(std::span(&length, 1)));
  file.write(header);
  for (const SafetensorsWriter::Item* item : order) {
    if (item->tensor) {
      const Tensor packed = item->tensor.contiguous();
      file.write(std::as_bytes(packed.values()));
    } else {
      file.write(item->bytes);
    }
  }
}

}  // namespace fovea
