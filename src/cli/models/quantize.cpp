// fovea quantize --model DIR --out DIR --type int8|f16
//
// Writes a model folder whose matrices are stored in fewer bits: about a half (f16) or a quarter (int8) of the size. It
// runs as any other model folder does, and cannot be trained further.
#include <fmt/format.h>

#include <filesystem>
#include <ostream>

#include "cli/command.hpp"
#include "cli/options/storage.hpp"
#include "fovea/error.hpp"
#include "fovea/model/folder.hpp"

namespace fovea::cli {
namespace {

double megabytes(const std::string& folder) {
  return static_cast<double>(std::filesystem::file_size(std::filesystem::path(folder) / "model.safetensors")) / 1e6;
}

}  // namespace

void add_quantize(CLI::App& app, const Streams& streams) {
  struct Options {
    std::string model, out, type = "int8";
  };
  auto* sub = app.add_subcommand("quantize", "write a model in fewer bits: smaller, and faster to run");
  const auto o = std::make_shared<Options>();
  sub->add_option("--model", o->model, "the model folder")->required();
  sub->add_option("--out", o->out, "the folder to write; made if need be")->type_name("DIR")->required();
  sub->add_option("--type", o->type, "how matrices are stored: int8 or f16")->capture_default_str();
  sub->callback([o, streams] {
    const Storage storage = storage_value(o->type);
    if (storage == Storage::f32) throw UsageError("--type: must be int8 or f16, is fp32, as models are stored already");
    quantize_model(o->model, o->out, storage);
    streams.out << fmt::format("{}: {:.1f} MB, {}; {}: {:.1f} MB\n", o->out, megabytes(o->out), o->type, o->model,
                               megabytes(o->model));
  });
}

}  // namespace fovea::cli
