// fovea export --model DIR --to huggingface|ctranslate2|onnx OUT: a model in another program's format.
#include "cli/command.hpp"
#include "fovea/interop.hpp"

namespace fovea::cli {

void add_export(CLI::App& app, const Streams&) {
  struct Options {
    std::string model, format, out;
  };
  auto* sub = app.add_subcommand("export", "write a model in another program's format");
  const auto o = std::make_shared<Options>();
  sub->add_option("--model", o->model, "the model folder")->required();
  sub->add_option("--to", o->format, "ctranslate2, huggingface (a MarianMT folder) or onnx (two graphs)")->required();
  sub->add_option("OUT", o->out, "the folder to make")->required();
  sub->callback([o] { export_model(o->model, export_format(o->format), o->out); });
}

}  // namespace fovea::cli
