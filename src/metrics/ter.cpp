// Translation edit rate (Snover et al. 2006): the edits that turn the hypothesis into the reference, where moving a run
// of words is one edit. Finding the best shifts is intractable, so the number depends on how they are searched; this
// follows sacreBLEU's form of Tercom's greedy search: take the shift that saves most edits until none saves any.
#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "fovea/metrics.hpp"
#include "metrics/common.hpp"
#include "text/unicode.hpp"

namespace fovea {
namespace {

constexpr int longest_shift = 10;
constexpr int farthest_shift = 50;
constexpr int beam = 25;  // cells computed on each side of the diagonal
constexpr int most_candidates = 1000;
constexpr int infinite = std::numeric_limits<int>::max() / 2;

// What the cheapest way into a cell of the table did last.
enum class Step : char { none, keep, substitute, drop /* a hypothesis word */, add /* a reference word */ };

// The edit distance of hypotheses of one length to one reference, in a band around the diagonal: a row holds the cells
// from its `first` on, and beyond them infinities, so that the row below may look past its end. Rows are kept, so that
// a shifted hypothesis starts from the row where it begins to differ.
class EditTable {
 public:
  EditTable(std::u32string_view reference, std::size_t hypothesis_words)
      : reference_(reference),
        height_(static_cast<int>(hypothesis_words)),
        width_(static_cast<int>(reference.size()) + 1),
        ratio_(height_ > 0 ? static_cast<double>(width_ - 1) / height_ : 1),
        // With very different lengths neighbouring bands would not overlap.
        band_(beam < ratio_ / 2 ? static_cast<int>(std::ceil(ratio_ / 2 + beam)) : beam),
        stride_(2 * band_ + static_cast<int>(std::ceil(ratio_)) + 4),
        cost_(static_cast<std::size_t>(height_ + 1) * static_cast<std::size_t>(stride_), infinite),
        step_(cost_.size(), Step::none),
        scratch_(2 * static_cast<std::size_t>(stride_)) {
    for (int j = 0; j < std::min(width_, stride_); ++j) cost_[static_cast<std::size_t>(j)] = j;
  }

  /// Fills the whole table and returns the distance.
  int compute(std::u32string_view hypothesis) {
    for (int i = 1; i <= height_; ++i) {
      fill_row(hypothesis, i, row(cost_, i - 1), row(cost_, i), row(step_, i));
    }
    return last_of(row(cost_, height_));
  }

  /// The distance of a hypothesis whose first `same` words are those of the last compute().
  int distance(std::u32string_view hypothesis, int same) {
    const int* above = row(cost_, same);
    for (int i = same + 1; i <= height_; ++i) {
      int* below = row(scratch_, i % 2);
      fill_row(hypothesis, i, above, below, nullptr);
      above = below;
    }
    return last_of(above);
  }

  /// The steps of the last compute(), first word first.
  [[nodiscard]] std::vector<Step> steps() const {
    std::vector<Step> out;
    int i = height_;
    int j = width_ - 1;
    while (i > 0 || j > 0) {
      Step step = Step::none;
      const int at = j - first(i);
      if (i > 0 && at >= 0 && at < stride_) step = step_[static_cast<std::size_t>(i * std::ptrdiff_t{stride_} + at)];
      if (step == Step::none || j == 0) step = i > 0 ? Step::drop : Step::add;  // along the edge of the table
      out.push_back(step);
      if (step != Step::add) --i;
      if (step != Step::drop) --j;
    }
    std::reverse(out.begin(), out.end());
    return out;
  }

 private:
  [[nodiscard]] int diagonal(int i) const { return static_cast<int>(std::floor(i * ratio_)); }
  [[nodiscard]] int first(int i) const { return i == 0 ? 0 : std::max(0, diagonal(i) - band_); }
  [[nodiscard]] int last_of(const int* bottom) const {
    return height_ == 0 ? width_ - 1 : bottom[width_ - 1 - first(height_)];
  }
  template <class T>
  [[nodiscard]] T* row(std::vector<T>& of, int i) const {
    return of.data() + i * std::ptrdiff_t{stride_};
  }

  // Row i from the row above it; both begin at their `first`. The last row reaches to the end of the reference.
  void fill_row(std::u32string_view hypothesis, int i, const int* above, int* row, Step* steps) const {
    const char32_t word = hypothesis[static_cast<std::size_t>(i - 1)];
    const int begin = first(i);
    const int end = i == height_ ? width_ : std::min(width_, diagonal(i) + band_);
    const int moved = begin - first(i - 1);
    std::fill(row, row + stride_, infinite);
    for (int j = begin; j < end; ++j) {
      const int at = j - begin;
      int best = infinite;
      Step step = Step::none;
      const auto offer = [&](int cost, Step how) {
        if (cost < best) {
          best = cost;
          step = how;
        }
      };
      if (j == 0) {
        offer(above[0] + 1, Step::drop);
      } else {  // the order breaks ties: keep or substitute, then drop, then add
        const bool same = word == reference_[static_cast<std::size_t>(j - 1)];
        const int diagonal_cost = at + moved > 0 ? above[at + moved - 1] : infinite;
        offer(diagonal_cost + (same ? 0 : 1), same ? Step::keep : Step::substitute);
        offer(above[at + moved] + 1, Step::drop);
        if (at > 0) offer(row[at - 1] + 1, Step::add);
      }
      row[at] = best;
      if (steps != nullptr) steps[at] = step;
    }
  }

  std::u32string_view reference_;
  int height_;
  int width_;
  double ratio_;
  int band_;
  int stride_;
  std::vector<int> cost_;
  std::vector<Step> step_;
  std::vector<int> scratch_;
};

// The hypothesis word that each reference word is aligned with (-1: before the first), and which words are wrong.
struct Alignment {
  std::vector<int> hypothesis_of;
  std::vector<int> wrong_hypothesis;  // running sums, so that a range is one subtraction
  std::vector<int> wrong_reference;

