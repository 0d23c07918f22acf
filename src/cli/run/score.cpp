// fovea score --model DIR --source FILE --target FILE: one log-probability per line (natural, summed over the target's
// tokens and its end). A language model has no source: --target alone gives the log-probability of each line, and with
// --source that of the target behind it. Of a model of pictures the source lines are their places.
#include <fmt/format.h>

#include <ostream>

#include "cli/command.hpp"
#include "cli/options/storage.hpp"
#include "fovea/captioner.hpp"
#include "fovea/completer.hpp"
#include "fovea/error.hpp"
#include "fovea/threads.hpp"
#include "fovea/translator.hpp"
#include "tasks/shared_lines.hpp"
#include "text/lines.hpp"

namespace fovea::cli {

void add_score(CLI::App& app, const Streams& streams) {
  struct Options {
    std::string model, source, target;
    int threads = 0;
    LoadOptions load;
  };
  auto* sub = app.add_subcommand("score", "log-probability of given targets");
  const auto o = std::make_shared<Options>();
  sub->add_option("--model", o->model, "the model folder")->required();
  sub->add_option("--source", o->source,
                  "source text, plain or .gz, or pictures; for a language model, an optional prompt in front of the "
                  "target");
  sub->add_option("--target", o->target, "target text, line by line")->required();
  add_type(*sub, o->load);
  sub->add_option("--threads", o->threads, "default: all cores");
  sub->callback([o, streams] {
    if (o->threads != 0) set_threads(o->threads);
    auto sources = o->source.empty() ? std::vector<std::string>() : text::read_lines(o->source);
    const auto targets = text::read_lines(o->target);
    const ModelConfig config = read_model_config(o->model);
    const Task task = config.task();
    const bool completes = task == Task::complete;
    if (o->source.empty()) {
      if (!completes) throw UsageError("--source is required: the lines that were translated");
      sources.resize(targets.size());
    }
    if (sources.size() != targets.size()) {
      throw FileError(fmt::format("{} has {} lines, {} has {}: they must pair up", o->source, sources.size(), o->target,
                                  targets.size()));
    }
    const auto in_parts = [&](const auto& model) {
      return shared_lines(processes(), sources.size(), [&](LineRange own) {
        std::vector<std::string> values;
        for (const double value : model.score(own.of(sources), own.of(targets))) {
          values.push_back(fmt::format("{:.4f}", value));
        }
        return values;
      });
    };
    std::vector<LoadedModel> models;
    models.push_back(load_model(o->model, config, o->load));
    const auto scored = completes               ? in_parts(Completer(std::move(models[0]), o->load))
                        : task == Task::caption ? in_parts(Captioner(std::move(models[0]), o->load))
                                                : in_parts(Translator(std::move(models), o->load));
    for (const std::string& value : scored) streams.out << value << '\n';
  });
}

}  // namespace fovea::cli
