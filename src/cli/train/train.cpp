// fovea train --model DIR --source FILE --target FILE [--valid-source FILE --valid-target FILE] [options]
// fovea train --model DIR --pairs FILE.tsv [--columns A,B] [options]
//
// Trains a model on two files of text, line by line translations of each other, or on two columns of one file. Lines to
// validate on are held out unless they are given. Every option can be in --config FILE.toml under the same name; the
// command line wins. Interrupting writes a checkpoint; --resume continues from it.
#include <memory>
#include <ostream>
#include <string>

#include "cli/command.hpp"
#include "cli/options/declared_options.hpp"
#include "cli/train/training_screen.hpp"
#include "fovea/processes.hpp"
#include "fovea/threads.hpp"
#include "tasks/training/job/requested_training.hpp"

namespace fovea::cli {
namespace {

struct TrainFlags {
  OptionValues values;
  std::string config_file;
};

void run_training(const RequestedTraining& requested, const Streams& streams) {
  if (requested.threads != 0) set_threads(requested.threads);
  set_process_timeout(requested.rank_timeout);
  const InterruptGuard guard;
  TrainingScreen screen(streams);
  const Trainer::End end = train(requested.job, screen, InterruptGuard::interrupted);
  screen.done();
  const char* why = end == Trainer::End::limit      ? "done"
                    : end == Trainer::End::patience ? "done: validation no longer improves"
                                                    : "interrupted; --resume continues";
  if (end == Trainer::End::limit) streams.err << screen.warning();
  streams.err << why << ": " << requested.job.model.string() << '\n';
}

}  // namespace

void add_train(CLI::App& app, const Streams& streams) {
  auto* sub = app.add_subcommand("train", "train a model on text: two files, or two columns of one");
  const auto f = std::make_shared<TrainFlags>();
  add_declared(*sub, training_options(), f->values);
  sub->add_option("--config", f->config_file, "TOML file with options under their names; the command line wins")
      ->group("Data");
  sub->callback([f, streams] {
    if (!f->config_file.empty()) add_config_file(f->config_file, training_options(), f->values);
    run_training(requested_training(f->values), streams);
  });
}

}  // namespace fovea::cli
