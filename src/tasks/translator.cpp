#include "tasks/translator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>

#include "fovea/error.hpp"
#include "fovea/text.hpp"
#include "fovea/threads.hpp"
#include "text/words.hpp"
#include "train/micro_batch.hpp"

namespace fovea {

namespace {

constexpr int kUsualBeam = 5;

// Pieces as text, the way the tokenizers join them: words by spaces, the others as they stand, with ▁ for a space.
std::string join_pieces(TokenizerKind kind, const std::vector<std::string>& pieces) {
  std::string text;
  for (const auto& piece : pieces) {
    if (kind == TokenizerKind::word && !text.empty()) text += ' ';
    text += piece;
  }
  if (kind == TokenizerKind::word) return text;
  static const std::string mark = "▁";
  for (std::size_t at = 0; (at = text.find(mark, at)) != std::string::npos;) text.replace(at, mark.size(), 1, ' ');
  text.erase(0, text.find_first_not_of(' '));
  return text;
}

bool same_tokens(const Tokenizer& a, const Tokenizer& b) {
  if (a.kind() != b.kind() || a.size() != b.size()) return false;
  for (std::int32_t id = 0; id < a.size(); ++id) {
    if (a.piece(id) != b.piece(id)) return false;
  }
  return true;
}

// Of two lengths, of which 0 means any.
std::int64_t shorter(std::int64_t a, std::int64_t b) {
  return a == 0 ? b : b == 0 ? a : std::min(a, b);
}

}  // namespace

Translator::Translator(const std::filesystem::path& folder) : Translator(std::span(&folder, 1)) {}

Translator::Translator(std::span<const std::filesystem::path> folders) {
  if (folders.empty()) throw UsageError("no model folder is given");
  for (const auto& folder : folders) {
    LoadedModel loaded = load_model(folder);
    if (members_.empty()) tokenizers_ = loaded.tokenizers;
    for (const auto& [side, ours, its] :
         {std::tuple("source", tokenizers_.source.get(), loaded.tokenizers.source.get()),
          std::tuple("target", tokenizers_.target.get(), loaded.tokenizers.target.get())}) {
      if (same_tokens(*ours, *its)) continue;
      throw UsageError(fmt::format("--model: {} and {} have other {} tokens; models that write together need the same",
                                   folders[0].string(), folder.string(), side));
    }
    members_.push_back(std::make_unique<Member>(loaded.config, std::move(loaded.parameters)));
  }
}

Translator::Translator(const ModelConfig& config, Tokenizers tokenizers, const Parameters& parameters)
    : tokenizers_(std::move(tokenizers)) {
  members_.push_back(std::make_unique<Member>(config, parameters.replica()));
}

Translator::~Translator() = default;

std::int64_t Translator::longest_input() const {
  std::int64_t least = 0;
  for (const auto& member : members_) least = shorter(least, member->config.longest_source());
  return least;
}

// The end needs a position too.
std::int64_t Translator::longest_output() const {
  std::int64_t least = 0;
  for (const auto& member : members_) least = shorter(least, member->config.longest_target());
  return std::max<std::int64_t>(0, least - 1);
}

bool Translator::attends() const {
  return std::any_of(members_.begin(), members_.end(), [](const auto& member) {
    return member->config.decoder != Arch::rnn || member->config.attention != RnnAttention::none;
  });
}

void Translator::check(const TranslateOptions& options) const {
  options.search.check();
  if (members_.size() > 1 && (options.attention.layer >= 0 || options.attention.head >= 0)) {
    throw UsageError(fmt::format("{}: it goes with one model, {} are given",
                                 options.attention.layer >= 0 ? "--layer" : "--head", members_.size()));
  }
  const int layers = config().decoder_layer_count();
  if (options.attention.layer >= layers) {
    throw UsageError(
        fmt::format("--layer: {} given, the decoder has layers 0 to {}", options.attention.layer, layers - 1));
  }
  if (longest_output() > 0 && options.search.max_length > longest_output()) {
    throw UsageError(fmt::format("--max-length: {} given, the model has learned positions for {} tokens",
                                 options.search.max_length, longest_output()));
  }
  if (longest_output() > 0 && options.search.min_length > longest_output()) {
    throw UsageError(fmt::format("--min-length: {} given, the model has learned positions for {} tokens",
                                 options.search.min_length, longest_output()));
  }
  const int heads = config().decoder == Arch::transformer ? config().heads : 1;
  if (options.attention.head >= heads) {
    throw UsageError(fmt::format("--head: {} given, the decoder has heads 0 to {}", options.attention.head, heads - 1));
  }
}

void Translator::check_length(std::int64_t length, std::int64_t line) const {
  if (longest_input() == 0 || length <= longest_input()) return;
  throw Error(fmt::format("line {} has {} tokens, but the model has learned positions for {}", line + 1, length,
                          longest_input()));
}

std::vector<std::vector<Translation>> Translator::translate(std::span<const std::string> lines,
                                                            const TranslateOptions& options) const {
  check(options);
  std::vector<std::vector<Translation>> results(lines.size());
  std::vector<Line> encoded(lines.size());
  std::vector<const Line*> order;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    encoded[i].number = i;
    tokenizers_.source->encode(lines[i], encoded[i].ids, &encoded[i].pieces);
    const auto length = static_cast<std::int64_t>(encoded[i].ids.size()) + 1;
    const bool long_line = longest_input() > 0 && length > longest_input();
    if (!options.skip_long) check_length(length, options.first_line + static_cast<std::int64_t>(i));
    if (encoded[i].ids.empty() || long_line) {
      results[i].resize(static_cast<std::size_t>(options.search.n_best));
    } else {
      order.push_back(&encoded[i]);
    }
  }
  std::stable_sort(order.begin(), order.end(),
                   [](const Line* a, const Line* b) { return a->ids.size() > b->ids.size(); });
  // Batches of similar lengths; no larger than an even share, so that every thread has work. What a hypothesis keeps of
  // its steps is most of the memory, so a wide beam has fewer lines.
  const std::int64_t tokens = options.batch_tokens * kUsualBeam / std::max(kUsualBeam, options.search.beam);
  const std::size_t share =
      (order.size() + static_cast<std::size_t>(threads()) - 1) / static_cast<std::size_t>(threads());
  std::vector<std::size_t> ends;
  for (std::size_t begin = 0; begin < order.size();) {
    const auto longest = static_cast<std::int64_t>(order[begin]->ids.size()) + 1;
    const auto fit = static_cast<std::size_t>(std::max<std::int64_t>(1, tokens / longest));
    begin += std::min({fit, share, order.size() - begin});
    ends.push_back(begin);
  }
  const auto run = [&](std::int64_t from, std::int64_t to) {
    for (auto b = static_cast<std::size_t>(from); b < static_cast<std::size_t>(to); ++b) {
      const std::size_t begin = b == 0 ? 0 : ends[b - 1];
      decode(std::span(order).subspan(begin, ends[b] - begin), options, results);
    }
  };
  if (ends.size() == 1) {
    run(0, 1);  // not as a chunk: a single batch may use all threads inside
  } else {
    parallel_for(static_cast<std::int64_t>(ends.size()), 1, run);
  }
  return results;
}

