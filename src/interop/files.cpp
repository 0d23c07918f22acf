#include "interop/files.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstring>

#include "base/mapped_file.hpp"
#include "fovea/error.hpp"
#include "fovea/safetensors.hpp"
#include "interop/byte_reader.hpp"
#include "interop/zip.hpp"
#include "tensor/npy_header.hpp"

namespace fovea::interop {

FileBytes FileBytes::map(const std::filesystem::path& file) {
  const auto mapped = MappedFile::open(file);
  return {mapped->bytes(), mapped, file.string()};
}

ForeignTensors read_safetensors(const FileBytes& file) {
  constexpr std::pair<const char*, ForeignType> types[] = {
      {"F32", ForeignType::f32}, {"F64", ForeignType::f64}, {"F16", ForeignType::f16}, {"BF16", ForeignType::bf16},
      {"I8", ForeignType::i8},   {"U8", ForeignType::u8},   {"BOOL", ForeignType::u8}, {"I16", ForeignType::i16},
      {"I32", ForeignType::i32}, {"I64", ForeignType::i64}};
  ForeignTensors tensors(file.name);
  const Safetensors read(file.bytes, file.name);
  for (const auto& entry : read.entries()) {
    const ForeignType* type = nullptr;
    for (const auto& known : types) {
      if (entry.dtype == known.first) type = &known.second;
    }
    if (type == nullptr) tensors.fail(fmt::format("tensor {} has the type {}", entry.name, entry.dtype));
    tensors.add(entry.name, {.type = *type,
                             .shape = entry.shape,
                             .bytes = file.bytes.subspan(entry.begin, entry.end - entry.begin),
                             .owner = file.owner});
  }
  return tensors;
}

ForeignTensors read_npz(const FileBytes& file) {
  constexpr std::pair<const char*, ForeignType> types[] = {
      {"<f4", ForeignType::f32}, {"<f8", ForeignType::f64}, {"<f2", ForeignType::f16}, {"|i1", ForeignType::i8},
      {"|u1", ForeignType::u8},  {"<i2", ForeignType::i16}, {"<i4", ForeignType::i32}, {"<i8", ForeignType::i64}};
  ForeignTensors tensors(file.name);
  for (const ZipEntry& entry : read_zip(file.bytes, file.owner, file.name)) {
    if (!entry.name.ends_with(".npy")) tensors.fail(fmt::format("{} is no .npy file", entry.name));
    const std::string name = entry.name.substr(0, entry.name.size() - 4);
    const auto header = detail::parse_npy_header(entry.bytes, fmt::format("{}: {}", file.name, entry.name));
    std::string descr = header.descr;
    if (descr == "<i1" || descr == "<u1") descr[0] = '|';
    const ForeignType* type = nullptr;
    for (const auto& known : types) {
      if (descr == known.first) type = &known.second;
    }
    if (type == nullptr) tensors.fail(fmt::format("tensor {} has the type {}", name, header.descr));
    tensors.add(
        name,
        {.type = *type, .shape = header.shape, .bytes = entry.bytes.subspan(header.offset), .owner = entry.owner});
  }
  return tensors;
}

namespace {

// Marian's intgemm8: a matrix in int8, transposed but for embeddings, and behind it the float32 that it was multiplied
// with. As float32 in the shape that its name is for.
ForeignTensors::Item dequantized(const std::string& name, const Shape& shape, std::span<const std::byte> bytes,
                                 const ForeignTensors& tensors) {
  const auto count = static_cast<std::size_t>(shape.size());
  if (count + sizeof(float) > bytes.size()) tensors.fail(fmt::format("tensor {} is larger than its data", name));
  float by = 0;
  std::memcpy(&by, bytes.data() + count, sizeof(by));
  if (!(by > 0) || !std::isfinite(by)) tensors.fail(fmt::format("tensor {}: its scale is {}", name, by));
  const std::size_t columns = shape.rank() == 0 ? 1 : static_cast<std::size_t>(shape[shape.rank() - 1]);
  const std::size_t rows = columns == 0 ? 0 : count / columns;
  const bool transposed = name.find("Wemb") == std::string::npos;
  auto values = std::make_shared<std::vector<float>>(count);
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t c = 0; c < columns; ++c) {
      const std::size_t from = transposed ? c * rows + r : r * columns + c;
      (*values)[r * columns + c] = static_cast<float>(static_cast<std::int8_t>(bytes[from])) / by;
    }
  }
  return {.type = ForeignType::f32, .shape = shape, .bytes = std::as_bytes(std::span(*values)), .owner = values};
}

}  // namespace

