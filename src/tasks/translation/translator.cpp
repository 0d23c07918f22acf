#include "fovea/translator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <numeric>
#include <tuple>

#include "base/heap_bytes.hpp"
#include "fovea/error.hpp"
#include "fovea/text.hpp"
#include "fovea/threads.hpp"
#include "tasks/batches.hpp"
#include "tasks/pair_learner.hpp"
#include "tasks/translation/encoded_batch.hpp"
#include "tasks/translation/maps.hpp"
#include "tasks/translation/shortlist_file.hpp"
#include "text/copy_table.hpp"
#include "train/cut_batch.hpp"

namespace fovea {
namespace {

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

// The token that a text is: a piece as the model writes it, or what becomes one token.
std::int32_t token_of(const Tokenizer& tokenizer, const std::string& text) {
  for (std::int32_t id = special_ids; id < tokenizer.size(); ++id) {
    if (tokenizer.piece(id) == text) return id;
  }
  const std::vector<std::int32_t> ids = tokenizer.encode(text);
  if (ids.size() == 1) return ids[0];
  throw UsageError(
      fmt::format("interventions: \"{}\" is {} tokens of this model; a token is swapped for one", text, ids.size()));
}

struct TextPairs final : text::Pairs {
  std::vector<std::vector<std::int32_t>> sources, targets, copied;
  [[nodiscard]] std::int64_t size() const override { return static_cast<std::int64_t>(sources.size()); }
  [[nodiscard]] std::span<const std::int32_t> source(std::int64_t i) const override {
    return sources[static_cast<std::size_t>(i)];
  }
  [[nodiscard]] std::span<const std::int32_t> target(std::int64_t i) const override {
    return targets[static_cast<std::size_t>(i)];
  }
  [[nodiscard]] std::span<const std::int32_t> copies(std::int64_t i) const override {
    return copied[static_cast<std::size_t>(i)];
  }
};

}  // namespace

Translator::Translator(const std::filesystem::path& folder, const LoadOptions& how)
    : Translator(std::span(&folder, 1), how) {}

Translator::Translator(std::span<const std::filesystem::path> folders, const LoadOptions& how) {
  if (folders.empty()) throw UsageError("model: no folder is given");
  for (const auto& folder : folders) {
    LoadedModel loaded = load_model(folder, how);
    if (!std::holds_alternative<GeneratorConfig>(loaded.config.head)) {
      throw UsageError(
          fmt::format("model: {} holds a {}, which writes no text", folder.string(), kind_of(loaded.config.head)));
    }
    if (!loaded.config.reads_tokens()) {
      throw UsageError(fmt::format("model: {} has the task {} and reads no text to translate", folder.string(),
                                   enum_text(loaded.config.task())));
    }
    if (members_.empty()) tokenizers_ = loaded.tokenizers;
    for (const auto& [side, ours, its] :
         {std::tuple("source", tokenizers_.source.get(), loaded.tokenizers.source.get()),
          std::tuple("target", tokenizers_.target.get(), loaded.tokenizers.target.get())}) {
      if (ours == its || same_tokens(*ours, *its)) continue;
      throw UsageError(fmt::format("model: {} and {} have other {} tokens; models that write together need the same",
                                   folders[0].string(), folder.string(), side));
    }
    if (!members_.empty() && loaded.config.generator().copy != config().generator().copy) {
      throw UsageError(fmt::format("model: of {} and {} only one copies; models that write together all do or none",
                                   folders[0].string(), folder.string()));
    }
    members_.push_back(std::make_unique<Member>(loaded.config, std::move(loaded.parameters), how));
    if (config().tokens().end_of_sequence != members_.back()->config.tokens().end_of_sequence) {
      throw UsageError(fmt::format("model: of {} and {} only one reads the end of sequence of the source",
                                   folders[0].string(), folder.string()));
    }
  }
  prepare_copying();
  if (!how.shortlist) return;
  const std::filesystem::path file = shortlist_file(folders[0]);
  if (!std::filesystem::exists(file)) {
    throw FileError(fmt::format("{}: there is none; fovea shortlist makes it from the training text", file.string()));
  }
  shortlist_ =
      std::make_unique<const text::Shortlist>(file, config().tokens().vocabulary, config().generator().vocabulary);
}

Translator::Translator(const ModelConfig& config, Tokenizers tokenizers, const Parameters& parameters)
    : tokenizers_(std::move(tokenizers)) {
  members_.push_back(std::make_unique<Member>(config, parameters.replica()));
  prepare_copying();
}

void Translator::prepare_copying() {
  if (!config().generator().copy) return;
  copying_ = std::make_unique<const text::CopyTable>(*tokenizers_.source, *tokenizers_.target);
}

std::string Translator::piece(const Line& line, std::int32_t id) const {
  const std::int32_t known = tokenizers_.target->size();
  return id < known ? tokenizers_.target->piece(id) : line.words[static_cast<std::size_t>(id - known)];
}

Translator::~Translator() = default;

SearchOptions TranslateOptions::search() const {
  return {.beam = beam,
          .length_penalty = length_penalty,
          .coverage_penalty = coverage_penalty,
          .n_best = n_best,
          .min_length = min_length,
          .max_length = max_length,
          .no_repeat_ngram = no_repeat_ngram,
          .repetition_penalty = repetition_penalty,
          .sample = sample,
          .temperature = temperature,
          .top_k = top_k,
          .top_p = top_p,
          .seed = seed,
          .want_attention = attention || replace_unknown,
          .want_scores = scores};
}

const ModelConfig& Translator::config() const {
  return members_[0]->config;
}

std::int64_t Translator::longest_input() const {
  std::int64_t least = 0;
  for (const auto& member : members_) least = shorter(least, member->config.longest_source());
  return least;
}

// The end of sequence needs a position too.
std::int64_t Translator::longest_output() const {
  std::int64_t least = 0;
  for (const auto& member : members_) least = shorter(least, member->config.longest_target());
  return std::max<std::int64_t>(0, least - 1);
}

bool Translator::attends() const {
  return std::any_of(members_.begin(), members_.end(), [](const auto& member) { return member->config.attends(); });
}

void Translator::check(const TranslateOptions& options) const {
  options.search().check();
  options.interventions.check();
  if (members_.size() > 1 && (!options.kinds.empty() || !options.interventions.empty())) {
    throw UsageError(fmt::format("{}: it goes with one model, {} are given",
                                 options.kinds.empty() ? "interventions" : "kinds", members_.size()));
  }
  if (options.top_weights < 0) throw UsageError(fmt::format("top_weights: {} is below 0", options.top_weights));
  if (members_.size() > 1 && (options.layer >= 0 || options.head >= 0)) {
    throw UsageError(fmt::format("{}: it goes with one model, {} are given", options.layer >= 0 ? "layer" : "head",
                                 members_.size()));
  }
  const auto within = [](const char* field, int given, int count) {
    if (given >= std::max(1, count)) {
      throw UsageError(fmt::format("{0}: {1} given, the decoder has {0}s 0 to {2}", field, given, count - 1));
    }
  };
  within("layer", options.layer, config().attention_layers());
  within("head", options.head, config().attention_heads());
  for (const auto& [field, given] : {std::pair("max_length", options.max_length), {"min_length", options.min_length}}) {
    if (longest_output() > 0 && given > longest_output()) {
      throw UsageError(
          fmt::format("{}: {} given, the model has learned positions for {} tokens", field, given, longest_output()));
    }
  }
}

SearchOptions Translator::search_options(const TranslateOptions& options) const {
  SearchOptions search = options.search();
  search.longest = longest_output();
  const auto& never = config().generator().suppressed;
  search.suppressed.insert(search.suppressed.end(), never.begin(), never.end());
  if (copying_) search.suppressed.push_back(unk_id);  // the word itself can be copied
  return search;
}

std::int64_t Translator::read_length(const Line& line) const {
  return static_cast<std::int64_t>(line.ids.size()) + (config().tokens().end_of_sequence ? 1 : 0);
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
    encoded[i] = read_line(lines[i], i, options);
    const std::int64_t length = read_length(encoded[i]);
    const bool long_line = longest_input() > 0 && length > longest_input();
    if (!options.skip_long) check_length(length, options.first_line + static_cast<std::int64_t>(i));
    if (encoded[i].ids.empty() || long_line) {
      results[i].resize(static_cast<std::size_t>(options.n_best));
    } else {
      order.push_back(&encoded[i]);
    }
  }
  std::stable_sort(order.begin(), order.end(),
                   [](const Line* a, const Line* b) { return a->ids.size() > b->ids.size(); });
  const std::int64_t tokens = options.interventions.empty() ? options.batch_tokens : 1;  // positions are a line's own
  std::vector<std::int64_t> lengths;
  for (const Line* line : order) lengths.push_back(read_length(*line));
  std::atomic<bool> stopped = false;
  decode_in_batches(lengths, {.tokens = tokens, .beam = options.beam}, [&](std::size_t begin, std::size_t end) {
    if (!stopped && options.stop && options.stop()) stopped = true;
    if (!stopped) decode(std::span(order).subspan(begin, end - begin), options, results);
  });
  return results;
}

