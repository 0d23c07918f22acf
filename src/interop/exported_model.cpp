#include "interop/exported_model.hpp"

#include <fmt/format.h>

#include <cmath>

#include "fovea/error.hpp"
#include "fovea/interop.hpp"
#include "fovea/nn/positions.hpp"

namespace fovea {
namespace interop {

namespace fs = std::filesystem;

void check_text_to_text(const ModelConfig& config, const char* format) {
  const auto* generator = std::get_if<GeneratorConfig>(&config.head);
  if (generator == nullptr) {
    throw UsageError("model", fmt::format("{} takes a model that writes text, not a {}", format, kind_of(config.head)));
  }
  if (generator->copy) throw UsageError("model", fmt::format("{} cannot copy words of the source", format));
  if (std::holds_alternative<NoSourceConfig>(config.source)) {
    throw UsageError("model",
                     fmt::format("{} takes an encoder and a decoder, and a language model has no encoder", format));
  }
  if (!std::holds_alternative<TokenSourceConfig>(config.source)) {
    throw UsageError("model", fmt::format("{} reads plain lines, not a source of {}", format, kind_of(config.source)));
  }
}

void check_transformer(const TransformerConfig& c, const char* format) {
  if (c.decoder_self != DecoderSelf::attention) {
    throw UsageError("model", fmt::format("{} has no {} in place of the decoder's self-attention", format,
                                          enum_text(c.decoder_self)));
  }
  if (is_rotary(c.positions) || c.positions == Positions::alibi) {
    throw UsageError("model", fmt::format("{} does not have {} positions", format, enum_text(c.positions)));
  }
}

TransformerPair transformers_of(const ModelConfig& config, const char* format) {
  check_text_to_text(config, format);
  const DecoderConfig& head = config.generator().decoder;
  const auto* encoder = std::get_if<TransformerConfig>(&config.encoder);
  const auto* decoder = std::get_if<TransformerConfig>(&head);
  if (encoder == nullptr || decoder == nullptr) {
    throw UsageError("model", fmt::format("{} takes a transformer on both sides, not {} with {}", format,
                                          kind_of(config.encoder), kind_of(head)));
  }
  for (const TransformerConfig* c : {encoder, decoder}) {
    check_transformer(*c, format);
    if (!c->scaled_scores) throw UsageError("model", fmt::format("{} has no scores that are not scaled", format));
  }
  return {*encoder, *decoder};
}

Tensor weight_of(const LoadedModel& model, const std::string& name) {
  const Var* found = model.parameters.find(name);
  if (found == nullptr) throw Error(fmt::format("weight {} is missing", name));
  return found->value();
}

Tensor turned_weight_of(const LoadedModel& model, const std::string& name) {
  return weight_of(model, name + ".weight").transpose(0, 1).contiguous();
}

TableNames tables_of(const LoadedModel& model) {
  const Tie tie = model.config.generator().tie;
  if (tie == Tie::all) return {"embedding", "embedding", "embedding"};
  return {"source.embedding", "target.embedding", tie == Tie::target ? "target.embedding" : "output.weight"};
}

Tensor position_table(const LoadedModel& model, const TransformerConfig& c, const std::string& side,
                      std::int64_t length) {
  if (c.positions == Positions::sinusoidal) return sinusoidal_positions(c.first_position, length, c.dim);
  if (c.positions == Positions::timing_signal) return timing_signal(c.first_position, length, c.dim);
  const Tensor table = weight_of(model, side + ".positions").clone();
  if (c.scaled_positions) {
    for (float& v : table.values()) v *= std::sqrt(static_cast<float>(c.dim));
  }
  return table;
}

void write_spm(const Tokenizer& tokenizer, const fs::path& out, const std::string& name) {
  if (tokenizer.kind() != TokenizerKind::sentencepiece) return;
  tokenizer.save(out, name);
  fs::rename(out / (name + ".model"), out / (name + ".spm"));
  std::error_code ignored;
  fs::remove(out / (name + ".pieces.json"), ignored);
}

}  // namespace interop

ExportFormat export_format(std::string_view name) {
  if (name == "ctranslate2") return ExportFormat::ctranslate2;
  if (name == "huggingface") return ExportFormat::huggingface;
  if (name == "onnx") return ExportFormat::onnx;
  throw UsageError("to", fmt::format("\"{}\" is not one of ctranslate2, huggingface, onnx", name));
}

void export_model(const std::filesystem::path& folder, ExportFormat format, const std::filesystem::path& out) {
  namespace fs = std::filesystem;
  if (fs::exists(out))
    throw UsageError("out", fmt::format("{} is there already; a new folder is needed", out.string()));
  const LoadedModel model = load_model(folder);
  // A folder of another name until it is whole.
  fs::path part = out;
  part += ".part";
  std::error_code error;
  fs::remove_all(part, error);
  if (!fs::create_directories(part, error)) {
    throw FileError(fmt::format("{}: the folder cannot be made: {}", out.string(), error.message()));
  }
  try {
    if (format == ExportFormat::ctranslate2) interop::export_ctranslate2(model, part);
    if (format == ExportFormat::onnx) interop::export_onnx(model, part);
    if (format == ExportFormat::huggingface) interop::export_huggingface(model, part);
    fs::rename(part, out);
  } catch (...) {
    fs::remove_all(part, error);
    throw;
  }
}

}  // namespace fovea
