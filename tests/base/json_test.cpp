#include "base/json.hpp"

#include <gmock/gmock.h>

#include <chrono>
#include <nlohmann/json.hpp>

#include "fovea/error.hpp"

namespace fovea {
namespace {

std::string error_of(const std::string& text) {
  try {
    (void)parse_json(text, "config.json");
  } catch (const FileError& error) {
    return error.what();
  }
  return "";
}

std::string nested(const std::string& open, const std::string& inner, const std::string& close, int levels) {
  std::string text;
  for (int i = 0; i < levels; ++i) text += open;
  text += inner;
  for (int i = 0; i < levels; ++i) text += close;
  return text;
}

TEST(ParseJson, ReadsOneValue) {
  EXPECT_EQ(parse_json(R"({"a": [1, 2.5, null, true, "ä"]})", "x").at("a").size(), 5);
  EXPECT_EQ(parse_json(" 7 ", "x"), 7);
}

TEST(ParseJson, SaysWhereItStopsBeingJson) {
  EXPECT_EQ(error_of(R"({"a": x})"), "config.json: not valid JSON at byte 7");
  EXPECT_EQ(error_of(""), "config.json: not valid JSON at byte 1");
  EXPECT_EQ(error_of("{} {}"), "config.json: not valid JSON at byte 4");
  EXPECT_EQ(error_of("\"\xff\""), "config.json: not valid JSON at byte 2");
  EXPECT_EQ(error_of("1e999"), "config.json: not valid JSON: a number is too large");
}

TEST(ParseJson, RefusesMoreThan64Levels) {
  EXPECT_EQ(error_of(nested("[", "1", "]", 64)), "");
  const std::string deep = "config.json: nested more than 64 levels deep";
  EXPECT_EQ(error_of(nested("[", "1", "]", 65)), deep);
  EXPECT_EQ(error_of(nested(R"({"a":)", "1", "}", 65)), deep);
  EXPECT_EQ(error_of(nested(R"([{"a":)", "1", "}]", 33)), deep);
  EXPECT_EQ(error_of(nested("[", "", "]", 1'000'000)), deep);
  EXPECT_EQ(error_of(std::string(1'000'000, '[')), deep);
}

TEST(ParseJson, ListsSideBySideAreNotNested) {
  std::string text = "[[]";
  for (int i = 0; i < 1000; ++i) text += ",[{}]";
  EXPECT_EQ(parse_json(text + "]", "x").size(), 1001);
}

TEST(ParseJson, TheLastOfTwoValuesWithOneNameCounts) {
  EXPECT_EQ(parse_json(R"({"a":{"b":1},"a":[2]})", "x").dump(), R"({"a":[2]})");
  EXPECT_EQ(parse_ordered_json(R"({"b":1,"a":2,"b":{"c":[3,{}]}})", "x").dump(), R"({"b":{"c":[3,{}]},"a":2})");
}

TEST(ParseJson, TakesTimeLinearInTheLengthOfEveryShape) {
  const std::size_t megabyte = 1'000'000;
  const auto list_of = [&](const std::string& one) {
    std::string text = "[" + one;
    while (text.size() < megabyte) text += "," + one;
    return text + "]";
  };
  std::string wide = R"({"a":0)";
  for (int i = 0; wide.size() < megabyte; ++i) wide += fmt::format(R"(,"{}":1)", i);
  wide += "}";
  std::string deep = "[";
  while (deep.size() < megabyte) deep += nested(R"({"a":[)", "1", "]}", 31) + ",";
  deep += "1]";
  for (const std::string& text :
       {list_of("{}"), list_of("[]"), list_of("1"), list_of("1.5e-3"), list_of("\"a\""), list_of(R"({"a":{}})"), wide,
        deep, "\"" + std::string(megabyte, 'a') + "\"", R"({"a":)" + list_of(R"({"b":[{}]})") + "}"}) {
    const auto began = std::chrono::steady_clock::now();
    EXPECT_TRUE(parse_json(text, "x").size() > 0) << text.substr(0, 40);
    EXPECT_TRUE(parse_ordered_json(text, "x").size() > 0) << text.substr(0, 40);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
    EXPECT_LT(took.count(), 5) << text.substr(0, 40) << ": quadratic time would be minutes";
  }
}

TEST(ParseJson, StopsWhenAsked) {
  std::string text = "[0";
  for (int i = 0; i < 100'000; ++i) text += ",{}";
  int asked = 0;
  EXPECT_THROW((void)parse_json(text + "]", "x", [&] { return ++asked == 3; }), Error);
  EXPECT_EQ(asked, 3);
  EXPECT_EQ(parse_json(text + "]", "x", [] { return false; }).size(), 100'001);
}

TEST(ParseJson, OrderedKeepsTheOrderOfNames) {
  EXPECT_EQ(parse_ordered_json(R"({"b":1,"a":2})", "x").dump(), R"({"b":1,"a":2})");
  EXPECT_THROW((void)parse_ordered_json(std::string(100, '['), "x"), FileError);
}

}  // namespace
}  // namespace fovea
