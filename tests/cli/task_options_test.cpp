// Every option of fovea run with a model of every task: it changes what is written, or it is refused by name.
#include <gmock/gmock.h>

#include <set>

#include "fovea/model/folder.hpp"
#include "support/files.hpp"
#include "support/pictures.hpp"
#include "tasks/generation/options.hpp"

namespace fovea {
namespace {

using Arguments = std::vector<std::string>;

// What an option does where it is taken.
enum class Effect { changes, same, fails };

struct OptionCase {
  Arguments option;     // the option and its value
  TaskSet tasks;        // that take it
  Arguments with = {};  // other options that the base run has too
  Effect effect = Effect::changes;
};

const Arguments kAttention{"--attention", "att.jsonl"};
const Arguments kMaps{"--attention", "att.jsonl", "--kind", "all"};
const Arguments kSampling{"--sample"};
const TaskSet kClassify{Task::classify};

const std::vector<OptionCase>& option_cases() {
  static const std::vector<OptionCase> all{
      {{"--beam", "1"}, writing_tasks},
      {{"--length-penalty", "0.3"}, writing_tasks, {"--scores"}},
      {{"--coverage-penalty", "0.7"}, source_tasks, {"--scores", "--max-length", "2"}},
      {{"--n-best", "2"}, writing_tasks},
      {{"--min-length", "14"}, writing_tasks, {"--sample", "--temperature", "9", "--max-length", "14"}},
      {{"--max-length", "2"}, writing_tasks},
      {{"--no-repeat-ngram", "1"}, writing_tasks, {"--min-length", "9", "--max-length", "9"}},
      {{"--repetition-penalty", "3"}, writing_tasks, {"--min-length", "9", "--max-length", "9"}},
      {{"--sample"}, writing_tasks},
      {{"--temperature", "0.1"}, writing_tasks, kSampling},
      {{"--top-k", "2"}, writing_tasks, kSampling},
      {{"--top-p", "0.2"}, writing_tasks, kSampling},
      {{"--seed", "9"}, writing_tasks, kSampling},
      {{"--scores"}, all_tasks},
      {kAttention, all_tasks},
      {{"--kind", "all"}, all_tasks, kAttention},
      {{"--all-heads"}, all_tasks, kAttention},
      {{"--layer", "0"}, writing_tasks, kAttention},
      {{"--head", "0"}, writing_tasks, kAttention},
      {{"--top-weights", "2"}, writing_tasks, kMaps},
      {{"--words"}, writing_tasks, kAttention},
      {{"--replace-unknown"}, reading_tasks, {"--sample", "--temperature", "9", "--seed", "4"}},
      {{"--batch-tokens", "1"}, all_tasks, {}, Effect::same},
      {{"--intervene", "changes.json"}, reading_tasks, {"--scores"}},
      {{"--alignments", "pairs.txt"}, reading_tasks},
      {{"--saliency"}, kClassify, kAttention},
      {{"--top", "1"}, kClassify},
      {{"--strict"}, {Task::caption}, {}, Effect::fails},
      {{"--shortlist"}, source_tasks, {"--scores"}},
      {{"--type", "int8"}, all_tasks, {"--scores"}},
      {{"--threads", "1"}, all_tasks, {}, Effect::same},
  };
  return all;
}

class TaskOptions : public testing::TestWithParam<Task> {
 protected:
  void SetUp() override {
    const TransformerConfig part{.layers = 2, .dim = 16, .ffn = 16, .heads = 2};
    config_.encoder = part;
    config_.generator().decoder = part;
    config_.tokens().embedding = config_.generator().embedding = 16;
    input_ = "one two\nthree\n";
    switch (GetParam()) {
      case Task::generate:
        break;
      case Task::chat: {
        TurnSourceConfig turns;
        turns.embedding = 16;
        config_.source = turns;
        break;
      }
      case Task::caption:
        config_.source = PictureSourceConfig{.picture_size = 32, .picture_channels = 16, .embedding = 16};
        test::write_text(folder_.path("a.png"), test::png_file(test::plain_picture(32, 32, {20, 60, 220})));
        input_ = folder_.path("a.png") + "\n" + folder_.path("none.png") + "\n";
        break;
      case Task::complete:
        config_.source = NoSourceConfig{};
        config_.encoder = NoEncoderConfig{.dim = 16};
        break;
      case Task::classify:
        config_.head = ClassifierConfig{.pooling = Pooling::context, .labels = 3};
        break;
    }
    write_random_model();
    test::write_text(folder_.path("changes.json"), R"([{"do": "uniform", "kind": "cross"}])");
    if (!source_tasks.has(GetParam())) return;
    test::write_text(folder_.path("text"), "one two\nthree\n");
    ASSERT_EQ(test::run_cli({"shortlist", "--model", folder_.path("m"), "--source", folder_.path("text"), "--target",
                             folder_.path("text"), "--common", "4", "--per-token", "2"})
                  .code,
              0);
  }

