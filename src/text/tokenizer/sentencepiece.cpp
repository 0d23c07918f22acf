#include "text/tokenizer/sentencepiece.hpp"

#include <fmt/format.h>
#include <sentencepiece_processor.h>
#include <sentencepiece_trainer.h>

#include <algorithm>
#include <array>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "base/rng.hpp"
#include "base/whole_file.hpp"
#include "fovea/error.hpp"
#include "text/tokenizer/sentencepiece_check.hpp"
#include "text/tokenizer/unigram.hpp"
#include "text/tokenizer/vocabulary.hpp"
#include "text/unicode.hpp"

namespace fovea::text {
namespace {

// One space between words and none at the ends: SentencePiece itself would take a tab or a wide space for a letter.
std::string single_spaced(std::string_view line) {
  std::string out;
  out.reserve(line.size());
  for (const std::string_view word : split_words(line)) {
    if (!out.empty()) out += ' ';
    out += word;
  }
  return out;
}

constexpr std::string_view kSpace = "\u2581";  // ▁

// The text that a unigram model segments.
std::string with_marks(std::string_view spaced) {
  std::string out(kSpace);
  for (const char c : spaced) {
    if (c == ' ') {
      out += kSpace;
    } else {
      out += c;
    }
  }
  return out;
}

class SentencePieceTokenizer final : public Tokenizer {
 public:
  SentencePieceTokenizer(std::string_view bytes, const std::string& where) : bytes_(bytes), where_(where) {
    check_sentencepiece(bytes_, where);
    unigram_ = UnigramModel::read(bytes_);
    if (unigram_) {
      const UnigramModel& own = *unigram_;
      number({own.special("<pad>"), own.special("<unk>"), own.special("<s>"), own.special("</s>")},
             static_cast<int>(own.pieces().size()),
             [&own](int id) { return own.pieces()[static_cast<std::size_t>(id)].text; });
      return;
    }
    const auto& p = processor();
    number({p.pad_id(), p.unk_id(), p.bos_id(), p.eos_id()}, p.GetPieceSize(),
           [&p](int id) { return p.IdToPiece(id); });
    for (const std::string& piece : pieces_) {
      if (invalid_utf8(piece) != std::string::npos) {
        throw FileError(fmt::format("{}: damaged SentencePiece model: a piece is not UTF-8", where));
      }
    }
  }

  [[nodiscard]] TokenizerKind kind() const override { return TokenizerKind::sentencepiece; }
  [[nodiscard]] std::int32_t size() const override { return static_cast<std::int32_t>(pieces_.size()); }

  using Tokenizer::encode;
  void encode(std::string_view line, std::vector<std::int32_t>& ids, std::vector<std::string>* pieces) const override {
    ids.clear();
    if (pieces != nullptr) pieces->clear();
    const std::string spaced = single_spaced(line);
    if (spaced.empty()) return;
    if (unigram_ && spaced.find(kSpace) == std::string::npos && spaced.find('\0') == std::string::npos &&
        invalid_utf8(spaced) == std::string_view::npos) {
      const std::string text = with_marks(spaced);
      for (const UnigramModel::Part& part : unigram_->segment(text)) {
        ids.push_back(ours_[static_cast<std::size_t>(part.piece)]);
        if (pieces != nullptr) pieces->push_back(text.substr(part.begin, part.end - part.begin));
      }
      return;
    }
    std::vector<int> theirs;
    check(processor().Encode(spaced, &theirs));
    for (const int id : theirs) ids.push_back(ours_.at(static_cast<std::size_t>(id)));
    if (pieces != nullptr) check(processor().Encode(spaced, pieces));
  }

  // SentencePiece draws from a generator that each thread makes of the process's seed when it first needs one: only a
  // new thread draws the same numbers again.
  [[nodiscard]] std::vector<std::vector<std::int32_t>> sample(std::span<const std::string> lines, double amount,
                                                              std::uint64_t seed) const override {
    if (!(amount > 0 && amount < 1)) {
      throw UsageError(fmt::format("subwords sampled by {}; above 0 and below 1 is right", amount));
    }
    std::vector<std::vector<std::int32_t>> out(lines.size());
    static std::mutex one_seed_at_a_time;
    const std::scoped_lock lock(one_seed_at_a_time);
    sentencepiece::SetRandomGeneratorSeed(static_cast<unsigned>(mix64(seed) >> 33));  // all ones are reserved
    const sentencepiece::SentencePieceProcessor& processor = this->processor();
    std::exception_ptr failure;
    std::thread([&] {
      try {
        std::vector<int> theirs;
        for (std::size_t i = 0; i < lines.size(); ++i) {
          const std::string spaced = single_spaced(lines[i]);
          if (spaced.empty()) continue;
          check(processor.SampleEncode(spaced, -1, static_cast<float>(amount), &theirs));
          out[i].reserve(theirs.size());
          for (const int id : theirs) out[i].push_back(ours_.at(static_cast<std::size_t>(id)));
        }
      } catch (...) {
        failure = std::current_exception();
      }
    }).join();
    if (failure) std::rethrow_exception(failure);
    return out;
  }

