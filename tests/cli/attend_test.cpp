#include <gmock/gmock.h>

#include <fstream>
#include <sstream>

#include "cli/run.hpp"
#include "fovea/npy.hpp"
#include "fovea/safetensors.hpp"
#include "support/gradcheck.hpp"
#include "support/scratch.hpp"

namespace fovea {
namespace {

using test::random_tensor;
using test::Scratch;
using testing::HasSubstr;
using Words = std::vector<std::string>;

struct Outcome {
  int code;
  std::string error;
};

class Attend : public testing::Test {
 protected:
  void SetUp() override {
    write_npy(scratch_ / "q.npy", random_tensor({2, 3, 4}, 1));
    write_npy(scratch_ / "k.npy", random_tensor({2, 5, 4}, 2));
    write_npy(scratch_ / "v.npy", random_tensor({2, 5, 6}, 3));
    write_npy(scratch_ / "grad.npy", random_tensor({2, 3, 6}, 4));
  }
  [[nodiscard]] std::string path(const std::string& name) const { return (scratch_ / name).string(); }
  void array(const std::string& name, const Shape& shape) const { write_npy(scratch_ / name, Tensor::zeros(shape)); }
  void integers(const std::string& name, const Shape& shape, const std::vector<std::int64_t>& values) const {
    write_npy(scratch_ / name, shape, values);
  }
  void params(const std::vector<std::pair<std::string, Shape>>& shapes) const {
    SafetensorsWriter writer;
    for (const auto& [name, shape] : shapes) writer.add(name, random_tensor(shape, 5));
    writer.write(scratch_ / "p.safetensors");
  }
  // fovea attend with these words; a word ending in .npy or .safetensors stands for the scratch file of that name.
  [[nodiscard]] Outcome run(Words words) const {
    for (std::string& word : words) {
      if (word.ends_with(".npy") || word.ends_with(".safetensors")) word = path(word);
    }
    words.insert(words.begin(), "attend");
    std::istringstream in;
    std::ostringstream out, err;
    const int code = cli::run(words, {in, out, err});
    return {code, err.str()};
  }
  [[nodiscard]] Outcome run_basic(const Words& more) const {
    Words words{"--query", "q.npy", "--key", "k.npy", "--value", "v.npy", "--out", "out.npy"};
    words.insert(words.end(), more.begin(), more.end());
    return run(words);
  }
  // Wrong usage: exit 2, one line that says `what`, no output touched.
  void expect_usage(const Words& words, const std::string& what, bool basic = true) const {
    test::write_text(scratch_ / "out.npy", "precious");
    const Outcome outcome = basic ? run_basic(words) : run(words);
    EXPECT_EQ(outcome.code, 2) << what;
    EXPECT_THAT(outcome.error, HasSubstr(what));
    EXPECT_EQ(std::count(outcome.error.begin(), outcome.error.end(), '\n'), 1) << outcome.error;
    EXPECT_EQ(test::read_text(scratch_ / "out.npy"), "precious") << what;
  }

