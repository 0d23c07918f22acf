#include "base/json.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "fovea/error.hpp"

namespace fovea {
namespace {

constexpr int kDeepest = 64;

template <class Json>
Json parse(std::string_view text, const std::string& what) {
  const auto check_depth = [&what](int depth, nlohmann::detail::parse_event_t event, Json&) {
    using Event = nlohmann::detail::parse_event_t;
    if ((event == Event::object_start || event == Event::array_start) && depth >= kDeepest) {
      throw FileError(fmt::format("{}: nested more than {} levels deep", what, kDeepest));
    }
    return true;
  };
  try {
    return Json::parse(text.begin(), text.end(), check_depth);
  } catch (const nlohmann::json::parse_error& error) {
    throw FileError(fmt::format("{}: not valid JSON at byte {}", what, error.byte));
  } catch (const nlohmann::json::out_of_range&) {  // it does not say where
    throw FileError(what + ": not valid JSON: a number is too large");
  }
}

}  // namespace

nlohmann::json parse_json(std::string_view text, const std::string& what) {
  return parse<nlohmann::json>(text, what);
}

nlohmann::ordered_json parse_ordered_json(std::string_view text, const std::string& what) {
  return parse<nlohmann::ordered_json>(text, what);
}

}  // namespace fovea
