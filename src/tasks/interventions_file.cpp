#include "tasks/interventions_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "base/json.hpp"
#include "fovea/error.hpp"

namespace fovea {
namespace {

using nlohmann::json;
using What = AttentionEdit::What;

constexpr std::size_t kMost = 10'000;
constexpr std::int64_t kFarthest = 1'000'000;  // position, layer or line

// One object of the list; knows which of its fields were used.
class Reader {
 public:
  Reader(const json& object, std::string where) : object_(object), where_(std::move(where)) {
    if (!object.is_object()) throw FileError(where_ + ": is not an object");
  }

  [[noreturn]] void fail(const char* field, const std::string& what) const {
    throw FileError(fmt::format("{}.{}: {}", where_, field, what));
  }
  [[nodiscard]] std::string text(const char* field) {
    used_.insert(field);
    if (!object_.contains(field)) fail(field, "is missing");
    if (!object_[field].is_string()) fail(field, "is not text in quotes");
    return object_[field].get<std::string>();
  }
  [[nodiscard]] std::optional<std::int64_t> position(const char* field, std::int64_t first = 0) {
    used_.insert(field);
    if (!object_.contains(field) || object_[field].is_null()) return std::nullopt;
    const json& value = object_[field];
    if (!value.is_number_integer() || value.get<double>() < static_cast<double>(first) ||
        value.get<double>() > static_cast<double>(kFarthest)) {
      fail(field, fmt::format("is not a whole number counted from {}", first));
    }
    return value.get<std::int64_t>();
  }
  [[nodiscard]] std::int64_t needed(const char* field) {
    const auto value = position(field);
    if (!value) fail(field, "is missing");
    return *value;
  }
  [[nodiscard]] float number(const char* field, float otherwise) {
    used_.insert(field);
    if (!object_.contains(field)) return otherwise;
    if (!object_[field].is_number()) fail(field, "is not a number");
    return object_[field].get<float>();
  }
  [[nodiscard]] bool has(const char* field) const { return object_.contains(field) && !object_[field].is_null(); }
  void check_all_used() const {
    for (const auto& [name, value] : object_.items()) {
      if (!used_.contains(name)) {
        throw FileError(
            fmt::format("{}: \"{}\" is not a field of \"{}\"", where_, name, object_.value("do", std::string())));
      }
    }
  }

 private:
  const json& object_;
  std::string where_;
  std::set<std::string, std::less<>> used_;
};

AttentionEdit attention_edit(Reader& in, What what) {
  AttentionEdit edit;
  edit.what = what;
  if (in.has("kind")) {
    const std::string name = in.text("kind");
    try {
      edit.kind = attention_kind(name);
    } catch (const UsageError&) {
      in.fail("kind", fmt::format("\"{}\" is not one of {}", name, attention_kind_names()));
    }
  }
  const auto small = [&in](const char* field) -> std::optional<int> {
    const auto value = in.position(field);
    return value ? std::optional(static_cast<int>(*value)) : std::nullopt;
  };
  edit.layer = small("layer");
  edit.head = small("head");
  edit.query = in.position("query");
  if (what == What::cut || what == What::force) edit.key = in.needed("key");
  if (what == What::force) {
    edit.value = in.number("weight", 1);
    if (!(edit.value >= 0 && edit.value <= 1)) in.fail("weight", "is not from 0 to 1");
  }
  if (what == What::temperature) {
    edit.value = in.number("value", 1);
    if (!(edit.value > 0) || !std::isfinite(edit.value)) in.fail("value", "is not above 0");
  }
  return edit;
}

std::variant<AttentionEdit, TokenEdit> edit_of(Reader& in) {
  const std::string what = in.text("do");
  if (what == "mask") return TokenEdit{in.needed("token"), std::nullopt};
  if (what == "swap") return TokenEdit{in.needed("token"), in.text("with")};
  constexpr std::pair<const char*, What> names[] = {{"cut", What::cut},
                                                    {"force", What::force},
                                                    {"uniform", What::uniform},
                                                    {"temperature", What::temperature},
                                                    {"silence", What::silence}};
  for (const auto& [name, edit] : names) {
    if (what == name) return attention_edit(in, edit);
  }
  in.fail("do", fmt::format("\"{}\" is not one of cut, force, uniform, temperature, silence, mask, swap", what));
}

}  // namespace

Interventions InterventionsFile::of_line(std::int64_t line) const {
  Interventions out;
  for (const One& one : all) {
    if (one.line && *one.line != line) continue;
    if (const auto* attention = std::get_if<AttentionEdit>(&one.edit)) {
      out.attention.push_back(*attention);
    } else {
      out.tokens.push_back(std::get<TokenEdit>(one.edit));
    }
  }
  return out;
}

InterventionsFile parse_interventions(std::string_view text, const std::string& where) {
  const json root = parse_json(text, where);
  const json* list = &root;
  if (root.is_object() && root.contains("interventions")) list = &root["interventions"];
  if (!list->is_array()) throw FileError(where + ": not a list of interventions");
  if (list->size() > kMost) {
    throw FileError(fmt::format("{}: {} interventions, at most {} are made", where, list->size(), kMost));
  }
  InterventionsFile file;
  for (std::size_t i = 0; i < list->size(); ++i) {
    Reader in((*list)[i], fmt::format("{}: [{}]", where, i));
    InterventionsFile::One one;
    one.edit = edit_of(in);
    one.line = in.position("line", 1);
    in.check_all_used();
    file.all.push_back(std::move(one));
  }
  return file;
}

}  // namespace fovea