// All counts come first, then all headers, then names, shapes and values of each tensor in their order:
// u64 version, u64 tensors, (u64 name bytes, type, axes, value bytes)…, names, i32 shapes…, u64 padding, values.
ForeignTensors read_marian_bin(const FileBytes& file) {
  struct Header {
    std::uint64_t name, type, axes, bytes;
  };
  ForeignTensors tensors(file.name);
  ByteReader in(file.bytes, file.name);
  if (const auto version = in.number<std::uint64_t>(); version != 1) {
    tensors.fail(fmt::format("version {} of Marian's binary format; only 1 is read", version));
  }
  const auto count = in.number<std::uint64_t>();
  if (count > in.left() / sizeof(Header)) tensors.fail("the file ends too early");
  std::vector<Header> headers(count);
  for (Header& h : headers) h = in.number<Header>();
  std::vector<std::string> names;
  for (const Header& h : headers) {
    std::string name(in.text(h.name));
    if (!name.empty() && name.back() == '\0') name.pop_back();
    names.push_back(std::move(name));
  }
  std::vector<Shape> shapes;
  for (std::size_t i = 0; i < headers.size(); ++i) {
    if (headers[i].axes > static_cast<std::uint64_t>(Shape::kMaxRank))
      tensors.fail("tensor " + names[i] + ": too many axes");
    std::vector<std::uint64_t> sizes;
    for (std::uint64_t a = 0; a < headers[i].axes; ++a) {
      const auto size = in.number<std::int32_t>();
      if (size < 0) tensors.fail("tensor " + names[i] + ": a size below 0");
      sizes.push_back(static_cast<std::uint64_t>(size));
    }
    shapes.push_back(checked_shape(sizes, file.name + ": tensor " + names[i]));
  }
  (void)in.take(in.number<std::uint64_t>());  // padding
  for (std::size_t i = 0; i < headers.size(); ++i) {
    const auto bytes = in.take(headers[i].bytes);
    // Marian's numbers of types: 0x0100 signed, 0x0200 unsigned, 0x0400 float, plus the width in bytes; intgemm's
    // and other packed forms set further bits.
    ForeignType type = ForeignType::f32;
    if (headers[i].type == 0x4101 || headers[i].type == 0x10101) {  // intgemm8 of Firefox's Marian, and of Marian
      tensors.add(names[i], dequantized(names[i], shapes[i], bytes, tensors));
      continue;
    }
    switch (headers[i].type) {
      case 0x0404:
        type = ForeignType::f32;
        break;
      case 0x0402:
        type = ForeignType::f16;
        break;
      case 0x0408:
        type = ForeignType::f64;
        break;
      case 0x0101:
        type = ForeignType::i8;
        break;
      case 0x0201:
        type = ForeignType::u8;
        break;
      case 0x0104:
        type = ForeignType::i32;
        break;
      default:
        if ((headers[i].type & 0xFF800) != 0) {
          tensors.fail(
              fmt::format("tensor {} is packed for one kind of CPU (type 0x{:x}); plain numbers and intgemm8 are read",
                          names[i], headers[i].type));
        }
        tensors.fail(fmt::format("tensor {} has the type 0x{:x}, which is not known", names[i], headers[i].type));
    }
    const auto needed = static_cast<std::uint64_t>(shapes[i].size()) * bytes_of(type);
    if (needed > bytes.size()) tensors.fail(fmt::format("tensor {} is larger than its data", names[i]));
    tensors.add(names[i], {.type = type, .shape = shapes[i], .bytes = bytes.subspan(0, needed), .owner = file.owner});
  }
  return tensors;
}

CTranslate2File read_ctranslate2(const FileBytes& file) {
  CTranslate2File out{ForeignTensors(file.name), {}, 1};
  ForeignTensors& tensors = out.tensors;
  ByteReader in(file.bytes, file.name);
  const auto version = in.number<std::uint32_t>();
  if (version < 2 || version > 6) {
    tensors.fail(fmt::format("binary version {} of CTranslate2; 2 to 6 are read", version));
  }
  const auto text = [&in] {
    std::string read(in.text(in.number<std::uint16_t>()));
    while (!read.empty() && read.back() == '\0') read.pop_back();
    return read;
  };
  out.spec = text();
  out.revision = in.number<std::uint32_t>();
  const auto count = in.number<std::uint32_t>();
  constexpr ForeignType types[] = {ForeignType::f32, ForeignType::i8,  ForeignType::i16,
                                   ForeignType::i32, ForeignType::f16, ForeignType::bf16};
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::string name = text();
    std::vector<std::uint64_t> sizes(in.number<std::uint8_t>());
    for (auto& size : sizes) size = in.number<std::uint32_t>();
    ForeignTensors::Item item{.shape = checked_shape(sizes, file.name + ": tensor " + name), .owner = file.owner};
    std::uint64_t bytes = 0;
    if (version >= 4) {
      const auto type = in.number<std::uint8_t>();
      if (type >= std::size(types))
        tensors.fail(fmt::format("tensor {} has the type {}, which is not known", name, type));
      item.type = types[type];
      bytes = in.number<std::uint32_t>();
      // Tensors of more than 4 GiB write their size modulo 2^32; the shape gives the rest.
      const std::uint64_t needed = static_cast<std::uint64_t>(item.shape.size()) * bytes_of(item.type);
      if (bytes == (needed & 0xFFFFFFFF)) bytes = needed;
    } else {
      const auto width = in.number<std::uint8_t>();
      if (width != 1 && width != 2 && width != 4)
        tensors.fail(fmt::format("tensor {} has numbers of {} bytes", name, width));
      item.type = width == 1 ? ForeignType::i8 : width == 2 ? ForeignType::i16 : ForeignType::f32;
      bytes = static_cast<std::uint64_t>(in.number<std::uint32_t>()) * width;
    }
    item.bytes = in.take(bytes);
    tensors.add(name, std::move(item));
  }
  if (version >= 3) {
    const auto aliases = in.left() == 0 ? 0 : in.number<std::uint32_t>();
    for (std::uint32_t i = 0; i < aliases; ++i) {
      const std::string name = text();
      const std::string of = text();
      if (tensors.has(of)) tensors.alias(name, of);
      if (tensors.has(of + "_scale")) tensors.alias(name + "_scale", of + "_scale");
    }
  }
  if (in.left() != 0) tensors.fail(fmt::format("{} bytes follow the last tensor", in.left()));
  return out;
}

}  // namespace fovea::interop
