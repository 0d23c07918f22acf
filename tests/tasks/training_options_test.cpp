// Every option of a training, on every kind of model: it changes the job, or it is refused by name.
#include <gmock/gmock.h>

#include <fmt/format.h>

#include <map>
#include <set>

#include "fovea/error.hpp"
#include "support/scratch.hpp"
#include "tasks/training/job/completed_job.hpp"
#include "tasks/training/job/names.hpp"
#include "tasks/training/job/requested_model.hpp"
#include "tasks/training/job/requested_training.hpp"

namespace fovea {
namespace {

using Options = std::vector<std::pair<std::string, std::string>>;

// A task with a kind of model.
struct Kind {
  const char* name;
  Options options;
};

std::vector<Kind> kinds() {
  const Options captions{{"task", "caption"}, {"valid-source", "vs"}, {"valid-target", "vt"}};
  const auto with = [](Options options, const Options& more) {
    options.insert(options.end(), more.begin(), more.end());
    return options;
  };
  return {{"rnn", {{"preset", "rnn-bahdanau"}}},
          {"rnn-none", {{"preset", "rnn-plain"}}},
          {"cnn", {{"preset", "cnn"}}},
          {"transformer", {{"preset", "transformer-tiny"}}},
          {"chat", {{"task", "chat"}, {"preset", "rnn-bahdanau"}}},
          {"classify-rnn", {{"task", "classify"}, {"arch", "rnn"}}},
          {"classify-hops", {{"task", "classify"}, {"encoder", "none"}, {"pooling", "hops"}}},
          {"classify-documents", {{"task", "classify"}, {"encoder", "parallel-cnn"}, {"pooling", "hierarchical"}}},
          {"caption", captions},
          {"caption-transformer", with(captions, {{"decoder", "transformer"}, {"picture-encoder", "squeezenet"}})}};
}

// A value, and what must be given with it to have an effect. Of two values at least one is not the default.
struct Sample {
  std::string name, value;
  Options with{};
};

std::vector<Sample> samples() {
  return {{"arch", "rnn"},
          {"arch", "cnn"},
          {"encoder", "rnn"},
          {"encoder", "cnn"},
          {"decoder", "rnn"},
          {"decoder", "cnn"},
          {"layers", "2"},
          {"decoder-layers", "2"},
          {"dim", "64"},
          {"embedding", "32"},
          {"unscaled-embeddings", "true"},
          {"attention", "dot"},
          {"cell", "lstm"},
          {"unidirectional", "true"},
          {"form", "luong"},
          {"input-feeding", "true"},
          {"local", "monotonic"},
          {"local-window", "4", {{"local", "monotonic"}}},
          {"coverage", "true"},
          {"attention-kind", "hard"},
          {"max-positions", "600"},
          {"kernel", "5"},
          {"kernels", "2,3"},
          {"ffn", "64"},
          {"heads", "2"},
          {"norm", "post"},
          {"positions", "rotary"},
          {"activation", "gelu"},
          {"decoder-self", "ssru"},
          {"tie", "target"},
          {"copy", "true"},
          {"pooling", "max"},
          {"hidden", "32"},
          {"hops", "3"},
          {"sentence-dim", "16"},
          {"separator", "|"},
          {"word-ngrams", "2"},
          {"char-ngrams", "3-5"},
          {"buckets", "500", {{"word-ngrams", "2"}}},
          {"hops-penalty", "0.1"},
          {"vectors", "v.txt"},
          {"turns", "hierarchical"},
          {"max-turns", "3"},
          {"picture-encoder", "squeezenet"},
          {"picture-encoder", "small"},
          {"picture-weights", "w"},
          {"freeze", "true", {{"picture-weights", "w"}}},
          {"picture-size", "64"},
          {"picture-channels", "64"},
          {"picture-blocks", "2"},
          {"doubly-stochastic", "0.5"},
          {"attention-entropy", "0.1"},
          {"shared-vocab", "true"},
          {"stream", "shards", {{"valid-source", "vs"}, {"valid-target", "vt"}}},
          {"stream-memory", "5", {{"stream", "shards"}, {"valid-source", "vs"}, {"valid-target", "vt"}}},
          {"pairs", "p.tsv", {{"source", ""}, {"target", ""}}},
          {"valid-pairs", "v.tsv"},
          {"columns", "1,3", {{"pairs", "p.tsv"}, {"source", ""}, {"target", ""}}},
          {"bpe", "true"},
          {"min-count", "2", {{"tokenizer", "word"}}},
          {"subword-sampling", "0.1"},
          {"attention-dropout", "0.1"},
          {"inner-dropout", "0.1"},
          {"label-smoothing", "0.2"},
          {"r-drop", "3"},
          {"coverage-loss", "1"},
          {"coverage-after", "0.5", {{"coverage-loss", "1"}}},
          {"weight-decay", "0.1", {{"optimizer", "adamw"}}},
          {"validate", "bleu"},
          {"dropout", "0.3"},
          {"learning-rate", "0.01"},
          {"warmup", "7"},
          {"schedule", "constant"},
          {"average", "2"},
          {"ema", "0.9"},
          {"max-length", "20"},
          {"vocab", "500"},
          {"keep-checkpoints", "3"}};
}

OptionValues values_of(const Options& options) {
  OptionValues values;
  Options all{{"model", "m"}, {"source", "s"}, {"target", "t"}};
  all.insert(all.end(), options.begin(), options.end());
  std::set<std::string> left_out;
  for (const auto& [name, text] : all) {
    if (text.empty()) left_out.insert(name);
  }
  for (const auto& [name, text] : all) {
    if (!left_out.contains(name)) values.give(name, text);
  }
  return values;
}

// Every field of a job and of its model, as text.
std::string described(const TrainingJob& job) {
  std::string all;
  const auto add = [&all](const auto& value, const Field& field) {
    all += std::string(field.name) + " " + value_text(value) + "\n";
  };
  const auto add_part = [&](const auto& part) {
    all += std::string(part.kind) + "\n";
    std::decay_t<decltype(part)>::fields(part, add);
  };
  TrainingJob::fields(job, add);
  std::visit(add_part, job.config.source);
  std::visit(add_part, job.config.encoder);
  std::visit(add_part, job.config.head);
  if (const auto* head = std::get_if<GeneratorConfig>(&job.config.head)) std::visit(add_part, head->decoder);
  return all;
}

TrainingJob job_of(const Options& options) {
  return completed_job(requested_training(values_of(options)).job);
}

// The option at fault.
std::string named(const UsageError& error) {
  for (const OptionInfo& option : training_options()) {
    if (option.name == option_name(error.field())) return option.name;
  }
  for (const OptionInfo& option : training_options()) {
    if (option.field == option_name(error.field())) return option.name;
  }
  return error.field();
}

std::string joined(const std::set<std::string>& names) {
  return fmt::format("{}", fmt::join(names, " "));
}

// The options that have no effect on each kind of model.
const std::map<std::string, std::string>& refused() {
  static const std::map<std::string, std::string> table = {
      {"rnn",
       "activation attention-dropout attention-entropy buckets char-ngrams decoder-self doubly-stochastic "
       "ffn freeze heads hidden hops hops-penalty inner-dropout kernel kernels max-positions max-turns norm "
       "picture-blocks picture-channels picture-encoder picture-size picture-weights pooling positions "
       "sentence-dim separator turns vectors word-ngrams"},
      {"rnn-none",
       "activation attention-dropout attention-entropy attention-kind buckets char-ngrams copy coverage "
       "coverage-after coverage-loss decoder-self doubly-stochastic ffn freeze heads hidden hops "
       "hops-penalty inner-dropout kernel kernels local local-window max-positions max-turns norm "
       "picture-blocks picture-channels picture-encoder picture-size picture-weights pooling positions "
       "sentence-dim separator turns vectors word-ngrams"},
      {"cnn",
       "activation attention attention-dropout attention-entropy attention-kind buckets cell char-ngrams "
       "coverage decoder-self doubly-stochastic ffn form freeze heads hidden hops hops-penalty inner-dropout "
       "input-feeding kernels local local-window max-turns norm picture-blocks picture-channels "
       "picture-encoder picture-size picture-weights pooling positions sentence-dim separator turns "
       "unidirectional unscaled-embeddings vectors word-ngrams"},
      {"transformer",
       "attention-entropy attention-kind buckets cell char-ngrams coverage doubly-stochastic embedding form "
       "freeze hidden hops hops-penalty input-feeding kernel kernels local local-window max-positions "
       "max-turns picture-blocks picture-channels picture-encoder picture-size picture-weights pooling "
       "sentence-dim separator turns unidirectional vectors word-ngrams"},
      {"chat",
       "activation attention-dropout attention-entropy buckets char-ngrams decoder-self doubly-stochastic "
       "ffn freeze heads hidden hops hops-penalty inner-dropout kernel kernels max-positions norm "
       "picture-blocks picture-channels picture-encoder picture-size picture-weights pooling positions "
       "sentence-dim separator vectors word-ngrams"},
      {"classify-rnn",
       "activation attention attention-dropout attention-entropy attention-kind copy coverage coverage-after "
       "coverage-loss decoder decoder-layers decoder-self doubly-stochastic ffn form freeze heads hidden "
       "hops hops-penalty inner-dropout input-feeding kernel kernels local local-window max-positions "
       "max-turns norm picture-blocks picture-channels picture-encoder picture-size picture-weights "
       "positions sentence-dim separator shared-vocab stream stream-memory tie turns validate"},
      {"classify-hops",
       "activation attention attention-dropout attention-entropy attention-kind cell copy coverage "
       "coverage-after coverage-loss decoder decoder-layers decoder-self doubly-stochastic ffn form freeze "
       "heads inner-dropout input-feeding kernel kernels layers local local-window max-positions max-turns "
       "norm picture-blocks picture-channels picture-encoder picture-size picture-weights positions "
       "sentence-dim separator shared-vocab stream stream-memory tie turns unidirectional validate"},
      {"classify-documents",
       "activation attention attention-dropout attention-entropy attention-kind cell copy coverage "
       "coverage-after coverage-loss decoder decoder-layers decoder-self doubly-stochastic ffn form freeze "
       "heads hops hops-penalty inner-dropout input-feeding kernel layers local local-window max-positions "
       "max-turns norm picture-blocks picture-channels picture-encoder picture-size picture-weights "
       "positions shared-vocab stream stream-memory subword-sampling tie turns unidirectional validate"},
      {"caption",
       "activation attention-dropout attention-entropy buckets char-ngrams columns copy decoder-self ffn "
       "freeze heads hidden hops hops-penalty inner-dropout kernel kernels max-positions max-turns norm "
       "pairs picture-weights pooling positions sentence-dim separator shared-vocab stream stream-memory "
       "subword-sampling turns unidirectional valid-pairs vectors word-ngrams"},
      {"caption-transformer",
       "arch attention-entropy attention-kind buckets cell char-ngrams columns copy coverage embedding form "
       "hidden hops hops-penalty input-feeding kernel kernels local local-window max-positions max-turns "
       "pairs picture-blocks picture-channels pooling sentence-dim separator shared-vocab stream "
       "stream-memory subword-sampling turns unidirectional valid-pairs vectors word-ngrams"}};
  return table;
}

TEST(TrainingOptionsTable, EveryOptionWorksOrIsRefusedByName) {
  for (const Kind& kind : kinds()) {
    std::set<std::string> found, taken, changed;
    for (const Sample& sample : samples()) {
      Options options = kind.options;
      options.insert(options.end(), sample.with.begin(), sample.with.end());
      std::string before;
      try {
        before = described(job_of(options));
      } catch (const UsageError&) {  // the option that it needs is refused already
      }
      options.emplace_back(sample.name, sample.value);
      try {
        if (described(job_of(options)) != before) changed.insert(sample.name);
        taken.insert(sample.name);
      } catch (const UsageError& error) {
        found.insert(sample.name);
        if (before.empty()) continue;
        EXPECT_EQ(named(error), sample.name) << kind.name << ": " << error.what();
      }
    }
    for (const std::string& name : taken) found.erase(name);
    EXPECT_EQ(taken, changed) << kind.name;
    EXPECT_EQ(joined(found), refused().at(kind.name)) << kind.name;
  }
}

// Nothing is declared without a sample here, but for what every training has.
TEST(TrainingOptionsTable, HasEveryOption) {
  std::set<std::string> tried{
      "model",      "source",      "target",          "valid-source", "valid-target", "languages", "resume",
      "overwrite",  "task",        "optimizer",       "threads",      "rank-timeout", "tokenizer", "max-steps",
      "max-epochs", "max-minutes", "batch-tokens",    "micro-tokens", "accumulate",   "replicas",  "report-every",
      "seed",       "precision",   "beta1",           "beta2",        "epsilon",      "clip",      "checkpoint-every",
      "patience",   "preset",      "no-input-feeding"};
  for (const Sample& sample : samples()) tried.insert(sample.name);
  std::set<std::string> declared;
  for (const OptionInfo& option : training_options()) declared.insert(option.name);
  EXPECT_EQ(tried, declared);
}

TEST(TrainingOptionsTable, NumbersThatCannotBeAreRefused) {
  for (const OptionInfo& option : training_options()) {
    if (option.is_switch) continue;
    const bool number = option.value == "N" || option.value == "X";
    for (const std::string wrong : {"", "nan", "inf", "-inf", "-1", "two", "1e400"}) {
      if (!number && !wrong.empty()) continue;
      OptionValues values = values_of({{"max-steps", "1"}});
      values.give(option.name, wrong);
      const std::string message = test::message_of<UsageError>([&] { (void)requested_training(std::move(values)); });
      EXPECT_THAT(message, testing::StartsWith(member_name(option.name) + ": ")) << option.name << " " << wrong;
    }
  }
}

// In C++ a field that has no effect is refused where it is not as it was.
TEST(TrainingOptionsTable, FieldsWithoutAnEffectAreRefusedInCpp) {
  const auto message = [](const auto& change) {
    TrainingJob job;
    job.model = "m";
    job.source = job.target = "s";
    job.config = preset("rnn-bahdanau");
    change(job);
    return test::message_of<UsageError>([&] { (void)completed_job(job); });
  };
  using testing::StartsWith;
  EXPECT_THAT(message([](TrainingJob& j) { j.options.attention_dropout = 0.1F; }),
              StartsWith("attention_dropout: has"));
  EXPECT_THAT(message([](TrainingJob& j) { j.options.loss.hops_penalty = 1; }), StartsWith("hops_penalty: has"));
  EXPECT_THAT(message([](TrainingJob& j) { j.options.loss.attention_entropy = 1; }),
              StartsWith("attention_entropy: has"));
  EXPECT_THAT(message([](TrainingJob& j) { j.task = TextTraining{.stream_memory = 5}; }),
              StartsWith("stream_memory: has"));
  EXPECT_THAT(message([](TrainingJob& j) { j.min_count = 3; }), StartsWith("min_count: has"));
  EXPECT_THAT(message([](TrainingJob& j) { j.columns = {1, 2}; }), StartsWith("columns: has"));
  EXPECT_THAT(
      message([](TrainingJob& j) { std::get<RnnDecoderConfig>(j.config.generator().decoder).local_window = 3; }),
      StartsWith("local_window: has"));
  EXPECT_THAT(message([](TrainingJob& j) { j.task = ClassifyTraining{}; }), StartsWith("task: "));
}

}  // namespace
}  // namespace fovea
