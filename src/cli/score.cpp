// fovea score --model DIR --source FILE --target FILE: one log-probability per line (natural, summed over the target's
// tokens and its end).
#include <fmt/format.h>

#include <ostream>

#include "cli/command.hpp"
#include "cli/storage.hpp"
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
  sub->add_option("--source", o->source, "source text, plain or .gz")->required();
  sub->add_option("--target", o->target, "target text, line by line")->required();
  add_type(*sub, o->load);
  sub->add_option("--threads", o->threads, "default: all cores");
  sub->callback([o, streams] {
    if (o->threads != 0) set_threads(o->threads);
    const auto sources = text::read_lines(o->source);
    const auto targets = text::read_lines(o->target);
    if (sources.size() != targets.size()) {
      throw FileError(fmt::format("{} has {} lines, {} has {}: they must pair up", o->source, sources.size(), o->target,
                                  targets.size()));
    }
    const Translator translator(o->model, o->load);
    const auto scored = shared_lines(processes(), sources.size(), [&](LineRange own) {
      std::vector<std::string> values;
      for (const double value : translator.score(own.of(sources), own.of(targets))) {
        values.push_back(fmt::format("{:.4f}", value));
      }
      return values;
    });
    for (const std::string& value : scored) streams.out << value << '\n';
  });
}

}  // namespace fovea::cli
