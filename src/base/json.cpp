#include "base/json.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <type_traits>
#include <unordered_map>
#include <vector>

#include "fovea/error.hpp"

namespace fovea {
namespace {

constexpr std::size_t kDeepest = 64;
constexpr int kEventsBetweenStops = 4096;

// Builds a value from the parser's events. nlohmann::json::parse() with a callback, which could limit the depth too,
// visits all siblings at the end of each object: quadratic time.
template <class Json>
class ValueBuilder final : public nlohmann::json_sax<Json> {
 public:
  using typename nlohmann::json_sax<Json>::binary_t;
  using typename nlohmann::json_sax<Json>::number_float_t;
  using typename nlohmann::json_sax<Json>::number_integer_t;
  using typename nlohmann::json_sax<Json>::number_unsigned_t;
  using typename nlohmann::json_sax<Json>::string_t;

  ValueBuilder(Json& root, const std::string& what, const std::function<bool()>& stop)
      : root_(root), what_(what), stop_(stop) {}

  bool null() override { return add(nullptr); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(number_integer_t value) override { return add(value); }
  bool number_unsigned(number_unsigned_t value) override { return add(value); }
  bool number_float(number_float_t value, const string_t& /*text*/) override { return add(value); }
  bool string(string_t& value) override { return add(std::move(value)); }
  bool binary(binary_t& value) override { return add(std::move(value)); }
  bool start_object(std::size_t /*size*/) override { return open(Json::object()); }
  bool start_array(std::size_t /*size*/) override { return open(Json::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }

  bool key(string_t& name) override {
    Level& level = levels_.back();
    auto& object = level.value->template get_ref<typename Json::object_t&>();
    if constexpr (std::is_same_v<Json, nlohmann::ordered_json>) {  // its own operator[] compares with every name
      const auto [found, added] = level.positions.try_emplace(name, object.size());
      if (added) object.push_back({std::move(name), Json()});
      level.member = &(object.begin() + static_cast<std::ptrdiff_t>(found->second))->second;
    } else {
      level.member = &object[std::move(name)];
    }
    return true;
  }

  bool parse_error(std::size_t byte, const std::string& /*token*/, const nlohmann::detail::exception& error) override {
    constexpr int number_out_of_range = 406;
    if (error.id == number_out_of_range) throw FileError(what_ + ": not valid JSON: a number is too large");
    throw FileError(fmt::format("{}: not valid JSON at byte {}", what_, byte));
  }

 private:
  struct Level {
    Json* value = nullptr;                                     // a list or an object
    Json* member = nullptr;                                    // of an object: the value of the last name
    std::unordered_map<std::string, std::size_t> positions{};  // of an ordered object: of its names
  };

  template <class Value>
  Json* place(Value&& value) {
    if (stop_ && ++events_ % kEventsBetweenStops == 0 && stop_()) throw Error(what_ + ": reading was stopped");
    if (levels_.empty()) return &(root_ = Json(std::forward<Value>(value)));
    Level& level = levels_.back();
    if (level.value->is_object()) return &(*level.member = Json(std::forward<Value>(value)));
    auto& list = level.value->template get_ref<typename Json::array_t&>();
    list.emplace_back(std::forward<Value>(value));
    return &list.back();
  }
  template <class Value>
  bool add(Value&& value) {
    (void)place(std::forward<Value>(value));
    return true;
  }
  bool open(Json value) {
    if (levels_.size() == kDeepest) {
      throw FileError(fmt::format("{}: nested more than {} levels deep", what_, kDeepest));
    }
    Json* const placed = place(std::move(value));
    levels_.emplace_back().value = placed;
    return true;
  }
  bool close() {
    levels_.pop_back();
    return true;
  }

  Json& root_;
  const std::string& what_;
  const std::function<bool()>& stop_;
  std::vector<Level> levels_;
  int events_ = 0;
};

template <class Json>
Json parse(std::string_view text, const std::string& what, const std::function<bool()>& stop) {
  Json root;
  ValueBuilder<Json> builder(root, what, stop);
  (void)Json::sax_parse(text.begin(), text.end(), &builder);
  return root;
}

}  // namespace

nlohmann::json parse_json(std::string_view text, const std::string& what, const std::function<bool()>& stop) {
  return parse<nlohmann::json>(text, what, stop);
}

nlohmann::ordered_json parse_ordered_json(std::string_view text, const std::string& what) {
  return parse<nlohmann::ordered_json>(text, what, {});
}

}  // namespace fovea
