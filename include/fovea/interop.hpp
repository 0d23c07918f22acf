// Other programs' models, in and out.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "fovea/export.hpp"

namespace FOVEA_API fovea {

/// A description of an imported model.
struct ImportReport {
  std::string found;      // what the source is, for people: "Hugging Face MarianMT"
  std::string model;      // what was made of it: "transformer, 6 + 6 layers, width 512 …"
  long long weights = 0;  // numbers
};

/// Makes a model folder of another program's model: a CTranslate2 folder, a Hugging Face folder of a MarianMT (OPUS-MT)
/// or GPT-2 model, or a Marian .npz or .bin file with its vocabularies in the same folder. Reads only files of that
/// folder and executes nothing. Throws FileError in one line: what is damaged, or which feature of the model is missing
/// here; and UsageError when `folder` is there already.
///
///     fovea::import_model("opus-mt-en-de", "en-de");
ImportReport import_model(const std::filesystem::path& source, const std::filesystem::path& folder);

/// Programs that a model can be written for.
enum class ExportFormat {
  ctranslate2,  // a folder: model.bin (binary version 6, float32), vocabularies, config.json
  huggingface,  // a MarianMT folder of Transformers: config.json, model.safetensors, vocab.json, SentencePiece models
  onnx,         // encoder.onnx and decoder.onnx (opset 17) of any encoder and decoder, and vocabularies
};
/// The format named ctranslate2, huggingface or onnx. Throws UsageError for another name.
[[nodiscard]] ExportFormat export_format(std::string_view name);

/// Writes a model folder in another program's format; import_model() reads all but ONNX back as the same model. Throws
/// UsageError when `out` is there already or naming the feature of the model that the format does not have, FileError
/// naming what is wrong with the folder.
///
///     fovea::export_model("en-de", fovea::ExportFormat::ctranslate2, "en-de-ct2");
void export_model(const std::filesystem::path& folder, ExportFormat format, const std::filesystem::path& out);

}  // namespace fovea
