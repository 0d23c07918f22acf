#include "cli/options/field_options.hpp"

#include <gmock/gmock.h>

#include "cli/small_training.hpp"

namespace fovea {
namespace {

using cli::FieldsIn;
using cli::with_options;
using test::Ran;
using test::run_cli;

class FieldOptions : public testing::Test {
 protected:
  FieldOptions() {
    for (const char* name : {"--max-length", "--vocab", "--unscaled-embeddings", "--source"}) app.add_option(name);
  }
  CLI::App app;
};

TEST_F(FieldOptions, AreShownForTheFieldAtTheStartAndThoseInBackticks) {
  EXPECT_EQ(with_options("max_length: 3 given", app), "--max-length: 3 given");
  EXPECT_EQ(with_options("ema: it and `max_length` or `max-length` differ", app),
            "ema: it and --max-length or --max-length differ");
  EXPECT_EQ(with_options("vocabulary: 3 given; `scaled_embeddings`", app), "--vocab: 3 given; --unscaled-embeddings");
}

TEST_F(FieldOptions, OtherWordsStayAsTheyAre) {
  for (const char* message : {"", ":", ": x", "max_length", "max_length:", "a max_length: 3", "Max_length: 3", "`",
                              "``", "`max length`", "`max_length", "no `Word` of it"}) {
    EXPECT_EQ(with_options(message, app), message);
  }
  EXPECT_EQ(with_options("`beam` and `max_length`", app), "beam and --max-length");
}

TEST_F(FieldOptions, AFilesNameIsNoField) {
  EXPECT_EQ(with_options("source: cannot be opened", app, FieldsIn::backticks), "source: cannot be opened");
  EXPECT_EQ(with_options("source: longer than `max_length`", app, FieldsIn::backticks),
            "source: longer than --max-length");
}

class FieldOptionsCommand : public test::SmallTraining {};

TEST_F(FieldOptionsCommand, AMessageOfAnyLengthIsOneLine) {
  const std::string name(120000, 'a');
  expect_error({"evaluate", "--hypothesis", name, "--reference", name}, 1, name);
  expect_error({"train", "--preset", name, "--model", "m", "--source", "s", "--target", "t", "--valid-source", "s",
                "--valid-target", "t"},
               2, "--preset: \"aaa");
}

// A file may be called as an option is.
TEST_F(FieldOptionsCommand, AFileThatIsMissingIsCalledByItsName) {
  expect_error({"score", "--model", "m", "--source", "target", "--target", "x"}, 1, "fovea: target: ");
}

TEST_F(FieldOptionsCommand, WarningsOfATrainingNameOptions) {
  const Ran r = run_cli(train("m", {"--max-length", "2", "--max-steps", "1"}));
  EXPECT_EQ(r.code, 1) << "every pair has three tokens";
  EXPECT_THAT(r.err, testing::HasSubstr("(--max-length)"));
  folder_.write("long.source", folder_.read("train.source") + "eins eins eins eins\n");
  folder_.write("long.target", folder_.read("train.target") + "one\n");
  const Ran some = run_cli(train("m", {"--source", file("long.source"), "--target", file("long.target"), "--max-length",
                                       "3", "--max-steps", "1"}));
  EXPECT_EQ(some.code, 0) << some.err;
  EXPECT_THAT(some.err, testing::HasSubstr("of more than 3 tokens (--max-length), the first at"));
  EXPECT_THAT(some.err, testing::Not(testing::HasSubstr("`")));
}

TEST_F(FieldOptionsCommand, FieldsOfRunAreItsOptions) {
  ASSERT_EQ(run_cli(train("m", {"--max-steps", "1"})).code, 0);
  const std::string model = file("m");
  expect_error({"run", "--model", model, "--beam", "0"}, 2, "fovea: --beam: 0 given");
  expect_error({"run", "--model", model, "--no-repeat-ngram", "-1"}, 2, "fovea: --no-repeat-ngram: -1 given");
  expect_error({"run", "--model", model, "--min-length", "5", "--max-length", "4"}, 2, "at most --max-length");
  expect_error({"run", "--model", model, "--sample", "--n-best", "2"}, 2, "with --sample it is 1");
}

}  // namespace
}  // namespace fovea
