#include "view/attention_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <istream>
#include <nlohmann/json.hpp>

#include "base/json.hpp"
#include "fovea/error.hpp"
#include "fovea/threads.hpp"
#include "view/text.hpp"

namespace fovea::view {
namespace {

using nlohmann::json;
using Use = std::function<void(std::int64_t, AttentionRecord)>;

constexpr const char* kKey = "attention";  // of the metadata
constexpr const char* kIndex = ".index";
constexpr const char* kLargest = ".largest";

std::string map_name(std::int64_t line, const AttentionMap& map) {
  return fmt::format("{}.{}.{}.{}", line, name_of(map.kind), map.layer, map.head);
}

std::string weights_name(std::int64_t line) {
  return fmt::format("{}.weights", line);
}

json cleaned(const std::vector<std::string>& tokens) {
  json out = json::array();
  for (const std::string& token : tokens) out.push_back(clean(token));
  return out;
}

// All weights of a record or a map, or the largest ones.
void add_weights(SafetensorsWriter& out, const std::string& name, const AttentionMatrix& m, const LargestWeights& l) {
  if (l) {
    out.add(name + kIndex, Shape{l.rows, l.count}, std::span<const std::int64_t>(l.index));
    out.add(name + kLargest, Tensor::of({l.rows, l.count}, l.weight));
  } else if (!m.values.empty()) {
    out.add(name, Tensor::of({m.rows, m.columns}, m.values));
  }
}

// Sums of weights that were rounded may reach a little over 1.
void check_weights(const std::vector<float>& values, const std::string& name, const std::string& where) {
  if (std::all_of(values.begin(), values.end(), [](float w) { return w >= 0 && w <= 1.001F; })) return;
  throw FileError(fmt::format("{}: {} holds a number that is not a weight from 0 to 1", where, name));
}

LargestWeights read_largest(const Safetensors& file, const std::string& name, std::size_t rows, std::size_t columns,
                            const std::string& where) {
  const IntegerArray index = file.integers(name + kIndex);
  const Tensor t = file.tensor(name + kLargest);
  const bool fits = t.rank() == 2 && t.dim(0) == static_cast<std::int64_t>(rows) && index.shape == t.shape() &&
                    std::all_of(index.values.begin(), index.values.end(),
                                [columns](std::int64_t i) { return i >= 0 && i < static_cast<std::int64_t>(columns); });
  if (!fits) throw FileError(fmt::format("{}: {}{} does not fit its tokens", where, name, kIndex));
  LargestWeights out{static_cast<std::int64_t>(rows), static_cast<std::int64_t>(columns), t.dim(1), {}, {}};
  out.index.assign(index.values.begin(), index.values.end());
  out.weight.assign(t.data(), t.data() + t.size());
  check_weights(out.weight, name + kLargest, where);
  return out;
}

// A matrix without a row or a column is not in the file.
AttentionMatrix read_matrix(const Safetensors& file, const std::string& name, std::size_t rows, std::size_t columns,
                            const std::string& where) {
  AttentionMatrix m{static_cast<std::int64_t>(rows), static_cast<std::int64_t>(columns), {}};
  if (rows == 0 || columns == 0) return m;
  const Tensor t = file.tensor(name);
  if (!(t.shape() == Shape{m.rows, m.columns})) {
    throw FileError(
        fmt::format("{}: {} has shape {} for {} queries and {} keys", where, name, t.shape().text(), rows, columns));
  }
  m.values.assign(t.data(), t.data() + t.size());
  check_weights(m.values, name, where);
  return m;
}

AttentionRecord record_of(const Safetensors& file, const json& line, std::int64_t number, const std::string& where) {
  AttentionRecord record;
  record.title = line.value("title", "");
  line.at("source").get_to(record.source);
  line.at("target").get_to(record.target);
  record.copied = line.value("copied", std::vector<float>());
  check_weights(record.copied, "copied", where);
  if (!record.copied.empty() && record.copied.size() != record.target.size()) {
    throw FileError(fmt::format("{}: {} shares of copying for {} target tokens", where, record.copied.size(),
                                record.target.size()));
  }
  for (const json& one : line.value("maps", json::array())) {
    AttentionMap map;
    map.kind = attention_kind(one.at("kind").get<std::string>());
    one.at("layer").get_to(map.layer);
    one.at("head").get_to(map.head);
    one.at("queries").get_to(map.queries);
    one.at("keys").get_to(map.keys);
    const std::string name = map_name(number, map);
    if (file.contains(name + kIndex)) {
      map.largest = read_largest(file, name, map.queries.size(), map.keys.size(), where);
    } else {
      map.weights = read_matrix(file, name, map.queries.size(), map.keys.size(), where);
    }
    record.maps.push_back(std::move(map));
  }
  const std::string name = weights_name(number);
  if (file.contains(name + kIndex)) {
    record.largest = read_largest(file, name, record.target.size(), record.source.size(), where);
  } else {
    record.weights = read_matrix(file, name, record.target.size(), record.source.size(), where);
  }
  return record;
}

std::int64_t read_binary(const std::filesystem::path& path, std::int64_t only, const Use& use) {
  const Safetensors file(path);
  const auto found = file.metadata().find(kKey);
  if (found == file.metadata().end()) throw FileError(path.string() + ": is not a file of attention");
  const json lines = parse_json(found->second, path.string() + ": the tokens");
  if (!lines.is_array()) throw FileError(path.string() + ": the tokens are not a list of lines");
  std::int64_t number = 0;
  for (const json& line : lines) {
    ++number;
    if (only > 0 && number != only) continue;
    const std::string where = fmt::format("{}:{}", path.string(), number);
    AttentionRecord record;
    try {
      record = record_of(file, line, number, where);
    } catch (const json::exception&) {
      throw FileError(where + ": the tokens cannot be read");
    } catch (const UsageError& error) {
      throw FileError(fmt::format("{}: {}", where, error.what()));
    }
    use(number, std::move(record));
  }
  return number;
}

}  // namespace

bool is_binary_attention(const std::filesystem::path& file) {
  return file.extension() == ".safetensors";
}

std::int64_t read_attention(std::istream& in, const std::string& name, std::int64_t only, const Use& use) {
  std::string text;
  std::int64_t line = 0;
  while (std::getline(in, text)) {
    ++line;
    if (only > 0 && line != only) continue;
    if (text.find_first_not_of(" \t\r") != std::string::npos) {
      use(line, parse_attention(text, fmt::format("{}:{}", name, line)));
    }
    if (only > 0) break;
  }
  if (in.bad()) throw FileError(name + ": cannot be read");
  return line;
}

std::int64_t read_attention(const std::filesystem::path& file, std::int64_t only, const Use& use) {
  std::error_code error;
  if (std::filesystem::is_directory(file, error)) throw FileError(file.string() + ": is a directory");
  if (is_binary_attention(file)) return read_binary(file, only, use);
  std::ifstream in(file, std::ios::binary);
  if (!in) throw FileError(file.string() + ": cannot be opened");
  return read_attention(in, file.string(), only, use);
}

AttentionWriter::AttentionWriter(const std::filesystem::path& file) : file_(file), binary_(is_binary_attention(file)) {}

void AttentionWriter::add(std::span<const AttentionRecord> records, bool lists_heads) {
  if (!binary_) return add_lines(attention_lines(records, lists_heads));
  for (const AttentionRecord& record : records) add_binary(record);
}

// Numbers as text take as long as finding them.
std::string attention_lines(std::span<const AttentionRecord> records, bool lists_heads) {
  std::vector<std::string> lines(records.size());
  parallel_for(static_cast<std::int64_t>(records.size()), 4, [&](std::int64_t from, std::int64_t to) {
    for (auto i = static_cast<std::size_t>(from); i < static_cast<std::size_t>(to); ++i) {
      lines[i] = to_json(records[i]);
      if (lists_heads && records[i].maps.empty()) lines[i].insert(lines[i].size() - 1, ",\"attention\":[]");
      lines[i] += '\n';
    }
  });
  return fmt::format("{}", fmt::join(lines, ""));
}

void AttentionWriter::add_binary(const AttentionRecord& record) {
  ++lines_;
  check(record);
  json line = {{"source", cleaned(record.source)}, {"target", cleaned(record.target)}};
  if (!record.title.empty()) line["title"] = clean(record.title);
  if (!record.copied.empty()) line["copied"] = record.copied;
  add_weights(tensors_, weights_name(lines_), record.weights, record.largest);
  for (const AttentionMap& map : record.maps) {
    line["maps"].push_back({{"kind", name_of(map.kind)},
                            {"layer", map.layer},
                            {"head", map.head},
                            {"queries", cleaned(map.queries)},
                            {"keys", cleaned(map.keys)}});
    add_weights(tensors_, map_name(lines_, map), map.weights, map.largest);
  }
  tokens_ += (lines_ > 1 ? "," : "") + line.dump();
}

void AttentionWriter::prepare() {
  if (binary_ && !prepared_) {
    tensors_.set_metadata(kKey, tokens_ + "]");
    tensors_.write(file_);
  }
  prepared_ = true;
  file_.prepare();
}

void AttentionWriter::commit() {
  if (!prepared_) prepare();
  file_.commit();
}

}  // namespace fovea::view