  Scratch scratch_;
};

TEST_F(Attend, WritesEverythingThatWasAskedFor) {
  params({{"W", {7, 4}}, {"U", {7, 4}}, {"v", {7}}});
  const Outcome outcome =
      run_basic({"--score", "additive", "--params", "p.safetensors", "--weights", "w.npy", "--top", "2", "--top-out",
                 "top.safetensors", "--grad", "grad.npy", "--grads", "grads.safetensors"});
  ASSERT_EQ(outcome.code, 0) << outcome.error;
  EXPECT_EQ(read_npy(scratch_ / "out.npy").shape(), (Shape{2, 3, 6}));
  EXPECT_EQ(read_npy(scratch_ / "w.npy").shape(), (Shape{2, 3, 5}));
  const Safetensors top(scratch_ / "top.safetensors");
  EXPECT_EQ(top.integers("index").shape, (Shape{2, 3, 2}));
  EXPECT_EQ(top.entry("index").dtype, "I64");
  EXPECT_EQ(top.tensor("weight").shape(), (Shape{2, 3, 2}));
  const Safetensors grads(scratch_ / "grads.safetensors");
  for (const auto& [name, shape] : std::vector<std::pair<std::string, Shape>>{
           {"query", {2, 3, 4}}, {"key", {2, 5, 4}}, {"value", {2, 5, 6}}, {"W", {7, 4}}, {"U", {7, 4}}, {"v", {7}}}) {
    EXPECT_EQ(grads.tensor(name).shape(), shape) << name;
  }
}

TEST_F(Attend, WithoutValuesTheKeysAreReadAndGetBothGradients) {
  const Outcome outcome =
      run({"--query", "q.npy", "--key", "k.npy", "--grad", "q.npy", "--grads", "grads.safetensors"});
  ASSERT_EQ(outcome.code, 0) << outcome.error;
  const Safetensors grads(scratch_ / "grads.safetensors");
  EXPECT_EQ(grads.entries().size(), 2U);
  EXPECT_EQ(grads.tensor("key").shape(), (Shape{2, 5, 4}));
}

TEST_F(Attend, ShapesThatDoNotFitAreNamed) {
  array("flat.npy", {5, 4});
  array("other_batch.npy", {3, 5, 4});
  array("other_width.npy", {2, 5, 3});
  array("heads.npy", {2, 3, 5, 4});
  array("four_heads.npy", {2, 4, 5, 4});
  expect_usage({"--query", "flat.npy", "--key", "k.npy", "--out", "out.npy"}, "--query", false);
  expect_usage({"--query", "q.npy", "--key", "flat.npy", "--out", "out.npy"}, "--key", false);
  expect_usage({"--query", "q.npy", "--key", "other_batch.npy", "--out", "out.npy"},
               "key [3,5,4]: expected 2 sequences", false);
  expect_usage({"--query", "q.npy", "--key", "other_width.npy", "--out", "out.npy"}, "key of width 3", false);
  expect_usage({"--query", "four_heads.npy", "--key", "heads.npy", "--out", "out.npy"}, "divides the 4", false);
  expect_usage({"--query", "q.npy", "--key", "k.npy", "--value", "other_batch.npy", "--out", "out.npy"},
               "value [3,5,4]", false);
}

TEST_F(Attend, TypesThatDoNotFitAreNamed) {
  integers("whole.npy", {2, 3, 4}, std::vector<std::int64_t>(24, 1));
  array("real.npy", {2});
  test::write_text(scratch_ / "broken.npy", "not an array");
  expect_usage({"--query", "whole.npy", "--key", "k.npy", "--out", "out.npy"}, "--query", false);
  expect_usage({"--query", "broken.npy", "--key", "k.npy", "--out", "out.npy"}, "--query", false);
  expect_usage({"--lengths", "real.npy"}, "--lengths");
  expect_usage({"--bias", "whole.npy"}, "--bias");
}

TEST_F(Attend, AFileThatIsMissingIsAFailure) {
  const Outcome outcome = run({"--query", "nowhere.npy", "--key", "k.npy", "--out", "out.npy"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.error, HasSubstr("nowhere.npy"));
}

TEST_F(Attend, LengthsMaskBiasAndGradientMustFit) {
  integers("three.npy", {3}, {1, 1, 1});
  integers("square.npy", {2, 1}, {1, 1});
  integers("far.npy", {2}, {5, 6});
  integers("below.npy", {2}, {5, -1});
  array("bias.npy", {4, 5});
  expect_usage({"--lengths", "three.npy"}, "--lengths");
  expect_usage({"--lengths", "square.npy"}, "--lengths");
  expect_usage({"--lengths", "far.npy"}, "lengths[1] is 6: expected 0 to 5");
  expect_usage({"--lengths", "below.npy"}, "lengths[1] is -1");
  expect_usage({"--bias", "bias.npy"}, "bias [4,5]");
  expect_usage({"--mask", "three.npy"}, "mask [3]");
  expect_usage({"--grad", "q.npy", "--grads", "g.safetensors"}, "--grad");
  EXPECT_FALSE(std::filesystem::exists(scratch_ / "g.safetensors"));
}

TEST_F(Attend, ParametersMissingExtraOrOfTheWrongSizeAreNamed) {
  expect_usage({"--score", "general"}, "--params is missing: the score general needs W");
  params({{"W", {4, 4}}});
  expect_usage({"--params", "p.safetensors"}, "--params: the score scaled-dot has no parameters");
  expect_usage({"--score", "additive", "--params", "p.safetensors"}, "holds no \"U\"");
  params({{"W", {4, 4}}, {"X", {1}}});
  expect_usage({"--score", "general", "--params", "p.safetensors"}, "holds \"X\"");
  params({{"W", {4, 3}}});
  expect_usage({"--score", "general", "--params", "p.safetensors"}, "W [4,3]: expected [4,4]");
  expect_usage({"--score", "location", "--params", "p.safetensors"}, "W [4,3]");
  params({{"W", {3, 4}}, {"U", {3, 4}}, {"v", {2}}});
  expect_usage({"--score", "additive", "--params", "p.safetensors"}, "W [3,4]: expected [2,4]");
  test::write_text(scratch_ / "p.safetensors", "broken");
  expect_usage({"--score", "general", "--params", "p.safetensors"}, "--params");
}

TEST_F(Attend, OptionsThatMakeNoSenseAreNamed) {
  expect_usage({"--score", "nice"}, "--score");
  expect_usage({"--normalize", "loudly"}, "--normalize");
  expect_usage({"--window", "-1"}, "--window");
  expect_usage({"--window", "wide"}, "--window");
  expect_usage({"--dilation", "2"}, "--dilation");
  expect_usage({"--window", "2", "--dilation", "0"}, "--dilation");
  expect_usage({"--global", "2"}, "--global");
  expect_usage({"--prefix", "2"}, "--prefix");
  expect_usage({"--alpha", "1.2"}, "--alpha");
  expect_usage({"--normalize", "entmax", "--alpha", "1"}, "--alpha");
  expect_usage({"--normalize", "entmax", "--alpha", "2.5"}, "--alpha");
  expect_usage({"--softcap", "0"}, "--softcap");
  expect_usage({"--softcap", "nan"}, "--softcap");
  expect_usage({"--off-by-one", "--normalize", "sparsemax"}, "--off-by-one");
  array("s.npy", {2});
  expect_usage({"--sink", "s.npy"}, "--sink");
  expect_usage({"--off-by-one", "--sink", "s.npy"}, "--off-by-one");
  integers("d.npy", {2, 5}, std::vector<std::int64_t>(10));
  expect_usage({"--documents", "d.npy"}, "--documents");
  expect_usage({"--rotary-dims", "2"}, "--rotary-dims");
  expect_usage({"--rotary", "0"}, "--rotary");
  expect_usage({"--rotary", "10000", "--rotary-dims", "3"}, "--rotary");
  expect_usage({"--scale", "inf"}, "--scale");
  expect_usage({"--temperature", "0"}, "--temperature");
  expect_usage({"--temperature", "nan"}, "--temperature");
  expect_usage({"--top", "2"}, "--top needs --top-out");
  expect_usage({"--top-out", "t.safetensors"}, "--top-out needs --top");
  expect_usage({"--top", "6", "--top-out", "t.safetensors"}, "--top 6: expected 1 to 5");
  expect_usage({"--grad", "grad.npy"}, "--grad needs --grads");
  expect_usage({"--threads", "0"}, "threads");
  expect_usage({"--weights", "out.npy"}, "--out and --weights both name");
  expect_usage({"--query", "q.npy", "--key", "k.npy"}, "nothing to write", false);
  params({{"W", {4, 4}}});
  expect_usage({"--score", "general", "--params", "p.safetensors", "--scale", "2"}, "--scale");
}

TEST_F(Attend, WhenOneOutputCannotBeWrittenNoneAppears) {
  test::write_text(scratch_ / "out.npy", "precious");
  const Outcome outcome = run_basic({"--weights", path("no/such/folder/w.npy")});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.error, HasSubstr("no/such/folder"));
  EXPECT_EQ(test::read_text(scratch_ / "out.npy"), "precious");
}

TEST_F(Attend, EmptyArraysGiveEmptyOrZeroResults) {
  for (const auto& [q, k] : std::vector<std::pair<Shape, Shape>>{
           {{0, 3, 4}, {0, 5, 4}}, {{2, 0, 4}, {2, 5, 4}}, {{2, 3, 4}, {2, 0, 4}}, {{2, 3, 0}, {2, 5, 0}}}) {
    SCOPED_TRACE(q.text() + k.text());
    array("eq.npy", q);
    array("ek.npy", k);
    for (const char* normalize : {"softmax", "sparsemax"}) {
      const Outcome outcome = run({"--query", "eq.npy", "--key", "ek.npy", "--normalize", normalize, "--out", "eo.npy",
                                   "--weights", "ew.npy", "--grad", "eq.npy", "--grads", "eg.safetensors"});
      ASSERT_EQ(outcome.code, 0) << outcome.error;
      const Tensor out = read_npy(scratch_ / "eo.npy");
      EXPECT_EQ(out.shape(), (Shape{q[0], q[1], k[2]}));
      for (const float x : out.values()) EXPECT_EQ(x, 0.0F);
    }
  }
}

}  // namespace
}  // namespace fovea
