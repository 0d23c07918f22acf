// A model on its way from another program's files to a model folder.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fovea/model/folder.hpp"
#include "interop/foreign_tensors.hpp"
#include "interop/vocabulary_map.hpp"
#include "text/shortlist.hpp"

namespace fovea::interop {

struct ImportedModel {
  ModelConfig config{};
  Tokenizers tokenizers{};
  Parameters parameters{};
  std::string found{};                         // the format, for people: "CTranslate2 TransformerSpec"
  std::optional<text::Shortlist> shortlist{};  // which tokens a line's own are translated to, if the source has one
};

/// Puts the parts of an encoder-decoder together, whose embeddings are as wide as the embedded tokens `width`; the
/// vocabularies say how many tokens there are. `generator` holds its decoder.
void set_parts(ImportedModel& model, const EncoderConfig& encoder, const GeneratorConfig& generator, int width,
               const VocabularyMap& source, const VocabularyMap& target);
/// The same of a language model, which has a decoder only.
void set_language_model(ImportedModel& model, const GeneratorConfig& generator, int width, const VocabularyMap& target);

/// Byte pairs where the folder has merges.txt, for the tokens of a map; else null.
[[nodiscard]] std::shared_ptr<const Tokenizer> byte_pairs_in(const std::filesystem::path& folder,
                                                             const VocabularyMap& map);

/// [out, in] to a layer's NAME.weight [in, out] and NAME.bias; zeros for a bias that is not there.
void put_linear(Parameters& p, const std::string& name, const Tensor& weight, const Tensor& bias);
void put_norm(Parameters& p, const std::string& name, const Tensor& gain, const Tensor& bias);
/// A table of positions [length, width]: sines and cosines where it is made of them, else learned ones.
void put_positions(Parameters& p, TransformerConfig& config, const std::string& name, const Tensor& table);
/// The activation of another program's name for it. Throws FileError beginning with `where`.
void set_activation(TransformerConfig& config, std::string_view name, const std::string& where);

/// Each importer throws FileError: what is damaged, or the one feature that is missing.
[[nodiscard]] ImportedModel import_ctranslate2(const std::filesystem::path& folder);
[[nodiscard]] ImportedModel import_marianmt(const std::filesystem::path& folder);
[[nodiscard]] ImportedModel import_gpt2(const std::filesystem::path& folder);
/// `file`: .npz or .bin, with the vocabularies in the same folder.
[[nodiscard]] ImportedModel import_marian(const std::filesystem::path& file);

}  // namespace fovea::interop
