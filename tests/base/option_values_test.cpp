// One declaration of a field gives its parser, its range check, its help and its errors.
#include "base/option_values.hpp"

#include <gmock/gmock.h>

#include <limits>

#include "fovea/error.hpp"
#include "support/scratch.hpp"

namespace fovea {
namespace {

enum class Colour { red, green };

}  // namespace

template <>
std::span<const EnumName<Colour>> enum_names<Colour>() {
  static constexpr EnumName<Colour> names[] = {{Colour::red, "red"}, {Colour::green, "green"}};
  return names;
}

namespace {

struct Paint {
  int layers = 1;
  float gloss = 0.5F;
  double price = 0;
  Colour colour = Colour::red;
  bool thinned = false;
  bool primed = true;
  int dry_hours = 24;
  std::string name{};
  std::vector<int> sizes{};
  std::array<int, 2> ratio{1, 2};
  std::uint64_t seed = 1;
  int batch = 0;

  template <class Self, class Visit>
  static void fields(Self& c, const Visit& visit) {
    visit(c.layers, {.name = "layers", .range = between(1, 9), .group = "Paint", .help = "how many layers"});
    visit(c.gloss, {.name = "gloss", .range = below_one(), .group = "Paint", .help = "share of gloss"});
    visit(c.price, {.name = "price", .range = more_than(0), .group = "Paint", .help = "price of a litre"});
    visit(c.colour, {.name = "colour", .group = "Paint", .help = "name of the colour"});
    visit(c.thinned, {.name = "thinned", .group = "Paint", .help = "whether it is thinned"});
    visit(c.primed, {.name = "primed", .group = "Paint", .help = "no primer below", .negative = "unprimed"});
    visit(c.dry_hours, {.name = "dry-hours",
                        .range = at_least(1),
                        .uses = {c.colour == Colour::green, "the colour green"},
                        .group = "Paint",
                        .help = "hours that green needs to dry",
                        .usual = "a day"});
    visit(c.name, {.name = "name", .group = "Paint", .help = "name on the tin"});
    visit(c.sizes, {.name = "sizes", .range = between(1, 5), .group = "Paint", .help = "sizes of the tins"});
    visit(c.ratio, {.name = "ratio", .group = "Paint", .help = "ratio of the parts"});
    visit(c.seed, {.name = "seed", .group = "Paint", .help = "seed of the pattern"});
    visit(c.batch, {.name = "batch"});
  }
};

Paint filled(const std::vector<std::pair<std::string, std::string>>& given) {
  OptionValues options;
  for (const auto& [name, text] : given) options.give(name, text);
  Paint paint;
  options.fill(paint);
  options.refuse_unused([](const std::string& name) { return name == "brush" ? "a brush" : ""; });
  return paint;
}

std::string refused(const std::string& name, const std::string& text) {
  return test::message_of<UsageError>([&] { (void)filled({{name, text}}); });
}

TEST(OptionValues, FillEveryTypeOfField) {
  const Paint p = filled({{"layers", "3"},
                          {"gloss", "0.25"},
                          {"price", "1e2"},
                          {"colour", "green"},
                          {"thinned", "true"},
                          {"unprimed", "true"},
                          {"dry-hours", "5"},
                          {"name", "a b"},
                          {"sizes", "1,5"},
                          {"ratio", "3,4"},
                          {"seed", "18446744073709551615"}});
  EXPECT_EQ(p.layers, 3);
  EXPECT_EQ(p.gloss, 0.25F);
  EXPECT_EQ(p.price, 100);
  EXPECT_EQ(p.colour, Colour::green);
  EXPECT_TRUE(p.thinned);
  EXPECT_FALSE(p.primed);
  EXPECT_EQ(p.dry_hours, 5);
  EXPECT_EQ(p.name, "a b");
  EXPECT_THAT(p.sizes, testing::ElementsAre(1, 5));
  EXPECT_THAT(p.ratio, testing::ElementsAre(3, 4));
  EXPECT_EQ(p.seed, std::numeric_limits<std::uint64_t>::max());
}

TEST(OptionValues, AWrongValueIsNamedWithWhatWouldBeRight) {
  EXPECT_EQ(refused("layers", "0"), "layers: must be from 1 to 9, is 0");
  EXPECT_EQ(refused("layers", "two"), "layers: \"two\" is not a whole number");
  EXPECT_EQ(refused("layers", "1.5"), "layers: \"1.5\" is not a whole number");
  EXPECT_EQ(refused("layers", "99999999999"), "layers: \"99999999999\" is too large a number");
  EXPECT_EQ(refused("gloss", "1"), "gloss: must be at least 0 and less than 1, is 1");
  EXPECT_EQ(refused("gloss", "nan"), "gloss: must be at least 0 and less than 1, is nan");
  EXPECT_EQ(refused("price", "0"), "price: must be more than 0, is 0");
  EXPECT_EQ(refused("price", "inf"), "price: must be more than 0, is inf");
  EXPECT_EQ(refused("price", "1 Euro"), "price: \"1 Euro\" is not a number");
  EXPECT_EQ(refused("colour", "blue"), "colour: \"blue\" is not one of red, green");
  EXPECT_EQ(refused("thinned", "yes"), "thinned: must be true or false, is \"yes\"");
  EXPECT_EQ(refused("name", ""), "name: must not be empty");
  EXPECT_EQ(refused("sizes", "1,9"), "sizes: must be from 1 to 5, is 9");
  EXPECT_EQ(refused("sizes", "1,"), "sizes: \"\" is not a whole number");
  EXPECT_EQ(refused("ratio", "1"), "ratio: \"1\" is not two numbers, as in 1,2");
  EXPECT_EQ(refused("seed", "-1"), "seed: \"-1\" is not a whole number from 0 on");
}

TEST(OptionValues, WhatHasNoEffectIsRefused) {
  EXPECT_EQ(refused("dry-hours", "5"), "dry_hours: has no effect without the colour green");
  EXPECT_EQ(refused("brush", "wide"), "brush: has no effect here; it belongs to: a brush");
  EXPECT_EQ(refused("brushes", "wide"), "brushes: there is no such option");
  EXPECT_EQ(refused("batch", "7"), "batch: there is no such option") << "files have it, options do not";
  EXPECT_NO_THROW((void)filled({{"brush", "false"}})) << "a switch that is off asks for nothing";
  EXPECT_TRUE(filled({{"unprimed", "false"}}).primed);
}

TEST(OptionValues, TheFieldOfAnErrorIsAMember) {
  try {
    (void)filled({{"dry-hours", "5"}});
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_EQ(error.field(), "dry_hours");
    EXPECT_EQ(error.problem(), "has no effect without the colour green");
  }
  EXPECT_EQ(UsageError("no field").field(), "");
  EXPECT_EQ(UsageError("no field").problem(), "no field");
}

TEST(Fields, AreCheckedInAStructToo) {
  Paint paint{.price = 1};
  EXPECT_NO_THROW(check_ranges(paint));
  EXPECT_NO_THROW(check_unused(paint, Paint{}));
  paint.dry_hours = 0;
  EXPECT_NO_THROW(check_ranges(paint)) << "it has no effect";
  EXPECT_EQ(test::message_of<UsageError>([&] { check_unused(paint, Paint{}); }),
            "dry_hours: has no effect without the colour green");
  paint.colour = Colour::green;
  EXPECT_NO_THROW(check_unused(paint, Paint{}));
  EXPECT_EQ(test::message_of<UsageError>([&] { check_ranges(paint); }), "dry_hours: must be at least 1, is 0");
}

TEST(Fields, GiveTheOptionsThatHelpShows) {
  std::vector<OptionInfo> all;
  list_options(all, "paint", Paint{});
  list_options(all, "varnish", Paint{.layers = 2});
  std::string text;
  for (const OptionInfo& o : all) text += o.name + "|" + o.value + "|" + o.help + "|" + o.usual + "|" + o.owners + "\n";
  EXPECT_EQ(text,
            "layers|N|how many layers|depends on the model|paint, varnish\n"
            "gloss|X|share of gloss|0.5|paint, varnish\n"
            "price|X|price of a litre|0|paint, varnish\n"
            "colour|NAME|name of the colour: red, green|red|paint, varnish\n"
            "thinned|N|whether it is thinned|false|paint, varnish\n"
            "unprimed|N|no primer below|true|paint, varnish\n"
            "dry-hours|N|hours that green needs to dry|a day|paint, varnish\n"
            "name|TEXT|name on the tin||paint, varnish\n"
            "sizes|TEXT|sizes of the tins||paint, varnish\n"
            "ratio|TEXT|ratio of the parts|1,2|paint, varnish\n"
            "seed|N|seed of the pattern|1|paint, varnish\n");
}

}  // namespace
}  // namespace fovea