  explicit Alignment(const std::vector<Step>& steps) : wrong_hypothesis{0}, wrong_reference{0} {
    int at = -1;
    for (const Step step : steps) {
      const int wrong = step == Step::keep ? 0 : 1;
      if (step != Step::add) {
        ++at;
        wrong_hypothesis.push_back(wrong_hypothesis.back() + wrong);
      }
      if (step != Step::drop) {
        hypothesis_of.push_back(at);
        wrong_reference.push_back(wrong_reference.back() + wrong);
      }
    }
  }

  static bool all_right(const std::vector<int>& sums, int begin, int length) {
    const auto first = static_cast<std::size_t>(begin);
    return sums[first + static_cast<std::size_t>(length)] == sums[first];
  }
};

// Moves `length` words at `start` to before the word now at `target`; a target inside the run moves it that much on.
std::u32string shifted(const std::u32string& words, std::size_t start, std::size_t length, std::size_t target) {
  std::u32string out = words;
  const auto at = [&out](std::size_t i) { return out.begin() + static_cast<std::ptrdiff_t>(std::min(i, out.size())); };
  if (target < start) {
    std::rotate(at(target), at(start), at(start + length));
  } else {
    std::rotate(at(start), at(start + length), at(target > start + length ? target : target + length));
  }
  return out;
}

struct Shift {
  int saved = 0;
  std::u32string words;
};

// The best shift of `words`; counts the candidates it tried into `tried`.
Shift best_shift(const std::u32string& words, std::u32string_view reference, EditTable& table, int& tried) {
  const int before = table.compute(words);
  const Alignment alignment(table.steps());
  const int words_count = static_cast<int>(words.size());
  const int reference_count = static_cast<int>(reference.size());
  // Tercom's order: most edits saved, then the longest run, then the earliest run, then the earliest place.
  using Rank = std::tuple<int, int, int, int>;
  bool found = false;
  Rank best_rank{};
  Shift best{0, words};

  const auto try_run = [&](int start, int start_reference, int length) {
    // A run is moved only if it is wrong at its position and its place in the reference is not filled yet.
    if (Alignment::all_right(alignment.wrong_hypothesis, start, length)) return;
    if (Alignment::all_right(alignment.wrong_reference, start_reference, length)) return;
    const int there = alignment.hypothesis_of[static_cast<std::size_t>(start_reference)];
    if (start <= there && there < start + length) return;
    int previous = -1;
    for (int offset = -1; offset < length; ++offset) {
      const int anchor = start_reference + offset;
      const int target = anchor < 0 ? 0 : alignment.hypothesis_of[static_cast<std::size_t>(anchor)] + 1;
      if (target == previous) continue;
      previous = target;
      std::u32string moved = shifted(words, static_cast<std::size_t>(start), static_cast<std::size_t>(length),
                                     static_cast<std::size_t>(target));
      const int saved = before - table.distance(moved, std::min(start, target));
      const Rank rank{saved, length, -start, -target};
      ++tried;
      if (!found || rank > best_rank) {
        found = true;
        best_rank = rank;
        best = {saved, std::move(moved)};
      }
    }
  };

  for (int i = 0; i < words_count; ++i) {
    for (int j = std::max(0, i - farthest_shift); j < std::min(reference_count, i + farthest_shift + 1); ++j) {
      for (int length = 1; length <= longest_shift && i + length <= words_count && j + length <= reference_count;
           ++length) {
        if (words[static_cast<std::size_t>(i + length - 1)] != reference[static_cast<std::size_t>(j + length - 1)])
          break;
        try_run(i, j, length);
        if (tried >= most_candidates) return best;
      }
    }
  }
  return best;
}

int count_edits(std::u32string words, std::u32string_view reference) {
  if (reference.empty()) return static_cast<int>(words.size());
  EditTable table(reference, words.size());
  int shifts = 0;
  for (int tried = 0;;) {
    Shift shift = best_shift(words, reference, table, tried);
    if (tried >= most_candidates || shift.saved <= 0) break;  // out of patience: the last shift found does not count
    ++shifts;
    words = std::move(shift.words);
  }
  return shifts + table.compute(words);
}

}  // namespace

Ter ter(const Lines& hypotheses, const References& references, bool case_sensitive) {
  metrics::check_lines("ter", hypotheses, references);
  Ter result;
  const auto words_of = [&](const std::string& line) {
    return metric_words(case_sensitive ? line : text::to_lower(line), MetricTokenizer::none);
  };
  for (std::size_t line = 0; line < hypotheses.size(); ++line) {
    metrics::WordNumbers numbers;
    const std::u32string hypothesis = numbers.of(words_of(hypotheses[line]));
    int fewest = infinite;
    double lengths = 0;
    const auto wanted = metrics::references_of(references, line);
    for (const std::string& reference : wanted) {
      const std::u32string target = numbers.of(words_of(reference));
      fewest = std::min(fewest, count_edits(hypothesis, target));
      lengths += static_cast<double>(target.size());
    }
    result.edits += fewest;
    result.reference_words += lengths / static_cast<double>(wanted.size());
  }
  if (result.reference_words > 0) {
    result.score = 100 * static_cast<double>(result.edits) / result.reference_words;
  } else {
    result.score = result.edits > 0 ? 100 : 0;
  }
  result.signature = metrics::signature(
      references, std::string("case:") + (case_sensitive ? "mixed" : "lc") + "|tok:tercom|norm:no|punct:yes|asian:no");
  return result;
}

}  // namespace fovea
