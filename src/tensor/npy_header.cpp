#include "tensor/npy_header.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cstdint>
#include <string_view>

#include "fovea/error.hpp"

namespace fovea::detail {
namespace {

constexpr std::string_view kMagic{"\x93NUMPY", 6};
constexpr std::size_t kLargestNpyHeader = 1 << 20;
constexpr std::size_t kAlign = 64;

struct Type {
  std::string_view descr;
  std::size_t item;
};
constexpr std::array kTypes = {Type{"<f4", 4}, Type{"<f8", 8}, Type{"<i8", 8}, Type{"<i4", 4}, Type{"|u1", 1},
                               Type{"|b1", 1}, Type{"|i1", 1}, Type{"<i1", 1}, Type{"<i2", 2}, Type{"<f2", 2}};

// Reads the dictionary that Python's repr() writes: {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }
class Dictionary {
 public:
  Dictionary(std::string_view text, const std::string& name) : rest_(text), name_(name) {}

  NpyHeader parse() {
    NpyHeader header;
    bool have_descr = false;
    bool have_order = false;
    bool have_shape = false;
    expect("header", '{');
    while (!accept('}')) {
      const std::string_view key = quoted("header");
      bool* have = key == "descr" ? &have_descr : key == "fortran_order" ? &have_order : &have_shape;
      if (have == &have_shape && key != "shape") fail("header", "has a key that is not descr, fortran_order or shape");
      const std::string field(key);
      if (*have) fail(field, "is in the header twice");
      *have = true;
      expect(field, ':');
      if (have == &have_descr) {
        descr(header);
      } else if (have == &have_order) {
        order();
      } else {
        shape(header);
      }
      if (!accept(',')) {
        expect("header", '}');
        break;
      }
    }
    skip();
    if (!rest_.empty()) fail("header", "goes on after its dictionary");
    if (!have_descr) fail("descr", "is missing");
    if (!have_order) fail("fortran_order", "is missing");
    if (!have_shape) fail("shape", "is missing");
    return header;
  }

 private:
  [[noreturn]] void fail(std::string_view field, std::string_view what) const {
    throw FileError(fmt::format("{}: {} {}", name_, field, what));
  }

  void skip() {
    while (!rest_.empty() && (rest_.front() == ' ' || rest_.front() == '\n')) rest_.remove_prefix(1);
  }
  bool accept(char c) {
    skip();
    if (rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  void expect(std::string_view field, char c) {
    if (!accept(c)) fail(field, fmt::format("is broken: \"{}\" was expected", c));
  }
  std::string_view quoted(std::string_view field) {
    skip();
    if (rest_.empty() || (rest_.front() != '\'' && rest_.front() != '"')) fail(field, "is broken: no quoted name");
    const std::size_t end = rest_.find(rest_.front(), 1);
    if (end == std::string_view::npos) fail(field, "is broken: a quote is not closed");
    const std::string_view text = rest_.substr(1, end - 1);
    rest_.remove_prefix(end + 1);
    return text;
  }

  void descr(NpyHeader& header) {
    if (accept('[')) fail("descr", "is a structured type; a plain one is needed");
    const std::string_view text = quoted("descr");
    for (const Type& type : kTypes) {
      if (text == type.descr) {
        header.descr = text;
        header.item = type.item;
        return;
      }
    }
    if (!text.empty() && text.front() == '>') fail("descr", "is big-endian; little-endian is needed");
    fail("descr", "is none of float32, float64, float16, int64, int32, int16, int8, uint8 and bool");
  }

  void order() {
    skip();
    if (rest_.starts_with("False")) {
      rest_.remove_prefix(5);
    } else if (rest_.starts_with("True")) {
      fail("fortran_order", "is True; C order is needed");
    } else {
      fail("fortran_order", "is neither True nor False");
    }
  }

  void shape(NpyHeader& header) {
    expect("shape", '(');
    while (!accept(')')) {
      skip();
      std::int64_t size = -1;
      const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), size);
      if (error == std::errc::result_out_of_range) fail("shape", "has an axis that is too large");
      if (error != std::errc() || size < 0) fail("shape", "has an axis that is not a whole number from 0 on");
      rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
      if (header.shape.rank() == Shape::kMaxRank) fail("shape", fmt::format("has more than {} axes", Shape::kMaxRank));
      header.shape.push_back(size);
      if (!accept(',')) {
        if (header.shape.rank() == 1) fail("shape", "is not a tuple");
        expect("shape", ')');
        break;
      }
    }
  }

  std::string_view rest_;
  const std::string& name_;
};

std::size_t little_endian(std::string_view bytes) {
  std::size_t value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes[i]);
  return value;
}

}  // namespace

NpyHeader parse_npy_header(std::span<const std::byte> bytes, const std::string& name) {
  const std::string_view file(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const auto fail = [&name](const std::string& what) { throw FileError(name + ": " + what); };
  if (!file.starts_with(kMagic)) fail("magic is not that of a .npy file");
  if (file.size() < 10) fail("header is truncated");
  const auto version = static_cast<unsigned char>(file[6]);
  if (version < 1 || version > 3 || file[7] != 0) {
    fail(fmt::format("version {}.{} is not 1.0, 2.0 or 3.0", version, static_cast<unsigned char>(file[7])));
  }
  const std::size_t width = version == 1 ? 2 : 4;
  if (file.size() < 8 + width) fail("header is truncated");
  const std::size_t length = little_endian(file.substr(8, width));
  if (length > kLargestNpyHeader) fail(fmt::format("header length {} is more than {}", length, kLargestNpyHeader));
  if (length > file.size() - 8 - width) fail(fmt::format("header length {} goes past the end of the file", length));

  NpyHeader header = Dictionary(file.substr(8 + width, length), name).parse();
  header.offset = 8 + width + length;
  const std::size_t rest = file.size() - header.offset;
  std::size_t needed = header.item;
  bool empty = false;
  bool overflow = false;
  for (int i = 0; i < header.shape.rank(); ++i) {
    const auto axis = static_cast<std::size_t>(header.shape[i]);
    empty = empty || axis == 0;
    overflow = overflow || __builtin_mul_overflow(needed, axis == 0 ? 1 : axis, &needed);
  }
  if (overflow || needed > (std::size_t{1} << 62)) fail("shape " + header.shape.text() + " is too large");
  if (empty) needed = 0;
  if (rest < needed)
    fail(fmt::format("values are truncated: shape {} needs {} bytes, {} are there", header.shape.text(), needed, rest));
  if (rest > needed) fail(fmt::format("{} bytes follow the values of shape {}", rest - needed, header.shape.text()));
  return header;
}

std::string make_npy_header(const char* descr, const Shape& shape) {
  std::string axes;
  for (int i = 0; i < shape.rank(); ++i) axes += fmt::format("{}{}", i == 0 ? "" : ", ", shape[i]);
  if (shape.rank() == 1) axes += ',';
  std::string text = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", descr, axes);
  text.append((kAlign - (10 + text.size() + 1) % kAlign) % kAlign, ' ');
  text += '\n';
  std::string header(kMagic);
  header += {'\x01', '\x00', static_cast<char>(text.size() & 0xFF), static_cast<char>(text.size() >> 8)};
  return header + text;
}

}  // namespace fovea::detail
