// Any bytes as a SentencePiece model, a vocabulary, lines to score or a line to find the words of (the first byte
// chooses): a value or an Error, never anything else.
#include <cmath>
#include <cstdlib>

#include "fovea/error.hpp"
#include "fovea/metrics.hpp"
#include "text/segment.hpp"
#include "text/tokenizer/listed_tokenizer.hpp"
#include "text/tokenizer/sentencepiece.hpp"
#include "text/unicode.hpp"
#include "text/words.hpp"

namespace {

void use(const fovea::Tokenizer& tokenizer) {
  std::vector<std::int32_t> ids;
  std::vector<std::string> pieces;
  for (const char* line : {"hello world", "ab a", "你好 ab", "ａＢ①…x"}) {
    tokenizer.encode(line, ids, &pieces);
    if (pieces.size() != ids.size()) std::abort();
    (void)tokenizer.decode(ids);
  }
  ids.clear();
  for (std::int32_t id = 0; id < tokenizer.size() && id < 300; ++id) ids.push_back(id);
  (void)tokenizer.decode(ids);
}

void score(std::string_view bytes) {
  bytes = bytes.substr(0, 100);  // the sanitizers make a long search for shifts very long
  const std::size_t half = bytes.find('\n');
  const fovea::Lines hypothesis{std::string(bytes.substr(0, half))};
  const fovea::References reference{{half == std::string_view::npos ? "" : std::string(bytes.substr(half + 1))}};
  for (const auto how : {fovea::MetricTokenizer::mteval_13a, fovea::MetricTokenizer::zh,
                         fovea::MetricTokenizer::character, fovea::MetricTokenizer::none}) {
    const double bleu = fovea::bleu(hypothesis, reference, {.tokenize = how, .lowercase = true}).score;
    if (!(bleu >= 0 && bleu <= 100.0001)) std::abort();
  }
  const double chrf = fovea::chrf(hypothesis, reference, {.word_order = 2}).score;
  if (!(chrf >= 0 && chrf <= 100.0001)) std::abort();
  if (!std::isfinite(fovea::ter(hypothesis, reference).score)) std::abort();
  if (!(fovea::rouge(hypothesis, reference).rouge_l.f1 <= 100.0001)) std::abort();
  if (!(fovea::rouge(hypothesis, reference, {.stem = true}).rouge_l.f1 <= 100.0001)) std::abort();
  if (!(fovea::chat_figures(hypothesis, reference).f1 <= 100.0001)) std::abort();
  if (fovea::word_errors(hypothesis, reference).score < 0) std::abort();
}

void segment(std::string_view bytes) {
  namespace text = fovea::text;
  std::string all;
  for (const std::string_view word : text::segment(bytes)) {
    if (word.empty() || word.data() < bytes.data()) std::abort();
    all += word;
  }
  if (all.size() > bytes.size()) std::abort();
  // Whatever the line, its pieces make it again, but for white space.
  std::string line;
  for (const std::string_view word : text::split_words(bytes)) (line += line.empty() ? "" : " ") += word;
  const text::ListedTokenizer tokenizer({.kind = fovea::TokenizerKind::word, .segmented = true}, {});
  std::vector<std::int32_t> ids;
  std::vector<std::string> pieces;
  tokenizer.encode(bytes, ids, &pieces);
  if (tokenizer.join(pieces) != line) std::abort();
  const auto words = text::words_of_pieces(fovea::TokenizerKind::sentencepiece, pieces);
  if (words.of_piece.size() != pieces.size()) std::abort();
  for (const std::int32_t word : words.of_piece) {
    if (static_cast<std::size_t>(word) >= words.words.size()) std::abort();
  }
  for (const std::string& word : fovea::caption_words(bytes)) {
    if (word.empty()) std::abort();
  }
  // The last two may refuse the lines: an empty reference, an empty label.
  const double cider =
      fovea::caption_figures({hypothesis[0], "x"}, fovea::split_references({reference[0][0], "y"})).cider;
  if (!(cider >= 0 && cider <= 1000.0001)) std::abort();
  if (!(fovea::classification(hypothesis, reference[0]).macro.f1 <= 100.0001)) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  try {
    switch (data[0] % 4) {
      case 0:
        use(*fovea::text::parse_sentencepiece(bytes, "fuzz.model"));
        break;
      case 1:
        use(*fovea::text::parse_listed(bytes, "fuzz.json"));
        break;
      case 2:
        score(bytes);
        break;
      default:
        segment(bytes);
        break;
    }
  } catch (const fovea::Error&) {
  }
  return 0;
}
