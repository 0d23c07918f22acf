#include "tensor/safetensors_header.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <nlohmann/json.hpp>
#include <set>

#include "fovea/error.hpp"

namespace fovea::detail {
namespace {

constexpr std::size_t kLargestJsonHeader = 100'000'000;  // as in the format's own implementation

using Json = nlohmann::json;

// A name from a file, quoted and cut for an error message.
std::string shown(const std::string& text) {
  return Json(text.substr(0, 100)).dump(-1, ' ', true, Json::error_handler_t::replace);
}

// Walks through the header as it is parsed: stores only what a header may hold, and finds duplicate names. Depth 1
// holds names, depth 2 the fields of one tensor or the metadata, depth 3 lists of numbers.
class Reader : public nlohmann::json_sax<Json> {
 public:
  explicit Reader(const std::string& file) : file_(file) {}

  SafetensorsHeader take() { return std::move(header_); }

  bool start_object(std::size_t) override {
    if (depth_ == 2) fail(metadata_ ? "holds something that is no text" : "is an object");
    ++depth_;
    fields_.clear();
    return true;
  }
  bool end_object() override {
    --depth_;
    if (depth_ == 1 && !metadata_) {
      for (const char* field : {"dtype", "shape", "data_offsets"}) {
        field_ = field;
        if (!fields_.contains(field_)) fail("is missing");
      }
    }
    return true;
  }
  bool key(string_t& text) override {
    if (depth_ == 1) {
      tensor_ = text;
      field_.clear();
      metadata_ = text == "__metadata__";
      if (!names_.insert(text).second) fail("is in the header twice");
      if (!metadata_) {
        header_.entries.emplace_back();
        header_.entries.back().name = text;
      }
      return true;
    }
    field_ = text;
    if (!metadata_ && text != "dtype" && text != "shape" && text != "data_offsets") fail("is not a field of a tensor");
    if (!fields_.insert(text).second) fail("is in the header twice");
    return true;
  }
  bool start_array(std::size_t) override {
    if (depth_ != 2 || in_list_ || metadata_ || field_ == "dtype") fail("is a list");
    in_list_ = true;
    count_ = 0;
    return true;
  }
  bool end_array() override {
    in_list_ = false;
    if (field_ == "data_offsets" && count_ != 2) fail(fmt::format("has {} numbers, not 2", count_));
    return true;
  }
  bool number_unsigned(number_unsigned_t value) override {
    if (!in_list_) fail("is a number");
    auto& entry = header_.entries.back();
    if (value > static_cast<number_unsigned_t>(INT64_MAX)) fail(fmt::format("has {}, which is too large", value));
    if (field_ == "shape") {
      if (count_ == Shape::kMaxRank) fail(fmt::format("has more than {} axes", Shape::kMaxRank));
      entry.shape.push_back(static_cast<std::int64_t>(value));
    } else {
      (count_ == 0 ? entry.begin : entry.end) = value;
    }
    ++count_;
    return true;
  }
  bool string(string_t& text) override {
    if (depth_ != 2 || in_list_ || (!metadata_ && field_ != "dtype")) fail("is a text");
    if (metadata_) {
      header_.metadata[field_] = text;
    } else {
      if (safetensors_item(text) == 0) fail(fmt::format("{} is not a type of the format", shown(text)));
      header_.entries.back().dtype = text;
    }
    return true;
  }
  bool number_integer(number_integer_t value) override { fail(fmt::format("has {}, which is negative", value)); }
  bool number_float(number_float_t, const string_t&) override { fail("has a number that is not whole or too large"); }
  bool null() override { fail("is null"); }
  bool boolean(bool) override { fail("is true or false"); }
  bool binary(binary_t&) override { fail("is binary"); }
  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception&) override {
    throw FileError(fmt::format("{}: header is not JSON in UTF-8 from its byte {} on", file_, position));
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    if (depth_ == 0) throw FileError(fmt::format("{}: header {}", file_, what));
    const bool plain = field_.empty() || field_ == "dtype" || field_ == "shape" || field_ == "data_offsets";
    throw FileError(fmt::format("{}: tensor {}: {}{}{}", file_, shown(tensor_), plain ? field_ : shown(field_),
                                field_.empty() ? "" : " ", what));
  }