  // Characters, so that --words has pieces to join.
  void write_random_model() {
    const std::vector<std::string> lines{"one two three four five six seven"};
    Tokenizers tokenizers;
    tokenizers.source = tokenizers.target = train_tokenizer(lines, {.kind = TokenizerKind::character}).tokenizer;
    if (config_.reads_tokens()) config_.tokens().vocabulary = tokenizers.source->size();
    if (std::holds_alternative<GeneratorConfig>(config_.head)) {
      config_.generator().vocabulary = tokenizers.target->size();
    } else {
      tokenizers.target = train_tokenizer({"a", "b", "c"}, {.kind = TokenizerKind::label}).tokenizer;
    }
    Parameters parameters(3);
    build_weights(config_, parameters);
    write_model(folder_.path("m"), config_, tokenizers, parameters);
  }

  // Everything that a run writes.
  [[nodiscard]] std::pair<test::Ran, std::string> run(const Arguments& options) const {
    Arguments arguments{"run", "--model", folder_.path("m")};
    for (const std::string& word : options) {
      arguments.push_back(word.find('.') != word.npos && !word.starts_with("0.") ? folder_.path(word) : word);
    }
    for (const char* file : {"att.jsonl", "pairs.txt"}) std::filesystem::remove(folder_.path(file));
    test::Ran ran = test::run_cli(arguments, input_);
    std::string all = ran.out;
    for (const char* file : {"att.jsonl", "pairs.txt"}) {
      if (std::filesystem::exists(folder_.path(file))) all += "\n" + test::read_text(folder_.path(file));
    }
    return {std::move(ran), std::move(all)};
  }

  test::TemporaryFolder folder_;
  ModelConfig config_;
  std::string input_;
};

TEST_P(TaskOptions, ChangeTheOutputOrAreRefusedByName) {
  for (const OptionCase& one : option_cases()) {
    SCOPED_TRACE(testing::PrintToString(one.option));
    Arguments with;
    for (const std::string& word : one.with) with.push_back(word);
    const bool taken = one.tasks.has(GetParam());
    Arguments options = one.option;
    if (taken) options.insert(options.end(), with.begin(), with.end());
    const auto [ran, written] = run(options);
    if (!taken) {
      EXPECT_EQ(ran.code, 2);
      EXPECT_THAT(ran.err, testing::StartsWith("fovea: " + one.option[0] + ": not an option of a"));
      continue;
    }
    if (one.effect == Effect::fails) {
      EXPECT_EQ(ran.code, 1) << ran.err;
      continue;
    }
    EXPECT_EQ(ran.code, 0) << ran.err;
    const auto [base, plain] = run(with);
    EXPECT_EQ(base.code, 0) << base.err;
    EXPECT_EQ(written == plain, one.effect == Effect::same);
  }
}

// The same of the library, by the names of its fields.
TEST_P(TaskOptions, OfTheLibraryAreRefusedByTheSameTable) {
  const GenerateOptions defaults;
  each_generate_option([&](const TaskOption& option, auto field) {
    using Value = std::remove_cvref_t<decltype(defaults.*field)>;
    GenerateOptions changed;
    if constexpr (std::is_same_v<Value, bool>) {
      changed.*field = !(changed.*field);
    } else if constexpr (std::is_same_v<Value, std::vector<AttentionKind>>) {
      changed.*field = {AttentionKind::cross};
    } else if constexpr (std::is_same_v<Value, Interventions>) {
      (changed.*field).tokens.push_back({});
    } else {
      changed.*field = Value(7);
    }
    EXPECT_FALSE(changed == defaults) << option.name;
    if (option.tasks.has(GetParam())) {
      EXPECT_NO_THROW(check_task_options(GetParam(), changed)) << option.name;
    } else {
      EXPECT_THAT(test::message_of<UsageError>([&] { check_task_options(GetParam(), changed); }),
                  testing::StartsWith(std::string(option.name) + ": "));
    }
  });
}

// A new option of fovea run needs a case here.
TEST(TaskOptionCases, CoverEveryOptionOfTheHelp) {
  const std::string help = test::run_cli({"run", "--help"}).out;
  std::set<std::string> tested{"--model", "--help"};
  for (const OptionCase& one : option_cases()) tested.insert(one.option[0]);
  for (std::size_t at = help.find("--"); at != help.npos; at = help.find("--", at + 2)) {
    const std::size_t end = help.find_first_not_of("abcdefghijklmnopqrstuvwxyz-", at);
    const std::string name = help.substr(at, end - at);
    if (help[at - 1] == ' ' && name.size() > 2) {
      EXPECT_TRUE(tested.contains(name)) << name;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Tasks, TaskOptions,
                         testing::Values(Task::generate, Task::chat, Task::caption, Task::complete, Task::classify),
                         [](const auto& of) { return std::string(enum_text(of.param)); });

}  // namespace
}  // namespace fovea