void Translator::decode(std::span<const Line* const> lines, const TranslateOptions& options,
                        std::vector<std::vector<Translation>>& results) const {
  const NoGrad quiet;
  const auto rows = static_cast<std::int64_t>(lines.size());
  const auto length = static_cast<std::int64_t>(lines[0]->ids.size()) + 1;
  std::vector<std::int32_t> ids(static_cast<std::size_t>(rows * length), pad_id);
  std::vector<std::int64_t> lengths;
  std::vector<SearchInput> inputs;
  for (std::int64_t r = 0; r < rows; ++r) {
    const Line& line = *lines[static_cast<std::size_t>(r)];
    *std::copy(line.ids.begin(), line.ids.end(), ids.begin() + r * length) = eos_id;
    lengths.push_back(static_cast<std::int64_t>(line.ids.size()) + 1);
    inputs.push_back({lengths.back(), static_cast<std::uint64_t>(options.first_line) + line.number, {}});
  }
  const Reading reading(members_, {ids, lengths, rows, length});
  SearchOptions search_options = options.search;
  search_options.want_attention = search_options.want_attention || options.replace_unknown;
  search_options.longest = longest_output();
  const bool attention = search_options.want_attention || search_options.coverage_penalty > 0;
  const auto stepper = reading.start(attention, options.attention);
  const auto found = search(*stepper, inputs, search_options);
  for (std::size_t r = 0; r < found.size(); ++r) {
    if (found[r].empty()) throw Error("the model gave no output; its weights may hold NaN");
    for (const Hypothesis& h : found[r]) results[lines[r]->number].push_back(finish(*lines[r], h, options));
  }
}