Translation Translator::translate(const std::string& line, const TranslateOptions& options) const {
  return std::move(translate(std::span(&line, 1), options)[0][0]);
}

Translator::Line Translator::read_line(const std::string& line, std::size_t number,
                                       const TranslateOptions& options) const {
  Line read;
  read.number = number;
  tokenizers_.source->encode(line, read.ids, &read.pieces);
  for (const TokenEdit& edit : options.interventions.tokens) {
    if (!edit.swapped || edit.token >= static_cast<std::int64_t>(read.ids.size())) continue;
    const std::int32_t id = token_of(*tokenizers_.source, *edit.swapped);
    read.ids[static_cast<std::size_t>(edit.token)] = id;
    read.pieces[static_cast<std::size_t>(edit.token)] = tokenizers_.source->piece(id);
  }
  if (copying_) copying_->source(read.ids, read.pieces, read.copies, read.words);
  return read;
}

void Translator::decode(std::span<const Line* const> lines, const TranslateOptions& options,
                        std::vector<std::vector<Translation>>& results, std::vector<BeamTree>* trees) const {
  const NoGrad quiet;
  std::int64_t longest = 0;
  for (const Line* line : lines) longest = std::max(longest, read_length(*line));
  const MapRequest maps(options, longest);
  const EncodedBatch batch(members_, lines, options, maps, shortlist_.get());
  std::vector<SearchInput> inputs;
  for (const Line* line : lines) {
    inputs.push_back({read_length(*line), static_cast<std::uint64_t>(options.first_line) + line->number, {}});
  }
  SearchOptions how = search_options(options);
  const AttentionChoice which{options.layer, options.head};
  if (maps.cross && !options.replace_unknown && options.n_best == 1) how.want_attention = false;  // the maps have it
  const auto stepper = batch.start(how.want_attention || how.coverage_penalty > 0, which);
  const auto found = search(*stepper, inputs, how, trees);
  for (const auto& of_line : found) {
    if (of_line.empty()) throw Error("the model gave no output; its weights may hold NaN");
  }
  for (std::size_t n = 0; n < static_cast<std::size_t>(options.n_best); ++n) {
    std::vector<std::vector<float>> copied(found.size());
    if (copying_ && options.attention) {
      std::vector<std::span<const std::int32_t>> outputs(found.size());
      for (std::size_t r = 0; r < found.size(); ++r) {
        if (n < found[r].size()) outputs[r] = found[r][n].tokens;
      }
      copied = batch.copied(outputs, copying_->vocabulary());
    }
    for (std::size_t r = 0; r < found.size(); ++r) {
      if (n >= found[r].size()) continue;
      results[lines[r]->number].push_back(finish(*lines[r], found[r][n], options, std::move(copied[r])));
    }
  }
  if (maps.any()) {
    // The best outputs once more, all positions at once, to see every layer and head.
    PaddedTokens target;
    target.fill(
        static_cast<std::int64_t>(lines.size()),
        Marks::begin, [&](std::int64_t r) -> const auto& { return found[static_cast<std::size_t>(r)][0].tokens; });
    if (copying_) target.cut_ids(copying_->vocabulary());
    if (options.before_maps) {
      options.before_maps(weights_of(batch.memory(0), config(), maps, static_cast<std::int64_t>(lines.size()), longest,
                                     target.view().length));
    }
    Pass pass = batch.new_pass();
    pass.top = maps.top;
    const Decoded decoded = batch.model(0).generator().decode(&batch.memory(0), target.view(), pass,
                                                              {.cross = maps.cross, .self = maps.decoder});
    for (std::size_t r = 0; r < found.size(); ++r) {
      Translation& best = results[lines[r]->number][0];
      take_maps(batch.memory(0), decoded, static_cast<std::int64_t>(r), which, options.attention && maps.cross, best);
    }
  }
  if (!options.merge_words) return;
  for (const Line* line : lines) {
    for (Translation& t : results[line->number]) {
      if (!t.attention.empty() || !t.maps.empty() || t.largest) fovea::merge_words(t, tokenizers_);
    }
  }
}