  [[nodiscard]] std::string decode(std::span<const std::int32_t> ids) const override {
    std::vector<int> theirs;
    std::string line;
    for (const std::int32_t id : ids) {
      const std::string& text = piece(id);
      if (id == pad_id || id == bos_id || id == eos_id) continue;
      const int number = theirs_[static_cast<std::size_t>(id)];
      theirs.push_back(number);
      if (unigram_) append_text(id == unk_id ? kUnknownText : text, number, line);
    }
    if (!unigram_ && !theirs.empty()) check(processor().Decode(theirs, &line));
    return single_spaced(line);
  }

  [[nodiscard]] const std::string& piece(std::int32_t id) const override {
    if (id < 0 || id >= size()) {
      throw UsageError(fmt::format("no token {}: the vocabulary has 0 to {}", id, size() - 1));
    }
    return pieces_[static_cast<std::size_t>(id)];
  }

  void save(const std::filesystem::path& folder, const std::string& name) const override {
    write_whole_file(folder / (name + ".model"), bytes_);
    std::error_code ignored;
    std::filesystem::remove(folder / (name + ".json"), ignored);
    std::filesystem::remove(folder / (name + ".pieces.json"), ignored);
  }

 private:
  static constexpr std::string_view kUnknownText = " \u2047 ";  // how SentencePiece writes it

  static void check(const sentencepiece::util::Status& status) {
    if (!status.ok()) throw Error(fmt::format("SentencePiece: {}", status.ToString()));
  }

  // SentencePiece's own, loaded when it is first needed.
  [[nodiscard]] const sentencepiece::SentencePieceProcessor& processor() const {
    std::call_once(loaded_, [this] {
      processor_ = std::make_unique<sentencepiece::SentencePieceProcessor>();
      const auto status = processor_->LoadFromSerializedProto(bytes_);
      if (!status.ok()) throw FileError(where_ + ": not a SentencePiece model: " + status.ToString());
    });
    return *processor_;
  }

  // Models made elsewhere number their special symbols otherwise, or lack some.
  template <class Text>
  void number(const std::array<int, special_ids>& special, int count, Text&& text) {
    ours_.assign(static_cast<std::size_t>(count), -1);
    pieces_.reserve(static_cast<std::size_t>(count + special_ids));
    for (std::int32_t id = 0; id < special_ids; ++id) {
      const int theirs = special[static_cast<std::size_t>(id)];
      pieces_.push_back(special_token(id));
      theirs_.push_back(theirs);
      if (theirs >= 0 && theirs < count) ours_[static_cast<std::size_t>(theirs)] = id;
    }
    for (int id = 0; id < count; ++id) {
      if (ours_[static_cast<std::size_t>(id)] >= 0) continue;
      ours_[static_cast<std::size_t>(id)] = static_cast<std::int32_t>(pieces_.size());
      theirs_.push_back(id);
      pieces_.emplace_back(text(id));
    }
  }

  // What a piece of a unigram model says: control symbols nothing, ▁ a space.
  void append_text(std::string_view piece, int number, std::string& line) const {
    if (unigram_->control(number)) return;
    for (std::size_t at = 0; at < piece.size();) {
      const std::size_t space = std::min(piece.find(kSpace, at), piece.size());
      line += piece.substr(at, space - at);
      if (space < piece.size()) line += ' ';
      at = space + kSpace.size();
    }
  }

  std::string bytes_, where_;
  std::optional<UnigramModel> unigram_;  // none: a model that only SentencePiece can follow
  mutable std::once_flag loaded_;
  mutable std::unique_ptr<sentencepiece::SentencePieceProcessor> processor_;
  std::vector<std::string> pieces_;  // by our id
  std::vector<int> theirs_;          // their id of ours, -1 for a special symbol they lack
  std::vector<std::int32_t> ours_;   // our id of theirs
};

class LineIterator final : public sentencepiece::SentenceIterator {
 public:
  explicit LineIterator(const std::vector<std::string>& lines) : lines_(lines) {}
  [[nodiscard]] bool done() const override { return at_ >= lines_.size(); }
  void Next() override { ++at_; }
  [[nodiscard]] const std::string& value() const override { return lines_[at_]; }
  [[nodiscard]] sentencepiece::util::Status status() const override { return {}; }

