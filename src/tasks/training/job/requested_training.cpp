#include "tasks/training/job/requested_training.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "fovea/error.hpp"
#include "tasks/training/job/names.hpp"
#include "tasks/training/job/requested_model.hpp"
#include "text/languages.hpp"

namespace fovea {
namespace {

enum class Optimizer { adam, adamw };
enum class Trained { generate, classify, chat, caption };

Task task_of(Trained task) {
  return task == Trained::classify  ? Task::classify
         : task == Trained::chat    ? Task::chat
         : task == Trained::caption ? Task::caption
                                    : Task::generate;
}

// Options of a training that no other struct has.
struct Process {
  Trained task = Trained::generate;
  Optimizer optimizer = Optimizer::adam;
  int threads = 0;
  double rank_timeout = 1800;

  template <class Self, class Visit>
  static void fields(Self& c, const Visit& visit) {
    visit(c.task, {.name = "task",
                   .group = "Data",
                   .help = "what the model does: text to text, text to a label, turns separated by tabs to a reply, or "
                           "a picture to text",
                   .common = true});
    visit(c.optimizer,
          {.name = "optimizer", .group = "Optimizer", .help = "adam, or adamw with decoupled weight decay"});
    visit(c.threads, {.name = "threads",
                      .range = between(0, 4096),
                      .group = "Training",
                      .help = "number of threads; 0: all cores",
                      .common = true});
    visit(c.rank_timeout, {.name = "rank-timeout",
                           .range = between(1, 1e9),
                           .group = "Training",
                           .help = "seconds that a process started by mpirun waits for another"});
  }
};

// Settings that no option gives are chosen to suit the text.
Automatic automatic_settings(const OptionValues& options, Task task) {
  if (task == Task::caption) return {};
  const char* const sizes[] = {"preset",         "arch", "encoder", "decoder", "layers",
                               "decoder-layers", "dim",  "ffn",     "heads",   "embedding"};
  return {.size = std::none_of(std::begin(sizes), std::end(sizes), [&](const char* o) { return options.given(o); }),
          .vocabulary = !options.given("vocab"),
          .batch_tokens = !options.given("batch-tokens")};
}

void set_weight_decay(TrainOptions& o, Optimizer optimizer, const OptionValues& options) {
  if (optimizer == Optimizer::adamw && o.adam.weight_decay == 0) o.adam.weight_decay = 0.01F;
  if (optimizer == Optimizer::adam && options.given("weight-decay") && o.adam.weight_decay != 0) {
    throw UsageError("weight_decay", "has no effect without the optimizer adamw");
  }
}

// The position of a group in the help.
std::ptrdiff_t place(std::string_view group) {
  static constexpr std::string_view groups[] = {"Data",
                                                "Model",
                                                "Recurrent models",
                                                "Convolutional models",
                                                "Transformers",
                                                "Classifiers",
                                                "Conversations",
                                                "Pictures",
                                                "Vocabulary",
                                                "Training",
                                                "Optimizer",
                                                "Regularization",
                                                "Checkpoints and validation"};
  return std::find(std::begin(groups), std::end(groups), group) - std::begin(groups);
}

const char* owner_of(const std::string& name) {
  const auto& all = training_options();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const OptionInfo& option) { return option.name == name; });
  return found == all.end() ? "" : found->owners.c_str();
}

}  // namespace

template <>
std::span<const EnumName<Optimizer>> enum_names<Optimizer>() {
  static constexpr EnumName<Optimizer> names[] = {{Optimizer::adam, "adam"}, {Optimizer::adamw, "adamw"}};
  return names;
}

template <>
std::span<const EnumName<Trained>> enum_names<Trained>() {
  static constexpr EnumName<Trained> names[] = {{Trained::generate, "generate"},
                                                {Trained::classify, "classify"},
                                                {Trained::chat, "chat"},
                                                {Trained::caption, "caption"}};
  return names;
}

RequestedTraining requested_training(OptionValues options) {
  Process process;
  options.fill(process);
  const Task task = task_of(process.task);
  RequestedTraining requested{.job = {}, .threads = process.threads, .rank_timeout = process.rank_timeout};
  TrainingJob& job = requested.job;
  job.config = requested_model(options, task);
  if (task == Task::classify) job.task = ClassifyTraining{};
  if (task == Task::caption) job.task = CaptionTraining{};
  if (options.text("tokenizer").ends_with(".model")) job.tokenizer_model = options.take("tokenizer");
  options.fill(job);
  options.refuse_unused(owner_of);
  if (options.given("columns") && job.columns == std::array<int, 2>{0, 0}) {
    throw UsageError("columns", "must be at least 1, is 0");
  }
  const std::string& languages = job.config.languages;
  if (!languages.empty() && !text::language_pair(languages)) {
    throw UsageError("languages", fmt::format("\"{}\" is not a pair, as in en-de", languages));
  }
  job.automatic = automatic_settings(options, task);
  // Chosen on Multi30k, 150 steps: a validation loss of 4.20, with a tenth 4.47.
  if (!options.given("warmup")) job.options.warmup_share = 0.3;
  set_weight_decay(job.options, process.optimizer, options);
  return requested;
}

const std::vector<OptionInfo>& training_options() {
  static const std::vector<OptionInfo> all = [] {
    std::vector<OptionInfo> options;
    TrainingJob job;
    list_options(options, "task generate, task chat", job);
    list_options(options, "every training", Process{});
    list_model_options(options);
    job.task = ClassifyTraining{};
    list_options(options, "task classify", job);
    job.task = CaptionTraining{};
    list_options(options, "task caption", job);
    std::stable_sort(options.begin(), options.end(),
                     [](const auto& a, const auto& b) { return place(a.group) < place(b.group); });
    return options;
  }();
  return all;
}

}  // namespace fovea