  const std::string& file_;
  SafetensorsHeader header_;
  std::set<std::string> names_;
  std::set<std::string> fields_;
  std::string tensor_;
  std::string field_;
  int depth_ = 0;
  int count_ = 0;
  bool metadata_ = false;
  bool in_list_ = false;
};

}  // namespace

std::size_t safetensors_item(std::string_view dtype) {
  if (dtype == "F64" || dtype == "I64" || dtype == "U64") return 8;
  if (dtype == "F32" || dtype == "I32" || dtype == "U32") return 4;
  if (dtype == "F16" || dtype == "BF16" || dtype == "I16" || dtype == "U16") return 2;
  if (dtype == "BOOL" || dtype == "U8" || dtype == "I8" || dtype == "F8_E4M3" || dtype == "F8_E5M2") return 1;
  return 0;
}

SafetensorsHeader parse_safetensors_header(std::span<const std::byte> bytes, const std::string& name) {
  const auto fail = [&name](const std::string& what) { throw FileError(name + ": " + what); };
  std::uint64_t length = 0;
  if (bytes.size() < sizeof(length)) fail("header length is truncated");
  std::memcpy(&length, bytes.data(), sizeof(length));
  if (length > kLargestJsonHeader) fail(fmt::format("header length {} is more than {}", length, kLargestJsonHeader));
  if (length > bytes.size() - sizeof(length)) {
    fail(fmt::format("header length {} goes past the end of the file", length));
  }
  const auto* text = reinterpret_cast<const char*>(bytes.data()) + sizeof(length);
  if (length == 0 || *text != '{') fail("header does not begin with {");
  Reader reader(name);
  Json::sax_parse(text, text + length, &reader);
  SafetensorsHeader header = reader.take();

  const std::size_t data = sizeof(length) + length;
  const std::size_t available = bytes.size() - data;
  for (const auto& entry : header.entries) {
    const auto where = [&entry, &fail](const std::string& what) {
      fail(fmt::format("tensor {}: {}", shown(entry.name), what));
    };
    const std::size_t item = safetensors_item(entry.dtype);
    std::size_t needed = item;
    bool empty = false;
    for (int i = 0; i < entry.shape.rank(); ++i) {
      const auto axis = static_cast<std::size_t>(entry.shape[i]);
      empty = empty || axis == 0;
      if (__builtin_mul_overflow(needed, axis == 0 ? 1 : axis, &needed) || needed > (std::size_t{1} << 62)) {
        where("shape " + entry.shape.text() + " is too large");
      }
    }
    if (empty) needed = 0;
    if (entry.begin > entry.end) where(fmt::format("data_offsets {} to {} run backwards", entry.begin, entry.end));
    if (entry.end > available) {
      where(fmt::format("data_offsets end at {}, but the file holds {} bytes of values: it is truncated", entry.end,
                        available));
    }
    if (entry.end - entry.begin != needed) {
      where(fmt::format("data_offsets hold {} bytes, but {} of shape {} needs {}", entry.end - entry.begin, entry.dtype,
                        entry.shape.text(), needed));
    }
    if (entry.begin % item != 0) {
      where(fmt::format("data_offsets begin at {}, misaligned for {}", entry.begin, entry.dtype));
    }
  }
  // In the order of their bytes, each tensor must begin where the one before it ended.
  auto& entries = header.entries;
  std::sort(entries.begin(), entries.end(),
            [](const auto& a, const auto& b) { return std::pair(a.begin, a.end) < std::pair(b.begin, b.end); });
  std::size_t at = 0;
  for (auto& entry : entries) {
    if (entry.begin != at) {
      fail(fmt::format("tensor {}: data_offsets begin at {}, {} {}", shown(entry.name), entry.begin,
                       entry.begin < at ? "overlapping another tensor that ends at" : "leaving a gap from", at));
    }
    at = entry.end;
    entry.begin += data;
    entry.end += data;
  }
  if (at != available) fail(fmt::format("{} bytes follow the last tensor", available - at));
  std::sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  return header;
}

}  // namespace fovea::detail
