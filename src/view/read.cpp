#include "view/read.hpp"

#include <fmt/format.h>

#include <cmath>
#include <istream>
#include <nlohmann/json.hpp>

#include "base/json.hpp"
#include "fovea/error.hpp"
#include "view/text.hpp"

namespace fovea::view {
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
    return fit(clean(value_.dump(-1, ' ', false, json::error_handler_t::replace)), 40);
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

Matrix weights(const Field& field, std::size_t rows, std::size_t columns) {
  if (const std::size_t found = field.array_size(); found != rows) {
    field.fail(fmt::format("has {} rows for {} target tokens", found, rows));
  }
  Matrix matrix;
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

}  // namespace

AttentionPicture parse_attention(std::string_view line, const std::string& where) {
  const json object = parse_json(line, where);
  const Field root(object, where + ": ");
  if (!object.is_object()) {
    throw FileError(fmt::format("{}: not an object with source, target and weights", where));
  }
  AttentionPicture picture;
  picture.source = tokens(root.at("source"));
  picture.target = tokens(root.at("target"));
  if (object.contains("title")) {
    const Field title = root.at("title");
    if (!title.value().is_string()) title.fail("is not text");
    picture.title = title.value().get<std::string>();
  }
  if (object.contains("heads")) {
    const Field heads = root.at("heads");
    for (std::size_t i = 0; i < heads.array_size(); ++i) {
      const Field one = heads.at(i);
      if (!one.value().is_object())
        one.fail(fmt::format("is {}, not an object with layer, head and weights", one.kind()));
      picture.heads.push_back({number(one.at("layer")), number(one.at("head")),
                               weights(one.at("weights"), picture.target.size(), picture.source.size())});
    }
  }
  if (object.contains("weights") || picture.heads.empty()) {
    picture.weights = weights(root.at("weights"), picture.target.size(), picture.source.size());
  } else {
    picture.weights = mean_of_heads(picture.heads);
  }
  return picture;
}

std::int64_t read_attention(std::istream& in, const std::string& name, std::int64_t only,
                            const std::function<void(std::int64_t, AttentionPicture)>& use) {
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

}  // namespace fovea::view
