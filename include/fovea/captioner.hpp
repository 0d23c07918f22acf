// Pictures in; a caption, its words and what each of them looked at out.
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "fovea/generated.hpp"
#include "fovea/model/folder.hpp"
#include "fovea/picture.hpp"

namespace FOVEA_API fovea {

/// A trained model of pictures. Threads share it: calls may overlap.
///
///     fovea::Captioner captioner("captions");
///     fovea::Generated one = captioner.caption("dog.jpg", {.attention = true});
///     one.attention.weights.at(0, 0);  // how much the first word looked at the top left region
///
/// The source tokens of an output's attention are regions, "row,column", row by row from the top.
class Captioner {
 public:
  /// Throws FileError naming what is wrong with the folder, UsageError when its model reads no pictures.
  explicit Captioner(const std::filesystem::path& folder, const LoadOptions& how = {});
  /// The same of a model that is loaded already.
  explicit Captioner(LoadedModel model, const LoadOptions& how = {});
  /// The same with weights from elsewhere; shares them. Of `tokenizers` only the target is used.
  Captioner(const ModelConfig& config, Tokenizers tokenizers, const Parameters& parameters);
  ~Captioner();
  Captioner(const Captioner&) = delete;
  Captioner& operator=(const Captioner&) = delete;

  /// Throws UsageError naming an option that this model cannot use, or that is out of range.
  void check(const GenerateOptions& options) const;

  /// The best caption of a picture: a path, or INDEX.tsv#NAME as PictureFiles takes it. Throws FileError naming it.
  [[nodiscard]] Generated caption(const std::string& place, const GenerateOptions& options = {}) const;
  /// The same for a picture in memory.
  [[nodiscard]] Generated caption(const Picture& picture, const GenerateOptions& options = {}) const;
  /// The n-best captions of each, best first. An empty place gives empty captions. A picture's captions do not depend
  /// on the others.
  [[nodiscard]] std::vector<std::vector<Generated>> captions(std::span<const std::string> places,
                                                             const GenerateOptions& options = {},
                                                             const GenerateCall& call = {}) const;
  /// The same for pictures in memory.
  [[nodiscard]] std::vector<std::vector<Generated>> captions(std::span<const Picture> pictures,
                                                             const GenerateOptions& options = {},
                                                             const GenerateCall& call = {}) const;
  /// The same from the CNN's features of pictures, [pictures, regions, channels].
  [[nodiscard]] std::vector<std::vector<Generated>> captions(const Tensor& features,
                                                             const GenerateOptions& options = {}) const;

  /// The log-probability of a given caption of each picture: natural, summed over its tokens and its end. Throws
  /// FileError naming a picture that cannot be read.
  [[nodiscard]] std::vector<double> score(std::span<const std::string> places,
                                          std::span<const std::string> captions) const;

  [[nodiscard]] const ModelConfig& config() const;     // of the model
  [[nodiscard]] const Tokenizers& tokenizers() const;  // of the captions

 private:
  struct Loaded;

  std::unique_ptr<Loaded> loaded_;
};

}  // namespace fovea