Translation Translator::finish(const Line& line, const Hypothesis& h, const TranslateOptions& options) const {
  Translation t;
  t.score = h.score;
  t.log_probability = h.log_probability;
  t.tokens_read = static_cast<int>(line.ids.size());
  t.tokens_written = static_cast<int>(h.tokens.size());
  const std::size_t width = line.ids.size() + 1;
  std::vector<std::string> target;
  for (const std::int32_t id : h.tokens) target.push_back(tokenizers_.target->piece(id));
  t.text = tokenizers_.target->decode(h.tokens);
  if (options.replace_unknown && !h.attention.empty()) {
    // Each <unk> becomes what it looked at most; the pieces are then joined as the tokenizer joins them.
    bool any = false;
    for (std::size_t k = 0; k < h.tokens.size(); ++k) {
      if (h.tokens[k] != unk_id) continue;
      const float* row = h.attention.data() + k * width;
      const auto best = static_cast<std::size_t>(std::max_element(row, row + width - 1) - row);
      target[k] = best < line.pieces.size() ? line.pieces[best] : target[k];
      any = true;
    }
    if (any) t.text = join_pieces(tokenizers_.target->kind(), target);
  }
  if (!options.search.want_attention || h.attention.empty()) return t;
  t.source_tokens = line.pieces;
  t.source_tokens.emplace_back("</s>");
  t.target_tokens = std::move(target);
  t.target_tokens.emplace_back("</s>");
  for (std::size_t k = 0; k < t.target_tokens.size(); ++k) {
    const float* row = h.attention.data() + k * width;
    std::vector<float> weights(row, row + width);
    const float sum = std::accumulate(weights.begin(), weights.end(), 0.0F);
    for (float& w : weights) w = sum > 0 ? w / sum : w;
    t.weights.push_back(std::move(weights));
  }
  if (options.merge_words) {
    const auto source = text::words_of_pieces(tokenizers_.source->kind(), t.source_tokens);
    const auto words = text::words_of_pieces(tokenizers_.target->kind(), t.target_tokens);
    t.weights = text::merge_attention(t.weights, source, words);
    t.source_tokens = source.words;
    t.target_tokens = words.words;
  }
  return t;
}

std::vector<double> Translator::score(std::span<const std::string> sources,
                                      std::span<const std::string> targets) const {
  if (sources.size() != targets.size()) {
    throw UsageError(fmt::format("score: {} sources and {} targets", sources.size(), targets.size()));
  }
  if (members_.size() > 1) throw UsageError("score: it takes a single model");
  struct Texts final : Pairs {
    std::vector<std::vector<std::int32_t>> sources, targets;
    [[nodiscard]] std::span<const std::int32_t> source(std::int64_t i) const override {
      return sources[static_cast<std::size_t>(i)];
    }
    [[nodiscard]] std::span<const std::int32_t> target(std::int64_t i) const override {
      return targets[static_cast<std::size_t>(i)];
    }
  } pairs;
  for (const auto& line : sources) pairs.sources.push_back(tokenizers_.source->encode(line));
  for (const auto& line : targets) pairs.targets.push_back(tokenizers_.target->encode(line));
  std::vector<double> results(sources.size());
  std::vector<std::int64_t> order(sources.size());
  std::iota(order.begin(), order.end(), 0);
  std::vector<std::size_t> ends;
  if (order.empty()) return results;
  cut_batch(pairs, order, 1024, threads(), ends);
  parallel_for(static_cast<std::int64_t>(ends.size()), 1, [&](std::int64_t from, std::int64_t to) {
    const NoGrad quiet;
    for (auto b = static_cast<std::size_t>(from); b < static_cast<std::size_t>(to); ++b) {
      const std::size_t begin = b == 0 ? 0 : ends[b - 1];
      const auto which = std::span<const std::int64_t>(order).subspan(begin, ends[b] - begin);
      MicroBatch batch;
      batch.fill(pairs, which);
      const ModelCopies::Lease lease(members_[0]->copies);
      std::vector<double> part(which.size());
      lease.model().score(batch.source_view(), batch.target_view(), batch.wanted, part);
      for (std::size_t i = 0; i < which.size(); ++i) {
        if (std::isnan(part[i])) {
          throw Error(fmt::format("line {}: the model gives no probability; its weights may hold NaN", which[i] + 1));
        }
        results[static_cast<std::size_t>(which[i])] = part[i];
      }
    }
  });
  return results;
}

std::string alignment_text(const Translation& translation) {
  std::string out;
  // The last row and column are the ends of the sentences: they align with nothing.
  for (std::size_t t = 0; t + 1 < translation.weights.size(); ++t) {
    const auto& row = translation.weights[t];
    if (row.size() < 2) continue;
    const auto best = std::max_element(row.begin(), row.end() - 1) - row.begin();
    out += fmt::format("{}{}-{}", out.empty() ? "" : " ", best, t);
  }
  return out;
}

}  // namespace fovea