Translation Translator::finish(const Line& line, const Hypothesis& h, const TranslateOptions& options,
                               std::vector<float> copied) const {
  Translation t;
  t.score = h.score;
  t.log_probability = h.log_probability;
  t.source_tokens = line.pieces;
  t.target_ids = h.tokens;
  for (const std::int32_t id : h.tokens) t.target_tokens.push_back(piece(line, id));
  const auto copied_word = [this](std::int32_t id) { return id >= tokenizers_.target->size(); };
  t.text = std::any_of(h.tokens.begin(), h.tokens.end(), copied_word) ? tokenizers_.target->join(t.target_tokens)
                                                                      : tokenizers_.target->decode(h.tokens);
  t.copied = std::move(copied);
  const auto width = static_cast<std::size_t>(read_length(line));
  if (options.replace_unknown && !h.attention.empty()) {
    // Each <unk> becomes what it attended to most; the pieces are then joined as the tokenizer joins them.
    bool any = false;
    for (std::size_t k = 0; k < h.tokens.size(); ++k) {
      if (h.tokens[k] != unk_id) continue;
      const float* row = h.attention.data() + k * width;
      const auto best = static_cast<std::size_t>(std::max_element(row, row + line.ids.size()) - row);
      if (best < line.pieces.size()) t.target_tokens[k] = line.pieces[best];
      any = true;
    }
    if (any) t.text = tokenizers_.target->join(t.target_tokens);
  }
  if (width > line.ids.size()) t.source_tokens.emplace_back("</s>");
  t.target_tokens.emplace_back("</s>");
  if (!options.attention || h.attention.empty()) return t;
  for (std::size_t k = 0; k < t.target_tokens.size(); ++k) {
    const float* row = h.attention.data() + k * width;
    std::vector<float> weights(row, row + width);
    const float sum = std::accumulate(weights.begin(), weights.end(), 0.0F);
    for (float& w : weights) w = sum > 0 ? w / sum : w;
    t.attention.push_back(std::move(weights));
  }
  return t;
}

