// fovea run with a model that writes text. A picture that cannot be read is a warning and an empty line. A language
// model's output is the line and what follows it; a line break in it is written as the two characters \\n.
#include <fmt/format.h>

#include <fstream>
#include <functional>
#include <memory>
#include <sstream>

#include "cli/run/run_options.hpp"
#include "cli/run/run_outputs.hpp"
#include "fovea/captioner.hpp"
#include "fovea/completer.hpp"
#include "fovea/error.hpp"
#include "fovea/threads.hpp"
#include "fovea/translator.hpp"
#include "tasks/interventions_file.hpp"

namespace fovea::cli {
namespace {

using Outputs = std::vector<std::vector<Generated>>;

// Lines are decoded in blocks, so that a long input neither waits for its end nor fills the memory.
constexpr std::size_t kLineBlock = 4096;
constexpr std::size_t kTextBlock = 256;     // of a language model, whose outputs are long
constexpr std::size_t kPictureBlock = 256;  // whose pixels are in memory meanwhile
constexpr std::size_t kMapsBlock = 256;     // every layer and head of a line are thousands of numbers

// What fovea run needs of a model.
struct Writer {
  std::function<void(const GenerateOptions&)> check;
  std::function<Outputs(std::span<const std::string>, const GenerateOptions&, const GenerateCall&)> write;
  bool attends = false;  // to its source, or a language model to its text
  std::size_t block = kLineBlock;
};

template <class Model>
Writer writer_of(std::shared_ptr<const Model> model, auto write, bool attends, std::size_t block) {
  return {[model](const GenerateOptions& how) { model->check(how); },
          [model, write](std::span<const std::string> lines, const GenerateOptions& how, const GenerateCall& call) {
            return ((*model).*write)(lines, how, call);
          },
          attends, block};
}

InterventionsFile read_interventions(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  if (!in || !(text << in.rdbuf())) throw FileError(path + ": cannot be read");
  return parse_interventions(text.str(), path);
}

// Each line by itself, with its own interventions.
Outputs write_with_interventions(const Translator& translator, std::span<const std::string> lines,
                                 const GenerateOptions& how, const GenerateCall& call, const InterventionsFile& file) {
  Outputs all(lines.size());
  parallel_for(static_cast<std::int64_t>(lines.size()), 1, [&](std::int64_t from, std::int64_t to) {
    for (std::int64_t i = from; i < to; ++i) {
      GenerateOptions here = how;
      const GenerateCall at{.first_line = call.first_line + i};
      here.interventions = file.of_line(at.first_line + 1);
      all[static_cast<std::size_t>(i)] =
          std::move(translator.translate(lines.subspan(static_cast<std::size_t>(i), 1), here, at)[0]);
    }
  });
  return all;
}

Writer translating(const RunOptions& o, std::vector<LoadedModel> models) {
  const auto model = std::make_shared<const Translator>(std::move(models), o.load);
  using Many = Outputs (Translator::*)(std::span<const std::string>, const GenerateOptions&, const GenerateCall&) const;
  Writer writer = writer_of(model, static_cast<Many>(&Translator::translate), model->attends(), kLineBlock);
  if (o.intervene_file.empty()) return writer;
  writer.write = [model, file = read_interventions(o.intervene_file)](
                     std::span<const std::string> lines, const GenerateOptions& how, const GenerateCall& call) {
    return file.all.empty() ? model->translate(lines, how, call)
                            : write_with_interventions(*model, lines, how, call, file);
  };
  return writer;
}

Writer load_writer(const RunOptions& o, const ModelConfig& first) {
  std::vector<LoadedModel> models;
  models.push_back(load_model(o.models[0], first, o.load));
  if (first.task() == Task::caption) {
    const auto model = std::make_shared<const Captioner>(std::move(models[0]), o.load);
    using Many =
        Outputs (Captioner::*)(std::span<const std::string>, const GenerateOptions&, const GenerateCall&) const;
    return writer_of(model, static_cast<Many>(&Captioner::captions), model->config().attends(), kPictureBlock);
  }
  if (first.task() == Task::complete) {
    const auto model = std::make_shared<const Completer>(std::move(models[0]), o.load);
    using Many =
        Outputs (Completer::*)(std::span<const std::string>, const GenerateOptions&, const GenerateCall&) const;
    const bool attends = std::holds_alternative<TransformerConfig>(first.generator().decoder);
    return writer_of(model, static_cast<Many>(&Completer::complete), attends, kTextBlock);
  }
  for (std::size_t m = 1; m < o.models.size(); ++m) models.push_back(load_model(o.models[m], o.load));
  return translating(o, std::move(models));
}

// Before any work, options that exclude each other.
void check_combinations(const RunOptions& o, const ModelConfig& first) {
  const bool completes = first.task() == Task::complete;
  if (o.models.size() > 1 && (completes || first.task() == Task::caption)) {
    throw UsageError(fmt::format("--model: a {} works alone, {} are given",
                                 completes ? "language model" : "model of pictures", o.models.size()));
  }
  const char* needs_one = !o.intervene_file.empty() ? "--intervene"
                          : o.all_heads             ? "--all-heads"
                          : o.kind != "cross"       ? "--kind"
                                                    : nullptr;
  if (needs_one != nullptr && o.models.size() > 1) {
    throw UsageError(fmt::format("{}: it goes with one model, {} are given", needs_one, o.models.size()));
  }
  if (!o.attention_file.empty() && o.how.n_best > 1 && (o.wants_maps() || completes)) {
    const char* with = o.all_heads ? "--all-heads" : o.wants_maps() ? "--kind" : "--attention";
    throw UsageError(fmt::format("--n-best: with {} there is one output for each line", with));
  }
  if (o.wants_maps() && !completes && (o.how.layer || o.how.head)) {
    throw UsageError(fmt::format("{}: it writes every layer and head; leave out --layer and --head",
                                 o.all_heads ? "--all-heads" : "--kind"));
  }
  if (completes && o.kind_given && o.kind != "decoder" && o.kind != "all") {
    throw UsageError(fmt::format(
        "--kind: a language model attends to its own text only; decoder or all is possible, not {}", o.kind));
  }
}

GenerateOptions options_of(const RunOptions& o, const ModelConfig& first) {
  GenerateOptions how = o.how;
  how.scores = o.scores;
  how.attention = !o.attention_file.empty() || !o.alignments_file.empty();
  how.skip_unreadable = first.task() == Task::caption && !o.strict;
  if (first.task() == Task::complete) {
    if (o.lists_heads()) how.kinds = {AttentionKind::decoder};
  } else if (o.wants_maps()) {
    how.kinds = o.kinds();
  }
  return how;
}

// What --attention writes of an output.
AttentionRecord record_of(const RunOptions& o, Generated& output, Task task) {
  AttentionRecord record = std::move(output.attention);
  if (record.source.empty() || !o.wants_maps() || task == Task::complete) return record;
  record = of_asked_kind(o, std::move(record));
  if (o.kind == "all" && !record.has_weights()) {  // a model without cross-attention has the maps alone
    record.weights = {static_cast<std::int64_t>(record.target.size()), static_cast<std::int64_t>(record.source.size()),
                      std::vector<float>(record.target.size() * record.source.size(), 0.0F)};
  }
  return record;
}

std::string one_line(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\n' || c == '\r') {
      out += c == '\n' ? "\\n" : "\\r";
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace

void run_writer(const RunOptions& o, const ModelConfig& first, const Streams& streams) {
  check_combinations(o, first);
  const Task task = first.task();
  const GenerateOptions how = options_of(o, first);
  const Writer writer = load_writer(o, first);
  writer.check(how);
  const bool needs_source = !o.attention_file.empty() && (o.kind == "cross" || task == Task::complete);
  if (!writer.attends && (needs_source || !o.alignments_file.empty())) {
    throw UsageError(fmt::format("{}: {} has no attention to show", needs_source ? "--attention" : "--alignments",
                                 fmt::join(o.models, " with ")));
  }
  RunOutputs outputs(o, streams);  // opened first: a file that cannot be written is an error before the work
  SharedInput input(streams, o.wants_maps() ? std::min(kMapsBlock, writer.block) : writer.block);
  while (input.next()) {
    Outputs results = writer.write(input.lines(), how, {.first_line = input.first_line()});
    SharedInput::Outputs block;
    std::vector<AttentionRecord> records;
    for (std::vector<Generated>& of_line : results) {
      if (!of_line[0].error.empty()) block.err += fmt::format("warning: {}\n", of_line[0].error);
      for (Generated& output : of_line) {
        if (o.scores) block.out += fmt::format("{:.4f}\t", output.score);
        block.out += (task == Task::complete ? one_line(output.text) : output.text) + '\n';
        if (!o.alignments_file.empty()) block.alignments += alignment_text(output.attention) + '\n';
        if (!o.attention_file.empty()) records.push_back(record_of(o, output, task));
      }
    }
    outputs.write(input, std::move(block), records);
  }
  outputs.commit();
}

}  // namespace fovea::cli
