#include "fovea/decode/search.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "base/require.hpp"
#include "base/rng.hpp"
#include "decode/candidates.hpp"
#include "decode/hypothesis_tree.hpp"
#include "model/best_rows.hpp"

namespace fovea {
namespace {

constexpr float kNever = -std::numeric_limits<float>::infinity();

struct Row {
  std::int32_t sentence;
  std::int32_t node;  // -1: nothing written yet
};

struct Finished {
  std::int32_t node;  // the end's
  float score;
  bool ended;  // by an end of sequence that the model wrote
};

struct Sentence {
  std::vector<Finished> finished;
  std::int64_t max_length = 0;
  std::int64_t given = 0;  // tokens of the prompt behind the first, each fed in place of one that was written
  Rng samples{0};
  bool done = false;
};

class Search {
 public:
  Search(Stepper& stepper, std::span<const SearchInput> inputs, const GenerateOptions& options,
         const SearchRules& rules)
      : stepper_(stepper),
        inputs_(inputs),
        options_(options),
        rules_(rules),
        beam_(options.sample ? 1 : options.beam),
        no_repeat_ngram_(options.no_repeat_ngram.value_or(0)),
        scored_(options.scores || options.beam > 1 || options.sample || options.repetition_penalty != 1),
        only_best_(!options.sample && options.repetition_penalty == 1 && no_repeat_ngram_ == 0) {
    for (std::size_t s = 0; s < inputs.size(); ++s) {
      Sentence sentence;
      sentence.max_length =
          options.max_length.value_or(std::max(2 * static_cast<int>(inputs[s].source_length) + 20, options.min_length));
      const std::span<const std::int32_t> prompt = inputs[s].prompt;
      if (!prompt.empty()) sentence.given = static_cast<std::int64_t>(prompt.size()) - 1;
      only_best_ = only_best_ && inputs[s].prefix.empty();
      if (rules.longest > 0) {
        require(sentence.given <= rules.longest, "prompt", prompt.size(), "it is longer than the model can read");
        sentence.max_length = std::min(sentence.max_length, rules.longest - sentence.given);
      }
      sentence.samples = Rng(mix64(options.seed) ^ inputs[s].line);
      sentences_.push_back(std::move(sentence));
      rows_.push_back({static_cast<std::int32_t>(s), -1});
      tokens_.push_back(prompt.empty() ? rules.begin : prompt[0]);
    }
  }

  std::vector<std::vector<Hypothesis>> run() {
    for (std::int64_t length = 0; !rows_.empty(); ++length) advance(length);
    std::vector<std::vector<Hypothesis>> results;
    for (std::size_t s = 0; s < sentences_.size(); ++s) results.push_back(result(s));
    return results;
  }

  /// After run().
  [[nodiscard]] std::vector<BeamTree> trees() const {
    std::vector<std::int32_t> best;
    for (const Sentence& s : sentences_) best.push_back(s.finished.empty() ? -1 : s.finished.front().node);
    return tree_.of_sentences(best, rules_.begin, rules_.end);
  }

 private:
  // One token for every row. `step`: tokens fed so far.
  void advance(std::int64_t step) {
    // Of the best ones, the end and some others may be forbidden.
    only_best_ = only_best_ && stepper_.best(tokens_,
                                             {.count = beam_ + 1 + static_cast<int>(rules_.suppressed.size()),
                                              .probabilities = scored_,
                                              .end = rules_.end},
                                             best_);
    const Tensor logits = only_best_ ? Tensor() : stepper_.step(tokens_);
    if (only_best_ || stepper_.candidates(0).empty()) check_suppressed(only_best_ ? best_.vocabulary : logits.dim(1));
    const Tensor attention = options_.attention || options_.coverage_penalty > 0 ? stepper_.attention() : Tensor();
    next_rows_.clear();
    from_.clear();
    tokens_.clear();
    for (std::size_t begin = 0; begin < rows_.size();) {
      std::size_t end = begin;
      while (end < rows_.size() && rows_[end].sentence == rows_[begin].sentence) ++end;
      const auto s = static_cast<std::size_t>(rows_[begin].sentence);
      if (step < sentences_[s].given) {
        next_rows_.push_back(rows_[begin]);
        from_.push_back(static_cast<std::int32_t>(begin));
        tokens_.push_back(inputs_[s].prompt[static_cast<std::size_t>(step + 1)]);
      } else {
        advance_sentence(begin, end, step - sentences_[s].given, logits, attention);
      }
      begin = end;
    }
    if (!next_rows_.empty() && !same_rows()) stepper_.keep(from_);
    rows_.swap(next_rows_);
  }

