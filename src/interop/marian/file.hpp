// A file of Marian's on its way to a model: what its Transformers and its RNNs have in common.
#pragma once

#include <filesystem>
#include <initializer_list>
#include <map>
#include <memory>
#include <string>

#include "interop/files.hpp"
#include "interop/imported_model.hpp"
#include "interop/vocabulary_map.hpp"

namespace fovea::interop {

/// .npz or .bin with the options in special:model.yml, vocabularies as .spm or .yml in the same folder. Matrices are
/// [in, out] but embeddings; the decoder starts from zeros. What is not supported is a FileError that names it.
class MarianFile {
 public:
  explicit MarianFile(const std::filesystem::path& file);

  ForeignTensors tensors;
  ImportedModel out;  // filled as the parts are read

  [[nodiscard]] std::string option(const std::string& name, const std::string& otherwise) const;
  [[nodiscard]] int integer(const std::string& name, int otherwise) const;
  /// Throws unless the option has one of these values.
  void need(const std::string& name, const std::string& otherwise, std::initializer_list<const char*> possible) const;

  /// The tokenizers, and where each token goes.
  void read_vocabularies();
  [[nodiscard]] const VocabularyMap& source() const { return *source_; }
  [[nodiscard]] const VocabularyMap& target() const { return *target_; }

  /// Embeddings and the output layer, whose weights begin with OUTPUT_. Sets the generator's tie.
  void put_embeddings(GeneratorConfig& generator, const std::string& output);

  /// A matrix as [out, in].
  [[nodiscard]] Tensor turned(const std::string& name);
  /// A row as a vector; empty when it is not there.
  [[nodiscard]] Tensor vector(const std::string& name);
  /// Puts FROM_Wpart and FROM_bpart as the layer TO.
  void linear(const std::string& to, const std::string& from, const std::string& part = {});

  /// Throws, naming a tensor that was not taken; sets the parts of the model.
  [[nodiscard]] ImportedModel finish(const EncoderConfig& encoder, const GeneratorConfig& generator, int width);

 private:
  [[nodiscard]] std::vector<std::filesystem::path> vocabulary_files() const;
  [[nodiscard]] std::unique_ptr<VocabularyMap> map_of(const std::filesystem::path& file, std::int64_t rows,
                                                      const char* cutter_name,
                                                      std::shared_ptr<const Tokenizer>& tokenizer) const;
  [[nodiscard]] std::string table(const char* side) const;
  void read_shortlist();

  std::filesystem::path folder_;
  std::map<std::string, std::string> options_;
  std::unique_ptr<VocabularyMap> source_, target_;
};

/// Transformers, with SSRU or self-attention in the decoder.
[[nodiscard]] ImportedModel import_marian_transformer(MarianFile& file);
/// RNNs with attention: amun, and s2s of the same depth.
[[nodiscard]] ImportedModel import_marian_rnn(MarianFile& file);

}  // namespace fovea::interop
