// An attention record as JSON, and from it.
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/json.hpp"
#include "fovea/attention_record.hpp"
#include "fovea/error.hpp"
#include "view/numbers.hpp"
#include "view/text.hpp"

namespace fovea {
namespace {

using nlohmann::json;

// Where in a line something stands, for its errors: "run.jsonl:3: heads[1].weights".
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
      kind.fail(fmt::format("is {}, not one of cross, encoder, decoder", kind.kind()));
    }
  }
  map.layer = number(one.at("layer"));
  map.head = number(one.at("head"));
  map.queries = one.value().contains("queries")      ? tokens(one.at("queries"))
                : map.kind == AttentionKind::encoder ? record.source
                                                     : record.target;
  map.keys = one.value().contains("keys")         ? tokens(one.at("keys"))
             : map.kind == AttentionKind::decoder ? record.target
                                                  : record.source;
  map.weights = weights(one.at("weights"), map.queries.size(), map.keys.size());
  return map;
}

void append_tokens(std::string& out, const std::vector<std::string>& tokens) {
  out += '[';
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (i > 0) out += ',';
    out += json(view::clean(tokens[i])).dump();
  }
  out += ']';
}

void append_weights(std::string& out, const AttentionMatrix& weights, int decimals) {
  out += '[';
  for (std::int64_t t = 0; t < weights.rows; ++t) {
    out += t > 0 ? ",[" : "[";
    for (std::int64_t s = 0; s < weights.columns; ++s) {
      if (s > 0) out += ',';
      view::append_number(out, weights.at(t, s), decimals);
    }
    out += ']';
  }
  out += ']';
}

}  // namespace

std::string to_json(const AttentionRecord& record, const AttentionJsonOptions& how) {
  check(record);
  std::string out = "{";
  if (!record.title.empty()) out += "\"title\":" + json(view::clean(record.title)).dump() + ",";
  out += "\"source\":";
  append_tokens(out, record.source);
  out += ",\"target\":";
  append_tokens(out, record.target);
  out += ",\"weights\":";
  append_weights(out, record.weights, how.decimals);
  if (!record.maps.empty()) {
    out += ",\"attention\":[";
    for (std::size_t i = 0; i < record.maps.size(); ++i) {
      const AttentionMap& one = record.maps[i];
      out += fmt::format("{}{{\"kind\":\"{}\",\"layer\":{},\"head\":{},\"queries\":", i > 0 ? "," : "",
                         name_of(one.kind), one.layer, one.head);
      append_tokens(out, one.queries);
      out += ",\"keys\":";
      append_tokens(out, one.keys);
      out += ",\"weights\":";
      append_weights(out, one.weights, how.decimals);
      out += '}';
    }
    out += ']';
  }
  return out + "}";
}

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
  if (object.contains("attention")) {
    const Field maps = root.at("attention");
    for (std::size_t i = 0; i < maps.array_size(); ++i) record.maps.push_back(map(maps.at(i), record));
  }
  if (object.contains("weights") || record.maps.empty()) {
    record.weights = weights(root.at("weights"), record.target.size(), record.source.size());
  } else {
    record.weights = mean_of(record_of_kind(record, AttentionKind::cross).maps);
  }
  return record;
}

}  // namespace fovea