  // The options come from the caller, the vocabulary from the model.
  void check_suppressed(std::int64_t vocabulary) const {
    require(rules_.end >= 0 && rules_.end < vocabulary, "end", rules_.end, "a token of the vocabulary is needed");
    for (const std::int32_t token : rules_.suppressed) {
      require(token >= 0 && token < vocabulary, "suppressed", token, "tokens of the vocabulary are needed");
    }
  }

  [[nodiscard]] bool same_rows() const {
    if (from_.size() != rows_.size()) return false;
    for (std::size_t i = 0; i < from_.size(); ++i) {
      if (from_[i] != static_cast<std::int32_t>(i)) return false;
    }
    return true;
  }

  // Tokens of a row that may go on: its best could fill the whole beam, and one of them be the end.
  [[nodiscard]] int wanted() const { return beam_ == 1 ? 1 : beam_ + 1; }

  // Those that row r may write next, from the stepper's choice; `length` as below.
  void best_of_stepper(std::size_t r, std::int64_t length, const Sentence& sentence) {
    const float so_far = tree_.total(rows_[r].node);
    const auto& never = rules_.suppressed;
    const auto forbidden = [&](std::int32_t token) {
      return std::find(never.begin(), never.end(), token) != never.end();
    };
    const bool may_end =
        length >= std::min<std::int64_t>(options_.min_length, sentence.max_length) && !forbidden(rules_.end);
    const float end_score = best_.ends[r];
    if (std::isnan(end_score)) return;  // then all of them are, and there is nothing to choose
    const std::size_t before = candidates_.size();
    if (length >= sentence.max_length) {
      const float last = rules_.cut ? 0.0F : may_end ? end_score : kNever;
      candidates_.push_back({so_far + last, static_cast<std::int32_t>(r), rules_.end});
      return;
    }
    for (const BestTokens::Token& best : best_.row(r)) {
      if (candidates_.size() - before == static_cast<std::size_t>(wanted())) break;
      if (best.token == rules_.end ? !may_end : forbidden(best.token)) continue;
      candidates_.push_back({so_far + best.score, static_cast<std::int32_t>(r), best.token});
    }
    if (candidates_.size() == before) {  // all is forbidden: it ends here
      candidates_.push_back({so_far, static_cast<std::int32_t>(r), rules_.end});
    }
  }

  // The same from all its logits.
  void best_of_logits(std::size_t r, std::int64_t length, Sentence& sentence, float* row, std::int64_t vocabulary) {
    if (scored_ && !stepper_.normalized()) normalize(row, vocabulary);
    const Columns columns{stepper_.candidates(static_cast<std::int64_t>(r))};
    const std::int64_t end_column = columns.of(rules_.end);
    require(end_column >= 0, "end", rules_.end, "it is not among the candidates");
    const bool broken = std::isnan(row[end_column]);  // then all of them are
    for (const std::int32_t token : rules_.suppressed) {
      if (const std::int64_t column = columns.of(token); column >= 0) row[column] = kNever;
    }
    if (length < std::min<std::int64_t>(options_.min_length, sentence.max_length)) row[end_column] = kNever;
    const float so_far = tree_.total(rows_[r].node);
    const auto number = static_cast<std::int32_t>(r);
    if (length >= sentence.max_length) {
      const float last = rules_.cut ? 0.0F : row[end_column];
      if (!broken) candidates_.push_back({so_far + last, number, rules_.end});
      return;
    }
    const std::span<const std::int32_t> prefix = inputs_[static_cast<std::size_t>(rows_[r].sentence)].prefix;
    if (length < static_cast<std::int64_t>(prefix.size())) {
      const std::int32_t token = prefix[static_cast<std::size_t>(length)];
      const std::int64_t column = columns.of(token);
      require(column >= 0, "prefix", token, "a token that the sentence may write is needed");
      if (!broken) candidates_.push_back({so_far + row[column], number, token});
      return;
    }
    if (options_.repetition_penalty != 1 || no_repeat_ngram_ > 0) {
      tree_.tokens(rows_[r].node, history_);
      if (no_repeat_ngram_ > 0) ban_repeats(history_, no_repeat_ngram_, columns, row);
      if (options_.repetition_penalty != 1) punish_repeats(history_, options_.repetition_penalty, columns, row);
    }
    const std::size_t before = candidates_.size();
    if (options_.sample) {
      const Sampling how{options_.temperature, options_.top_k, options_.top_p};
      const std::int32_t token = sample_token(row, vocabulary, how, sentence.samples.uniform(), scratch_);
      if (token >= 0) candidates_.push_back({so_far + row[token], number, columns.token(token)});
    } else {
      best_of_row(row, vocabulary, wanted(), so_far, number, candidates_);
      for (std::size_t c = before; c < candidates_.size(); ++c) {
        candidates_[c].token = columns.token(candidates_[c].token);
      }
    }
    // All is forbidden: it ends here. With NaN for scores there is nothing to choose, and no output.
    if (candidates_.size() == before && !broken) candidates_.push_back({so_far, number, rules_.end});
  }

