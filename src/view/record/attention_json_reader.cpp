// Attention records from JSON.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/json.hpp"
#include "fovea/attention_record.hpp"
#include "fovea/error.hpp"
#include "view/text.hpp"

namespace fovea {
namespace {

using nlohmann::json;

// A value with its path for errors: "run.jsonl:3: attention[1].weights".
class Field {
 public:
  Field(const json& value, std::string path) : value_(value), path_(std::move(path)) {}

  [[noreturn]] void fail(const std::string& what) const { throw FileError(path_ + " " + what); }
  [[nodiscard]] const json& value() const { return value_; }
  [[nodiscard]] Field at(std::size_t i) const { return {value_[i], fmt::format("{}[{}]", path_, i)}; }
  [[nodiscard]] Field at(const char* name) const {
    const std::string path = path_ + (path_.back() == ' ' ? "" : ".") + name;
    if (!value_.contains(name)) throw FileError(path + " is missing");
    return {value_.at(name), path};
  }
  [[nodiscard]] std::size_t array_size() const {
    if (!value_.is_array()) fail(fmt::format("is {}, not a list", kind()));
    return value_.size();
  }
  // The value as an error shows it: short, and safe for a terminal.
  [[nodiscard]] std::string shown() const {
    return view::fit(view::clean(value_.dump(-1, ' ', false, json::error_handler_t::replace)), 40);
  }
  [[nodiscard]] std::string kind() const {
    return value_.is_structured() ? std::string(value_.is_array() ? "a list" : "an object") : shown();
  }