 private:
  const std::vector<std::string>& lines_;
  std::size_t at_ = 0;
};

// The lines to learn from. SentencePiece ends the process when it finds nothing to learn in them, skips those with its
// own marks in them, and counts in 32 bits; so it gets only lines with text, and of very large sets every n-th.
std::vector<std::string> learnable(std::span<const std::vector<std::string>* const> sets) {
  constexpr std::size_t most_bytes = std::size_t{400} << 20;
  std::size_t bytes = 0;
  for (const auto* set : sets) {
    for (const std::string& line : *set) bytes += line.size();
  }
  const std::size_t step = bytes / most_bytes + 1;
  std::vector<std::string> out;
  std::size_t number = 0;
  for (const auto* set : sets) {
    for (const std::string& line : *set) {
      if (number++ % step != 0) continue;
      std::string spaced = single_spaced(line);
      const bool marked = spaced.find("\u2585") != std::string::npos || spaced.find("\u2581") != std::string::npos ||
                          spaced.find('\0') != std::string::npos;
      if (!spaced.empty() && !marked) out.push_back(std::move(spaced));
    }
  }
  return out;
}

template <class Visit>
void each_character(std::string_view line, Visit&& visit) {
  for (std::size_t i = 0; i < line.size();) {
    const std::size_t at = i;
    next_code_point(line, i);
    visit(line.substr(at, i - at));
  }
}

struct Characters {
  double coverage = 1;        // for SentencePiece
  std::int64_t left_out = 0;  // different ones
  double share_left_out = 0;
};

// Every character gets an id of its own as long as they fill no more than half of the vocabulary (Chinese has thousands
// and the rarest teach nothing); the rest becomes unknown.
Characters choose_characters(std::vector<std::string>& lines, std::int32_t vocab) {
  constexpr double least_coverage = 0.98;  // SentencePiece refuses less
  TokenCounts counts;
  for (const std::string& line : lines) {
    each_character(line, [&counts](std::string_view c) { counts.add(c); });
  }
  const auto entries = counts.sorted();
  const std::size_t room = static_cast<std::size_t>(std::max(vocab / 2 - special_ids, 1));
  Characters out;
  if (entries.size() <= room) return out;
  Vocabulary kept;
  std::int64_t covered = 0;
  for (std::size_t i = 0; i < room; ++i) {
    covered += entries[i].count;
    kept.add(entries[i].token);
  }
  // It takes characters until their share reaches the coverage: half a count less stops at the last of ours.
  out.coverage = (static_cast<double>(covered) - 0.5) / static_cast<double>(counts.total());
  out.left_out = static_cast<std::int64_t>(entries.size() - room);
  out.share_left_out = 1 - static_cast<double>(covered) / static_cast<double>(counts.total());
  if (out.coverage < least_coverage) {  // the vocabulary is far too small for the text: it learns from the covered part
    out.coverage = 1;
    for (std::string& line : lines) {
      std::string rest;
      each_character(line, [&](std::string_view c) { rest += kept.id(c) == unk_id ? " " : c; });
      line = single_spaced(rest);
    }
    std::erase(lines, std::string());
  }
  return out;
}

}  // namespace

TrainedTokenizer train_sentencepiece(std::span<const std::vector<std::string>* const> lines,
                                     const TokenizerOptions& options) {
  std::vector<std::string> text = learnable(lines);
  if (text.empty()) throw UsageError("the text for the subwords is empty");
  if (options.vocab < 2 * special_ids + 4) {
    throw UsageError("vocab", fmt::format("{} leaves no room for subwords; at least 12 is right", options.vocab));
  }
  const Characters characters = choose_characters(text, options.vocab);
  std::string model;
  LineIterator iterator(text);
  const auto status = sentencepiece::SentencePieceTrainer::Train(
      {{"model_type", options.subwords == TokenizerOptions::Subwords::bpe ? "bpe" : "unigram"},
       {"vocab_size", fmt::format("{}", options.vocab)},
       {"hard_vocab_limit", "false"},  // fewer when the text does not give so many
       {"character_coverage", fmt::format("{:.17g}", characters.coverage)},
       {"normalization_rule_name", "identity"},  // what goes in comes out: NFKC would turn ， into a comma
       {"max_sentence_length", "1048576"},
       {"num_threads", "1"},  // its sums depend on the threads, and so would the pieces
       {"minloglevel", "3"},  // the library never prints
       {"pad_id", "0"},
       {"unk_id", "1"},
       {"bos_id", "2"},
       {"eos_id", "3"}},
      &iterator, &model);
  if (!status.ok()) {
    throw Error(fmt::format("SentencePiece cannot learn {} subwords from {} lines: {}", options.vocab, text.size(),
                            status.ToString()));
  }
  TrainedTokenizer out;
  out.tokenizer = parse_sentencepiece(model, "the trained model");
  out.report.asked = options.vocab;
  out.report.size = out.tokenizer->size();
  out.report.left_out = characters.left_out;
  out.report.unknown_share = characters.share_left_out;
  return out;
}

std::shared_ptr<const Tokenizer> parse_sentencepiece(std::string_view bytes, const std::string& where) {
  return std::make_shared<SentencePieceTokenizer>(bytes, where);
}

}  // namespace fovea::text