  // `length`: tokens written so far.
  void advance_sentence(std::size_t begin, std::size_t end, std::int64_t length, const Tensor& logits,
                        const Tensor& attention) {
    Sentence& sentence = sentences_[static_cast<std::size_t>(rows_[begin].sentence)];
    const std::int64_t vocabulary = only_best_ ? 0 : logits.dim(1);
    candidates_.clear();
    for (std::size_t r = begin; r < end; ++r) {
      if (only_best_) {
        best_of_stepper(r, length, sentence);
      } else {
        best_of_logits(r, length, sentence, logits.data() + static_cast<std::int64_t>(r) * vocabulary, vocabulary);
      }
    }
    // The best first; equal ones in the order of rows and tokens, so that nothing depends on the sort.
    std::sort(candidates_.begin(), candidates_.end(), [](const Candidate& a, const Candidate& b) {
      if (a.score != b.score) return a.score > b.score;
      return a.row != b.row ? a.row < b.row : a.token < b.token;
    });
    int places = beam_;
    float best_alive = kNever;
    for (std::size_t c = 0; c < candidates_.size() && places > 0; ++c) {
      const Candidate& candidate = candidates_[c];
      // An end counts only among the best `beam`: one that no hypothesis of the beam would choose is not finished.
      if (candidate.token == rules_.end) {
        if (c < static_cast<std::size_t>(beam_)) finish(sentence, candidate, length, attention);
        continue;
      }
      next_rows_.push_back({rows_[begin].sentence, append(candidate, attention)});
      from_.push_back(candidate.row);
      tokens_.push_back(candidate.token);
      best_alive = std::max(best_alive, candidate.score);
      --places;
    }
    if (length >= sentence.max_length || enough(sentence, rank(best_alive, length + 1))) {
      while (!next_rows_.empty() && next_rows_.back().sentence == rows_[begin].sentence) {
        next_rows_.pop_back();
        from_.pop_back();
        tokens_.pop_back();
      }
    }
  }

  // To log-probabilities, with the bytes that a stepper's own choice has.
  static void normalize(float* row, std::int64_t vocabulary) {
    const kernels::Peak peak = peak_of_row(row, vocabulary);
    const float log_sum = std::log(peak.sum);
    for (std::int64_t j = 0; j < vocabulary; ++j) row[j] = row[j] - peak.shift - log_sum;
  }

  [[nodiscard]] float rank(float total, std::int64_t length) const {
    return total / std::pow(static_cast<float>(length), options_.length_penalty);
  }

  // Whether the search can end: as many hypotheses are finished as the beam is wide, and the last that is wanted
  // is at least as good as the best of those that go on is now. Without the second half, a model that is sure of its
  // output would lose it: the rest of its beam is improbable and soon ends somewhere.
  bool enough(const Sentence& sentence, float best_alive) {
    if (static_cast<int>(sentence.finished.size()) < beam_) return false;
    ranks_.clear();
    for (const Finished& f : sentence.finished) ranks_.push_back(f.score);
    const auto last = ranks_.begin() + (options_.n_best - 1);
    std::nth_element(ranks_.begin(), last, ranks_.end(), std::greater<>());
    return *last >= best_alive;
  }

  [[nodiscard]] std::int64_t source_length(const Row& row) const {
    return inputs_[static_cast<std::size_t>(row.sentence)].source_length;
  }

  std::int32_t append(const Candidate& candidate, const Tensor& attention) {
    const Row& row = rows_[static_cast<std::size_t>(candidate.row)];
    std::span<const float> weights;
    if (attention) {
      weights = {attention.data() + candidate.row * attention.dim(1), static_cast<std::size_t>(source_length(row))};
    }
    return tree_.append({row.node, candidate.token, candidate.score, row.sentence}, weights);
  }

