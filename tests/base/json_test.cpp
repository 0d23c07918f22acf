#include "base/json.hpp"

#include <gmock/gmock.h>

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

TEST(ParseJson, OrderedKeepsTheOrderOfNames) {
  EXPECT_EQ(parse_ordered_json(R"({"b":1,"a":2})", "x").dump(), R"({"b":1,"a":2})");
  EXPECT_THROW((void)parse_ordered_json(std::string(100, '['), "x"), FileError);
}

}  // namespace
}  // namespace fovea
