// fovea shortlist --model DIR --source FILE --target FILE [--per-token N] [--common N]
//
// Finds the target tokens that each source token is translated to in pairs of lines, and writes them to the model's
// folder. fovea run --shortlist then computes the output layer for the likely tokens of a sentence only.
#include <fmt/format.h>

#include <filesystem>
#include <ostream>

#include "cli/command.hpp"
#include "fovea/error.hpp"
#include "fovea/model/folder.hpp"
#include "tasks/generation/shortlist_file.hpp"
#include "text/corpus.hpp"
#include "text/shortlist.hpp"

namespace fovea::cli {
namespace {

struct TokenPairs final : text::Pairs {
  std::vector<std::vector<std::int32_t>> sources, targets;
  [[nodiscard]] std::int64_t size() const override { return static_cast<std::int64_t>(sources.size()); }
  [[nodiscard]] std::span<const std::int32_t> source(std::int64_t i) const override {
    return sources[static_cast<std::size_t>(i)];
  }
  [[nodiscard]] std::span<const std::int32_t> target(std::int64_t i) const override {
    return targets[static_cast<std::size_t>(i)];
  }
};

}  // namespace

void add_shortlist(CLI::App& app, const Streams& streams) {
  struct Options {
    std::string model, source, target;
    text::ShortlistOptions how;
  };
  auto* sub =
      app.add_subcommand("shortlist", "find the likely target tokens of each source token, for fovea run --shortlist");
  const auto o = std::make_shared<Options>();
  sub->add_option("--model", o->model, "model folder, to which the shortlist is written")->required();
  sub->add_option("--source", o->source,
                  "source text, plain or .gz, as in training; of a caption model the pictures' paths")
      ->required();
  sub->add_option("--target", o->target, "target text, a line for each line of --source")->required();
  sub->add_option("--per-token", o->how.per_token, "number of target tokens for each source token")
      ->check(CLI::Range(1, 100000))
      ->capture_default_str();
  sub->add_option("--common", o->how.common, "number of frequent target tokens allowed in every sentence")
      ->check(CLI::Range(0, 10000000))
      ->capture_default_str();
  sub->callback([o, streams] {
    const ModelConfig config = read_model_config(o->model);
    if (!std::holds_alternative<GeneratorConfig>(config.head)) {
      throw UsageError(fmt::format("--model: {} must be a model that writes text", o->model));
    }
    if (config.task() == Task::complete) {
      throw UsageError(fmt::format("--model: {} is a language model; it must be a model with a source", o->model));
    }
    const Tokenizers tokenizers = read_tokenizers(o->model, config);
    const auto lines = text::read_parallel(o->source, o->target);
    TokenPairs pairs;
    // A picture has no tokens: every caption may have the frequent tokens alone.
    const std::int32_t source = config.reads_tokens() ? config.tokens().vocabulary : 0;
    for (const auto& line : lines.source) {
      pairs.sources.push_back(source > 0 ? tokenizers.source->encode(line) : std::vector<std::int32_t>());
    }
    for (const auto& line : lines.target) pairs.targets.push_back(tokenizers.target->encode(line));
    const text::Shortlist shortlist(pairs, source, config.generator().vocabulary, o->how);
    const std::filesystem::path file = shortlist_file(o->model);
    shortlist.save(file);
    double total = 0;
    for (const auto& line : pairs.sources) total += static_cast<double>(shortlist.candidates(line).size());
    streams.out << fmt::format("{}: {:.0f} of {} tokens for a line\n", file.string(),
                               total / static_cast<double>(pairs.sources.size()), config.generator().vocabulary);
  });
}

}  // namespace fovea::cli
