// fovea import SOURCE --model DIR: another program's model as a model folder.
#include <fmt/format.h>

#include <ostream>

#include "cli/command.hpp"
#include "fovea/interop.hpp"

namespace fovea::cli {

void add_import(CLI::App& app, const Streams& streams) {
  struct Options {
    std::string source, model;
  };
  auto* sub = app.add_subcommand("import", "make a model folder of another program's model");
  const auto o = std::make_shared<Options>();
  sub->add_option("SOURCE", o->source,
                  "a CTranslate2 folder, a MarianMT (OPUS-MT) or GPT-2 folder of Hugging Face's Transformers, or a "
                  "Marian model, "
                  ".npz or .bin")
      ->required();
  sub->add_option("--model", o->model, "the model folder to make")->required();
  sub->callback([o, streams] {
    const ImportReport report = import_model(o->source, o->model);
    streams.out << fmt::format("{}: {}\n{}: {}\n", o->source, report.found, o->model, report.model);
  });
}

}  // namespace fovea::cli