std::size_t heap_bytes(const Translation& output) {
  return heap_bytes(output.text) + heap_bytes(output.source_tokens) + heap_bytes(output.target_tokens) +
         heap_bytes(output.target_ids) + heap_bytes(output.attention) + heap_bytes(output.largest) +
         heap_bytes(output.maps) + heap_bytes(output.copied);
}

std::size_t heap_bytes(const TranslationTrace& trace) {
  return heap_bytes(trace.translation) + heap_bytes(trace.attention) + heap_bytes(trace.beam.nodes) +
         heap_bytes(trace.beam.best) + heap_bytes(trace.beam_tokens);
}

AttentionRecord Translation::record() const {
  AttentionRecord r;
  r.source = source_tokens;
  r.target = target_tokens;
  r.weights.rows = static_cast<std::int64_t>(attention.size());
  r.weights.columns = attention.empty() ? 0 : static_cast<std::int64_t>(attention[0].size());
  for (const auto& row : attention) r.weights.values.insert(r.weights.values.end(), row.begin(), row.end());
  r.largest = largest;
  r.maps = maps;
  r.copied = copied;
  if (attention.empty() && !largest) {
    r.source.clear();
    r.target.clear();
    r.copied.clear();
  }
  return r;
}

std::vector<double> Translator::score(std::span<const std::string> sources,
                                      std::span<const std::string> targets) const {
  if (sources.size() != targets.size()) {
    throw UsageError(fmt::format("score: {} sources and {} targets", sources.size(), targets.size()));
  }
  if (members_.size() > 1) throw UsageError("score: it takes a single model");
  TextPairs pairs;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    Line line = read_line(sources[i], i, {});
    std::vector<std::int32_t> ids;
    std::vector<std::string> pieces;
    tokenizers_.target->encode(targets[i], ids, &pieces);
    if (copying_) copying_->target(ids, pieces, line.words);
    pairs.sources.push_back(std::move(line.ids));
    pairs.copied.push_back(std::move(line.copies));
    pairs.targets.push_back(std::move(ids));
  }
  std::vector<double> results(sources.size());
  std::vector<std::int64_t> order(sources.size());
  std::iota(order.begin(), order.end(), 0);
  std::vector<std::size_t> ends;
  if (order.empty()) return results;
  cut_batch(PairExamples(pairs), order, 1024, threads(), ends);
  parallel_for(static_cast<std::int64_t>(ends.size()), 1, [&](std::int64_t from, std::int64_t to) {
    const NoGrad quiet;
    for (auto b = static_cast<std::size_t>(from); b < static_cast<std::size_t>(to); ++b) {
      const std::size_t begin = b == 0 ? 0 : ends[b - 1];
      const auto which = std::span<const std::int64_t>(order).subspan(begin, ends[b] - begin);
      PairBatch batch;
      batch.fill(pairs, which, 1, config().tokens().end_of_sequence ? Marks::end : Marks::none,
                 copying_ ? copying_->vocabulary() : 0);
      const ModelCopies<Seq2Seq>::Lease lease(members_[0]->copies);
      std::vector<double> part(which.size());
      lease.model().score(batch.source.view(), batch.target.view(), batch.wanted.view().ids, part);
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
  // The last row, and the last column where the model reads it, are the ends of sequence: they align with nothing.
  const auto& source = translation.source_tokens;
  const std::size_t end = !source.empty() && source.back() == "</s>" ? 1 : 0;
  for (std::size_t t = 0; t + 1 < translation.attention.size(); ++t) {
    const auto& row = translation.attention[t];
    if (row.size() <= end) continue;
    const auto best = std::max_element(row.begin(), row.end() - static_cast<std::ptrdiff_t>(end)) - row.begin();
    out += fmt::format("{}{}-{}", out.empty() ? "" : " ", best, t);
  }
  return out;
}

}  // namespace fovea
