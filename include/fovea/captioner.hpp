// Pictures in; a caption, its words and what each of them looked at out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "fovea/attention_record.hpp"
#include "fovea/decode/search.hpp"
#include "fovea/model/folder.hpp"
#include "fovea/picture.hpp"

namespace FOVEA_API fovea {

class PictureModel;
class Var;

/// How captions are written, and what is given beside the text.
struct CaptionOptions {
  int beam = 5;              // 1: greedy
  float length_penalty = 1;  // a caption of n tokens, its end included, is ranked by log-probability / n^penalty
  int n_best = 1;            // captions of each picture, for captions()
  int min_length = 0;        // tokens before the end of sequence may come
  int max_length = 40;       // most tokens
  int no_repeat_ngram = 0;   // n > 0: no n tokens in a row occur twice
  bool sample = false;       // sample each token instead of taking the best
  float temperature = 1;     // of the sampling
  int top_k = 0;             // sample among the k likeliest; 0: all
  float top_p = 1;           // sample among the likeliest that together have this probability
  std::uint64_t seed = 1;    // of the sampling

  bool attention = true;               // give Caption::attention, of a model that attends
  int layer = -1;                      // of this decoder layer only; -1: the mean over all
  int head = -1;                       // of this head only; -1: the mean over all
  std::vector<AttentionKind> kinds{};  // give Caption::maps of these kinds, of the best caption
  bool skip_broken = false;     // a picture that cannot be read gives a Caption with an error instead of throwing
  std::int64_t first_line = 0;  // number of the first picture, for sampling
  PictureLimits limits{};       // of the pictures
};

/// One caption of a picture.
struct Caption {
  std::string text{};                           // the caption
  float score = 0;                              // what it was ranked by
  float log_probability = 0;                    // natural, of its tokens and the end of sequence
  std::vector<std::string> tokens{};            // with the end of sequence
  std::vector<std::vector<float>> attention{};  // [token][region], each row sums to 1
  std::vector<AttentionMap> maps{};             // of every layer and head, where kinds were asked for
  int rows = 0, columns = 0;                    // of the regions, row by row from the top; they cover the middle square
  std::string picture{};                        // where it came from, as it was given
  std::string error{};                          // why there is no caption; empty: there is one

  /// The regions' names, "row,column", row by row.
  [[nodiscard]] std::vector<std::string> regions() const;
  /// Tokens, attention and maps as one record.
  [[nodiscard]] AttentionRecord record() const;
};

/// Bytes of heap memory that a caption owns.
[[nodiscard]] std::size_t heap_bytes(const Caption& caption);

/// A trained model of pictures. Threads share it: calls may overlap.
///
///     fovea::Captioner captioner("captions");
///     fovea::Caption picture = captioner.caption("dog.jpg");
///     picture.text; picture.attention[0][0];  // how much the first word looked at the top left region
class Captioner {
 public:
  /// Throws FileError naming what is wrong with the folder, UsageError when its model reads no pictures.
  explicit Captioner(const std::filesystem::path& folder, const LoadOptions& how = {});
  /// The same with weights from elsewhere; shares them. Of `tokenizers` only the target is used.
  Captioner(const ModelConfig& config, Tokenizers tokenizers, const Parameters& parameters);
  ~Captioner();
  Captioner(const Captioner&) = delete;
  Captioner& operator=(const Captioner&) = delete;

  /// Throws UsageError naming an option that cannot be, for this model or at all.
  void check(const CaptionOptions& options) const;

  /// The best caption of a picture: a path, or INDEX.tsv#NAME as PictureFiles takes it. Throws FileError naming it.
  [[nodiscard]] Caption caption(const std::string& place, const CaptionOptions& options = {}) const;
  /// The same for a picture in memory.
  [[nodiscard]] Caption caption(const Picture& picture, const CaptionOptions& options = {}) const;
  /// The n-best captions of each, best first. An empty place gives empty captions. A picture's captions do not depend
  /// on the others.
  [[nodiscard]] std::vector<std::vector<Caption>> captions(std::span<const std::string> places,
                                                           const CaptionOptions& options = {}) const;
  /// The same for pictures in memory.
  [[nodiscard]] std::vector<std::vector<Caption>> captions(std::span<const Picture> pictures,
                                                           const CaptionOptions& options = {}) const;

  /// The same from what the CNN has made of pictures, [pictures, regions, channels].
  [[nodiscard]] std::vector<std::vector<Caption>> captions(const Tensor& features,
                                                           const CaptionOptions& options = {}) const;

  /// The log-probability of a given caption of each picture: natural, summed over its tokens and its end. Throws
  /// FileError naming a picture that cannot be read.
  [[nodiscard]] std::vector<double> score(std::span<const std::string> places,
                                          std::span<const std::string> captions) const;

  /// What the model is made of.
  [[nodiscard]] const ModelConfig& config() const;
  /// Of the captions.
  [[nodiscard]] const Tokenizers& tokenizers() const { return tokenizers_; }

 private:
  struct Loaded;
  [[nodiscard]] SearchOptions search_options(const CaptionOptions& options) const;
  using Results = std::vector<std::vector<Caption>>;
  void write(const PictureModel& model, const Var& features, std::span<const std::size_t> numbers,
             const CaptionOptions& options, Results& results) const;

  Tokenizers tokenizers_;
  std::unique_ptr<Loaded> loaded_;
};

}  // namespace fovea
