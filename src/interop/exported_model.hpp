// A model on its way from a model folder to another program's files.
#pragma once

#include <filesystem>
#include <string>

#include "fovea/model/folder.hpp"

namespace fovea::interop {

/// Throws UsageError when a model does not make text of text, or copies.
void check_text_to_text(const ModelConfig& config, const char* format);
/// Throws UsageError for positions and decoders that only Fovea has.
void check_transformer(const TransformerConfig& config, const char* format);

/// The encoder and the decoder of a model of two Transformers. Throws UsageError when it is another one.
struct TransformerPair {
  const TransformerConfig& encoder;
  const TransformerConfig& decoder;
};
[[nodiscard]] TransformerPair transformers_of(const ModelConfig& config, const char* format);

/// A weight of the model by its name.
[[nodiscard]] Tensor weight_of(const LoadedModel& model, const std::string& name);
/// NAME.weight [in, out] as [out, in].
[[nodiscard]] Tensor turned_weight_of(const LoadedModel& model, const std::string& name);
/// The names of the three tables: of the source, of the target, of the output layer.
struct TableNames {
  std::string source, target, output;
};
[[nodiscard]] TableNames tables_of(const LoadedModel& model);
/// The positions that are added at the first `length` places, [length, width].
[[nodiscard]] Tensor position_table(const LoadedModel& model, const TransformerConfig& config, const std::string& side,
                                    std::int64_t length);
/// A SentencePiece tokenizer as OUT/NAME; nothing for tokens of another kind.
void write_spm(const Tokenizer& tokenizer, const std::filesystem::path& out, const std::string& name);

void export_ctranslate2(const LoadedModel& model, const std::filesystem::path& out);
void export_onnx(const LoadedModel& model, const std::filesystem::path& out);
void export_huggingface(const LoadedModel& model, const std::filesystem::path& out);

}  // namespace fovea::interop
