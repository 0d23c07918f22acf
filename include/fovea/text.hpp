// Text to token ids and back.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fovea/text/tokens.hpp"

namespace FOVEA_API fovea {

/// What a token is.
enum class TokenizerKind {
  sentencepiece,  // subwords (Kudo & Richardson 2018)
  word,           // text between white space; in scripts without spaces, words found by dictionary
  character,      // Unicode code points; a space is the token ▁
  label,          // the whole line: classes
  byte_pairs,     // bytes and what they merge to, as GPT-2 has them; of imported models only
};

/// The kind named sentencepiece, word, char or label, those that can be trained. Throws UsageError for another name.
[[nodiscard]] TokenizerKind tokenizer_kind(std::string_view name);
/// As options and files spell it.
[[nodiscard]] std::string_view name_of(TokenizerKind kind);

/// Cuts lines into tokens. Lines are UTF-8; white space is what separates words, so a run of it counts as one space and
/// none is kept at the ends. decode(encode(line)) is the line again, apart from that and from unknown tokens; byte
/// pairs keep every byte of UTF-8, white space too. Const calls may come from several threads.
class Tokenizer {
 public:
  virtual ~Tokenizer() = default;

  /// What its tokens are.
  [[nodiscard]] virtual TokenizerKind kind() const = 0;
  /// How many ids there are, the special ones included.
  [[nodiscard]] virtual std::int32_t size() const = 0;
  /// The ids of a line, in place of what `ids` held; never bos, eos or pad. With `pieces`, also the text of each id:
  /// for unk_id, the unknown word.
  virtual void encode(std::string_view line, std::vector<std::int32_t>& ids,
                      std::vector<std::string>* pieces = nullptr) const = 0;
  /// Lines, each segmented in one of the ways it can be, to train on another segmentation each time: byte pairs are
  /// merged as usual but for each merge left out with probability `amount` (Provilkov et al. 2020); a unigram model's
  /// segmentations are sampled by their probabilities to the power `amount` (Kudo 2018). The same lines, amount and
  /// seed give the same segmentations. Throws UsageError when the amount is not above 0 and below 1, or the tokens are
  /// not subwords.
  [[nodiscard]] virtual std::vector<std::vector<std::int32_t>> sample(std::span<const std::string> lines, double amount,
                                                                      std::uint64_t seed) const;
  /// The text of ids; pad, bos and eos leave no trace. Throws UsageError for an id that does not exist.
  [[nodiscard]] virtual std::string decode(std::span<const std::int32_t> ids) const = 0;
  /// The text of pieces as encode gives them; some may have been replaced.
  [[nodiscard]] virtual std::string join(std::span<const std::string> pieces) const;
  /// One token as it is shown: "▁cat", "<unk>", "</s>". Throws UsageError for an id that does not exist.
  [[nodiscard]] virtual const std::string& piece(std::int32_t id) const = 0;
  /// Writes the tokenizer into a folder, as NAME.model (SentencePiece's own format) or NAME.json, from where
  /// load_tokenizer has it back. Throws FileError.
  virtual void save(const std::filesystem::path& folder, const std::string& name) const = 0;

  /// The ids of a line as a new vector.
  [[nodiscard]] std::vector<std::int32_t> encode(std::string_view line) const {
    std::vector<std::int32_t> ids;
    encode(line, ids);
    return ids;
  }
};

/// How a tokenizer is trained.
struct TokenizerOptions {
  /// SentencePiece's two models.
  enum class Subwords { unigram, bpe };

  TokenizerKind kind = TokenizerKind::sentencepiece;  // what a token is
  std::int32_t vocab = 8000;                          // at most so many ids, the four special ones included
  std::int64_t min_count = 1;                         // words, characters: those met less often are unknown
  Subwords subwords = Subwords::unigram;              // how SentencePiece learns
};

/// Sizes and unknown words of a trained tokenizer.
struct TokenizerReport {
  std::int32_t asked = 0;     // options.vocab
  std::int32_t size = 0;      // what the text gave
  std::int64_t left_out = 0;  // different words or characters that are unknown to it
  double unknown_share = 0;   // of the words or characters in the text
};

/// A tokenizer, and a report on its vocabulary.
struct TrainedTokenizer {
  std::shared_ptr<const Tokenizer> tokenizer;  // ready for use
  TokenizerReport report;                      // sizes and warnings
};

/// Learns a tokenizer from lines. The same lines and options give the same tokenizer. Throws UsageError when the lines
/// hold no text or `vocab` has no room for it.
///
///     const auto [tokenizer, report] = train_tokenizer(lines, {.vocab = 4000});
///     const std::vector<std::int32_t> ids = tokenizer->encode("看小猫，它好可爱");
[[nodiscard]] TrainedTokenizer train_tokenizer(const std::vector<std::string>& lines,
                                               const TokenizerOptions& options = {});

/// Learns one tokenizer for both texts, with a shared vocabulary.
[[nodiscard]] TrainedTokenizer train_shared_tokenizer(const std::vector<std::string>& source,
                                                      const std::vector<std::string>& target,
                                                      const TokenizerOptions& options = {});

/// The tokenizer saved as `name` in a folder. Throws FileError when there is none or it is damaged.
[[nodiscard]] std::shared_ptr<const Tokenizer> load_tokenizer(const std::filesystem::path& folder,
                                                              const std::string& name);

/// A SentencePiece .model file, wherever it comes from; its pieces follow the special ids in their own order. Throws
/// FileError when it is missing or damaged.
[[nodiscard]] std::shared_ptr<const Tokenizer> load_sentencepiece(const std::filesystem::path& file);

}  // namespace fovea