  void finish(Sentence& sentence, const Candidate& candidate, std::int64_t length, const Tensor& attention) {
    const std::int32_t node = append(candidate, attention);
    const bool ended = !rules_.cut || length < sentence.max_length;
    float score = rank(candidate.score, std::max<std::int64_t>(1, ended ? length + 1 : length));
    if (options_.coverage_penalty > 0 && attention) {
      const std::int64_t width = source_length(rows_[static_cast<std::size_t>(candidate.row)]);
      score += options_.coverage_penalty * tree_.coverage(node, width);
    }
    sentence.finished.push_back({node, score, ended});
  }

  std::vector<Hypothesis> result(std::size_t s) {
    auto& finished = sentences_[s].finished;
    std::stable_sort(finished.begin(), finished.end(),
                     [](const Finished& a, const Finished& b) { return a.score > b.score; });
    std::vector<Hypothesis> best;
    for (const Finished& f : finished) {
      if (static_cast<int>(best.size()) == options_.n_best) break;
      Hypothesis h;
      h.ended = f.ended;
      if (scored_) {
        h.score = f.score;
        h.log_probability = tree_[f.node].total;
      }
      std::vector<std::int32_t> path;
      tree_.path(f.node, path);
      for (const std::int32_t n : path) {
        if (tree_[n].token != rules_.end) h.tokens.push_back(tree_[n].token);
        if (!options_.attention) continue;
        const std::span<const float> weights = tree_.weights(n);
        h.attention.insert(h.attention.end(), weights.begin(), weights.end());
      }
      best.push_back(std::move(h));
    }
    return best;
  }

  Stepper& stepper_;
  std::span<const SearchInput> inputs_;
  const GenerateOptions& options_;
  const SearchRules& rules_;
  int beam_;
  int no_repeat_ngram_;
  bool scored_;     // the best of one row's logits is the best of its probabilities
  bool only_best_;  // of the tokens, and not all logits, decide; the stepper gives them
  BestTokens best_;
  std::vector<Sentence> sentences_;
  std::vector<Row> rows_;
  std::vector<Row> next_rows_;
  std::vector<std::int32_t> from_;
  std::vector<std::int32_t> tokens_;
  std::vector<Candidate> candidates_;
  std::vector<std::int32_t> history_;
  std::vector<float> ranks_;
  HypothesisTree tree_;
  SampleScratch scratch_;
};

}  // namespace

void check_search(const GenerateOptions& o) {
  require(o.beam >= 1 && o.beam <= 1000, "beam", o.beam, "1 to 1000 are possible");
  require(o.n_best >= 1 && (o.n_best <= o.beam || o.sample), "n_best", o.n_best,
          "1 up to the beam's width is possible");
  require(!o.sample || o.n_best == 1, "n_best", o.n_best, "with sample it is 1");
  require(std::isfinite(o.length_penalty), "length_penalty", o.length_penalty, "a finite number is needed");
  require(o.coverage_penalty >= 0 && std::isfinite(o.coverage_penalty), "coverage_penalty", o.coverage_penalty,
          "0 or more is needed");
  // Time grows with the square of the length: a limit, so that a mistyped number has an end.
  constexpr int kLongest = 20000;
  const int max_length = o.max_length.value_or(kLongest);
  require(o.min_length >= 0 && o.min_length <= kLongest, "min_length", o.min_length, "0 to 20000 are possible");
  require(max_length >= 1 && max_length <= kLongest, "max_length", max_length, "1 to 20000 are possible");
  require(o.min_length <= max_length, "min_length", o.min_length, "at most max-length is possible");
  const int ngram = o.no_repeat_ngram.value_or(0);
  require(ngram >= 0, "no_repeat_ngram", ngram, "0 or more is needed");
  require(o.repetition_penalty >= 1 && std::isfinite(o.repetition_penalty), "repetition_penalty", o.repetition_penalty,
          "1 or more is needed");
  require(o.temperature > 0 && std::isfinite(o.temperature), "temperature", o.temperature, "more than 0 is needed");
  require(o.top_k >= 0, "top_k", o.top_k, "0 or more is needed");
  require(o.top_p > 0 && o.top_p <= 1, "top_p", o.top_p, "more than 0, up to 1, is needed");
}

std::vector<std::vector<Hypothesis>> search(Stepper& stepper, std::span<const SearchInput> inputs,
                                            const GenerateOptions& options, const SearchRules& rules,
                                            std::vector<BeamTree>* trees) {
  check_search(options);
  if (inputs.empty()) return {};
  Search all(stepper, inputs, options, rules);
  auto results = all.run();
  if (trees != nullptr) *trees = all.trees();
  return results;
}

}  // namespace fovea