 private:
  const json& value_;
  std::string path_;
};

std::vector<std::string> tokens(const Field& field) {
  std::vector<std::string> out;
  const std::size_t count = field.array_size();
  out.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    const Field token = field.at(i);
    if (!token.value().is_string()) token.fail(fmt::format("is {}, not a token in quotes", token.kind()));
    out.push_back(token.value().get<std::string>());
  }
  return out;
}

AttentionMatrix weights(const Field& field, std::size_t rows, std::size_t columns) {
  if (const std::size_t found = field.array_size(); found != rows) {
    field.fail(fmt::format("has {} rows for {} target tokens", found, rows));
  }
  AttentionMatrix matrix;
  matrix.rows = static_cast<std::int64_t>(rows);
  matrix.columns = static_cast<std::int64_t>(columns);
  for (std::size_t t = 0; t < rows; ++t) {
    const Field row = field.at(t);
    if (const std::size_t found = row.array_size(); found != columns) {
      row.fail(fmt::format("has {} numbers for {} source tokens", found, columns));
    }
    for (const json& value : row.value()) {
      const double weight = value.is_number() ? value.get<double>() : NAN;
      // Sums of weights that were rounded may reach a little over 1.
      if (!(weight >= 0 && weight <= 1.001)) {
        const auto s = static_cast<std::size_t>(&value - &row.value()[0]);
        row.at(s).fail(fmt::format("is {}, not a weight from 0 to 1", row.at(s).kind()));
      }
      matrix.values.push_back(static_cast<float>(weight));
    }
  }
  return matrix;
}

LargestWeights largest(const Field& field, std::size_t rows, std::size_t columns) {
  if (!field.value().is_object()) field.fail(fmt::format("is {}, not an object of index and weight", field.kind()));
  const Field index = field.at("index");
  const Field weight = field.at("weight");
  LargestWeights out{static_cast<std::int64_t>(rows), static_cast<std::int64_t>(columns), 0, {}, {}};
  for (const Field* part : {&index, &weight}) {
    if (const std::size_t found = part->array_size(); found != rows) {
      part->fail(fmt::format("has {} rows for {} target tokens", found, rows));
    }
  }
  for (std::size_t t = 0; t < rows; ++t) {
    const Field keys = index.at(t);
    const Field weights_of_keys = weight.at(t);
    const std::size_t count = keys.array_size();
    if (t == 0) out.count = static_cast<std::int64_t>(count);
    if (count != static_cast<std::size_t>(out.count) || count == 0 || count > columns) {
      keys.fail(fmt::format("has {} keys; every row has as many, at most {}", count, columns));
    }
    if (weights_of_keys.array_size() != count) weights_of_keys.fail(fmt::format("has not {} numbers", count));
    for (std::size_t n = 0; n < count; ++n) {
      const json& key = keys.value()[n];
      const json& value = weights_of_keys.value()[n];
      if (!key.is_number_unsigned() || key.get<std::uint64_t>() >= columns) {
        keys.at(n).fail(fmt::format("is {}, not a key from 0 to {}", keys.at(n).kind(), columns - 1));
      }
      const double w = value.is_number() ? value.get<double>() : NAN;
      if (!(w >= 0 && w <= 1.001)) {
        weights_of_keys.at(n).fail(fmt::format("is {}, not a weight from 0 to 1", weights_of_keys.at(n).kind()));
      }
      out.index.push_back(key.get<std::int64_t>());
      out.weight.push_back(static_cast<float>(w));
    }
  }
  return out;
}

// A number from 0 to 1 for each target token.
std::vector<float> shares(const Field& field, std::size_t count) {
  if (const std::size_t found = field.array_size(); found != count) {
    field.fail(fmt::format("has {} numbers for {} target tokens", found, count));
  }
  std::vector<float> out;
  for (std::size_t i = 0; i < count; ++i) {
    const json& value = field.at(i).value();
    const double share = value.is_number() ? value.get<double>() : NAN;
    if (!(share >= 0 && share <= 1)) {
      field.at(i).fail(fmt::format("is {}, not a number from 0 to 1", field.at(i).kind()));
    }
    out.push_back(static_cast<float>(share));
  }
  return out;
}

// A number of any size, as saliency has them.
float finite(const Field& field) {
  const double value = field.value().is_number() ? field.value().get<double>() : NAN;
  if (!(std::abs(value) <= 1e30)) field.fail(fmt::format("is {}, not a number", field.kind()));
  return static_cast<float>(value);
}

RecordLabel record_label(const Field& one, std::size_t tokens) {
  if (!one.value().is_object()) one.fail(fmt::format("is {}, not an object", one.kind()));
  RecordLabel out;
  const Field label = one.at("label");
  if (!label.value().is_string()) label.fail(fmt::format("is {}, not a label in quotes", label.kind()));
  out.label = label.value().get<std::string>();
  out.probability = finite(one.at("probability"));
  if (!one.value().contains("saliency")) return out;
  const Field saliency = one.at("saliency");
  if (const std::size_t found = saliency.array_size(); found != tokens) {
    saliency.fail(fmt::format("has {} numbers for {} source tokens", found, tokens));
  }
  for (std::size_t i = 0; i < tokens; ++i) out.saliency.push_back(finite(saliency.at(i)));
  return out;
}

int number(const Field& field) {
  const json& value = field.value();
  if (!value.is_number_integer() || value.get<double>() < 0 || value.get<double>() > 1e6) {
    field.fail(fmt::format("is {}, not a number counted from 0", field.kind()));
  }
  return value.get<int>();
}

// Tokens of queries and keys may be left out where they are the record's own.
AttentionMap map(const Field& one, const AttentionRecord& record) {
  if (!one.value().is_object()) one.fail(fmt::format("is {}, not an object", one.kind()));
  AttentionMap map;
  if (one.value().contains("kind")) {
    const Field kind = one.at("kind");
    if (!kind.value().is_string()) kind.fail(fmt::format("is {}, not a name in quotes", kind.kind()));
    try {
      map.kind = attention_kind(kind.value().get<std::string>());
    } catch (const UsageError& error) {
      kind.fail(fmt::format("is {}, not one of {}", kind.kind(), attention_kind_names()));
    }
  }
  map.layer = number(one.at("layer"));
  map.head = number(one.at("head"));
  const auto of_side = [&record](AttentionSide side) {
    return side == AttentionSide::source ? record.source : record.target;
  };
  const AttentionKindInfo& info = info_of(map.kind);
  map.queries = one.value().contains("queries") ? tokens(one.at("queries")) : of_side(info.queries);
  map.keys = one.value().contains("keys") ? tokens(one.at("keys")) : of_side(info.keys);
  if (one.value().contains("largest")) {
    map.largest = largest(one.at("largest"), map.queries.size(), map.keys.size());
  } else {
    map.weights = weights(one.at("weights"), map.queries.size(), map.keys.size());
  }
  return map;
}

RecordedPicture picture(const Field& field, std::size_t regions) {
  if (!field.value().is_object()) field.fail(fmt::format("is {}, not an object", field.kind()));
  const Field place = field.at("place");
  if (!place.value().is_string()) place.fail(fmt::format("is {}, not a path in quotes", place.kind()));
  RecordedPicture p{place.value().get<std::string>(), number(field.at("rows")), number(field.at("columns"))};
  if (static_cast<std::size_t>(p.rows) * static_cast<std::size_t>(p.columns) != regions) {
    field.fail(fmt::format("has {} rows and {} columns for {} regions", p.rows, p.columns, regions));
  }
  return p;
}

// Weights may be absent where there are maps of cross-attention, whose mean they are.
void read_weights(const Field& root, const std::string& where, AttentionRecord& record) {
  const json& object = root.value();
  std::vector<AttentionMap> cross;
  for (const AttentionMap& one : record.maps) {
    if (one.kind == AttentionKind::cross) cross.push_back(one);
  }
  if (object.contains("largest")) {
    record.largest = largest(root.at("largest"), record.target.size(), record.source.size());
    return;
  }
  if (object.contains("weights") || cross.empty()) {
    record.weights = weights(root.at("weights"), record.target.size(), record.source.size());
    return;
  }
  for (const AttentionMap& one : cross) {
    if (one.queries.size() != record.target.size() || one.keys.size() != record.source.size()) {
      throw FileError(fmt::format("{}: weights is missing, and the heads of cross-attention have other tokens", where));
    }
  }
  if (cross[0].largest) {
    record.largest = mean_of_largest(cross);
  } else {
    record.weights = mean_of(cross);
  }
}

}  // namespace

AttentionRecord parse_attention(std::string_view line, const std::string& where) {
  const json object = parse_json(line, where);
  const Field root(object, where + ": ");
  if (!object.is_object()) {
    throw FileError(fmt::format("{}: not an object with source, target and weights", where));
  }
  AttentionRecord record;
  record.source = tokens(root.at("source"));
  record.target = tokens(root.at("target"));
  if (object.contains("title")) {
    const Field title = root.at("title");
    if (!title.value().is_string()) title.fail("is not text");
    record.title = title.value().get<std::string>();
  }
  if (object.contains("copied")) record.copied = shares(root.at("copied"), record.target.size());
  if (object.contains("picture")) record.picture = picture(root.at("picture"), record.source.size());
  if (object.contains("attention")) {
    const Field maps = root.at("attention");
    for (std::size_t i = 0; i < maps.array_size(); ++i) record.maps.push_back(map(maps.at(i), record));
  }
  if (object.contains("labels")) {
    const Field labels = root.at("labels");
    for (std::size_t i = 0; i < labels.array_size(); ++i) {
      record.labels.push_back(record_label(labels.at(i), record.source.size()));
    }
    // A classifier may have no attention.
    if (!object.contains("weights") || object.at("weights").empty()) return record;
  }
  read_weights(root, where, record);
  return record;
}

}  // namespace fovea
