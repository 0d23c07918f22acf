// Options that the library declares, as fovea train shows and takes them.
#include "cli/options/declared_options.hpp"

#include <gmock/gmock.h>

#include <set>

#include "cli/small_training.hpp"
#include "tasks/training/job/requested_training.hpp"

namespace fovea {
namespace {

using cli::shown;
using test::Ran;
using test::run_cli;

class DeclaredOptions : public testing::Test {
 protected:
  DeclaredOptions() { cli::add_declared(app, training_options(), values); }
  CLI::App app;
  OptionValues values;
};

TEST_F(DeclaredOptions, AnErrorNamesTheOptionOfItsField) {
  EXPECT_EQ(shown(UsageError("max_length", "must be at least 1, is 0"), app), "--max-length: must be at least 1, is 0");
  EXPECT_EQ(shown(UsageError("scaled_embeddings", "x"), app), "--unscaled-embeddings: x");
  EXPECT_EQ(shown(UsageError("bidirectional", "x"), app), "--unidirectional: x");
  EXPECT_EQ(shown(UsageError("input_feeding", "x"), app), "--input-feeding: x");
  EXPECT_EQ(shown(UsageError("labels", "x"), app), "labels: x");
  EXPECT_EQ(shown(UsageError("max_length: x"), app), "max_length: x") << "no field is given";
}

// What a field is called in errors is an option, or a word of its own that is none.
TEST_F(DeclaredOptions, EveryFieldWithHelpIsAnOption) {
  for (const OptionInfo& option : training_options()) {
    EXPECT_NE(app.get_option_no_throw("--" + option.name), nullptr) << option.name;
    EXPECT_TRUE(shown(UsageError(member_name(option.field), "x"), app).starts_with("--")) << option.field;
  }
}

TEST(TrainingOptions, HaveHelpThatCanBeReadAlone) {
  std::set<std::string> names;
  for (const OptionInfo& option : training_options()) {
    EXPECT_TRUE(names.insert(option.name).second) << "duplicate option " << option.name;
    EXPECT_GT(option.help.size(), 15U) << option.name;
    EXPECT_FALSE(option.group.empty()) << option.name;
    EXPECT_FALSE(option.owners.empty()) << option.name;
    EXPECT_FALSE(option.help.ends_with('.')) << option.name;
  }
  EXPECT_GT(names.size(), 90U);
}

TEST(TrainHelp, ShowsTheCommonOptionsAndAllOnRequest) {
  const Ran some = run_cli({"train", "--help"});
  const Ran all = run_cli({"train", "--help-all"});
  EXPECT_EQ(some.code, 0);
  EXPECT_EQ(all.code, 0);
  std::size_t shown_in_help = 0;
  for (const OptionInfo& option : training_options()) {
    const std::string text = "  --" + option.name + (option.is_switch ? "" : " ");
    EXPECT_NE(all.out.find(text), std::string::npos) << option.name;
    const bool found = some.out.find(text + (option.is_switch ? " " : "")) != std::string::npos;
    EXPECT_EQ(found, option.common) << option.name;
    shown_in_help += found ? 1 : 0;
  }
  EXPECT_GE(shown_in_help, 15U);
  EXPECT_LE(shown_in_help, 30U);
  EXPECT_THAT(some.out, testing::HasSubstr("--help-all shows all"));
  for (const char* group : {"Data:", "Model:", "Vocabulary:", "Training:", "Optimizer:", "Regularization:"}) {
    EXPECT_THAT(all.out, testing::HasSubstr(std::string("\n") + group)) << group;
  }
}

class DeclaredOptionsCommand : public test::SmallTraining {};

TEST_F(DeclaredOptionsCommand, AMessageOfAnyLengthIsOneLine) {
  const std::string name(120000, 'a');
  expect_error({"evaluate", "--hypothesis", name, "--reference", name}, 1, name);
  expect_error({"train", "--preset", name, "--model", "m", "--source", "s", "--target", "t", "--valid-source", "s",
                "--valid-target", "t"},
               2, "--preset: \"aaa");
}

// A file may be called as an option is.
TEST_F(DeclaredOptionsCommand, AFileThatIsMissingIsCalledByItsName) {
  expect_error({"score", "--model", "m", "--source", "target", "--target", "x"}, 1, "fovea: target: ");
}

TEST_F(DeclaredOptionsCommand, WarningsOfATrainingNameOptions) {
  const Ran r = run_cli(train("m", {"--max-length", "2", "--max-steps", "1"}));
  EXPECT_EQ(r.code, 1) << "every pair has three tokens";
  EXPECT_THAT(r.err, testing::HasSubstr("(max-length)"));
  folder_.write("long.source", folder_.read("train.source") + "eins eins eins eins\n");
  folder_.write("long.target", folder_.read("train.target") + "one\n");
  const Ran some = run_cli(train("m", {"--source", file("long.source"), "--target", file("long.target"), "--max-length",
                                       "3", "--max-steps", "1"}));
  EXPECT_EQ(some.code, 0) << some.err;
  EXPECT_THAT(some.err, testing::HasSubstr("of more than 3 tokens (max-length), the first at"));
}

TEST_F(DeclaredOptionsCommand, FieldsOfRunAreItsOptions) {
  ASSERT_EQ(run_cli(train("m", {"--max-steps", "1"})).code, 0);
  const std::string model = file("m");
  expect_error({"run", "--model", model, "--beam", "0"}, 2, "fovea: --beam: 0 given");
  expect_error({"run", "--model", model, "--no-repeat-ngram", "-1"}, 2, "fovea: --no-repeat-ngram: -1 given");
  expect_error({"run", "--model", model, "--min-length", "5", "--max-length", "4"}, 2, "at most max-length");
  expect_error({"run", "--model", model, "--sample", "--n-best", "2"}, 2, "with sample it is 1");
}

TEST_F(DeclaredOptionsCommand, AConfigurationFileTakesTheSameOptionsAndTheCommandLineWins) {
  const auto config = [this](const std::string& text) {
    folder_.write("job.toml", text);
    return file("job.toml");
  };
  const std::string toml = config("input-feeding = true\nmax-steps = 1\nmax-length = 2\n");
  const Ran r =
      run_cli(train("m", {"--config", toml, "--preset", "rnn-luong", "--max-length", "9", "--no-input-feeding"}));
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_THAT(folder_.read("m/config.json"), testing::HasSubstr("\"input-feeding\": false"));
  expect_error(train("n", {"--config", config("max_length = 3\n")}), 2, "max_length is not an option of fovea train");
  expect_error(train("n", {"--config", config("copy = 1\n")}), 2, "copy is true or false, not 1");
  expect_error(train("n", {"--config", config("heads = \"two\"\n"), "--arch", "transformer"}), 2,
               "--heads: \"two\" is not a whole number");
}

}  // namespace
}  // namespace fovea
