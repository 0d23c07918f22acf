#include "view/lesson/worked.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/rng.hpp"
#include "fovea/attention.hpp"
#include "fovea/error.hpp"
#include "kernels/gemm.hpp"
#include "text/segment.hpp"
#include "text/unicode.hpp"

namespace fovea::view {
namespace {

AttentionMatrix product(const AttentionMatrix& a, const AttentionMatrix& b, bool b_transposed = false) {
  using kernels::Trans;
  AttentionMatrix c{a.rows, b_transposed ? b.rows : b.columns, {}};
  c.values.resize(static_cast<std::size_t>(c.rows * c.columns));
  kernels::gemm(Trans::no, b_transposed ? Trans::yes : Trans::no, c.rows, c.columns, a.columns, a.values.data(),
                a.columns, b.values.data(), b.columns, 0, c.values.data(), c.columns);
  return c;
}

AttentionMatrix columns_of(const AttentionMatrix& m, std::int64_t first, std::int64_t count) {
  AttentionMatrix part{m.rows, count, {}};
  for (std::int64_t r = 0; r < m.rows; ++r) {
    for (std::int64_t c = 0; c < count; ++c) part.values.push_back(m.at(r, first + c));
  }
  return part;
}

Tensor tensor(const AttentionMatrix& m) {
  return Tensor::of({1, m.rows, m.columns}, m.values);
}

AttentionMatrix matrix(const Tensor& t, std::int64_t rows, std::int64_t columns) {
  const Tensor packed = t.contiguous();
  const std::span<const float> values = packed.values();
  return {rows, columns, {values.begin(), values.end()}};
}

void expect(const AttentionMatrix& m, const char* name, std::int64_t rows, const char* rows_are) {
  if (m.rows != rows || m.columns < 1 || static_cast<std::int64_t>(m.values.size()) != m.rows * m.columns) {
    throw ShapeError(
        fmt::format("explain: {} is [{},{}], but must have {} rows, {}", name, m.rows, m.columns, rows, rows_are));
  }
}

void check(const WorkedInput& in) {
  expect(in.x, "X", static_cast<std::int64_t>(in.tokens.size()), "one per token");
  for (const auto& [m, name] : {std::pair{&in.w_q, "W_Q"}, {&in.w_k, "W_K"}, {&in.w_v, "W_V"}}) {
    expect(*m, name, in.x.columns, "one per column of X");
    if (in.heads < 1 || m->columns % in.heads != 0) {
      throw ShapeError(fmt::format("explain: {} has {} columns, which must be a multiple of the {} heads", name,
                                   m->columns, in.heads));
    }
  }
  if (in.w_k.columns != in.w_q.columns) {
    throw ShapeError(fmt::format("explain: W_K has {} columns, W_Q {}: queries and keys must be of one width",
                                 in.w_k.columns, in.w_q.columns));
  }
  if (in.w_o.rows > 0) expect(in.w_o, "W_O", in.w_v.columns, "one per column of W_V");
}

std::uint64_t hash(std::string_view text) {
  std::uint64_t h = 0;
  for (const char c : text) h = mix64(h ^ static_cast<unsigned char>(c));
  return h;
}

}  // namespace

WorkedInput made_up_input(const std::vector<std::string>& tokens, int dim, int heads, std::uint64_t seed) {
  WorkedInput in;
  in.tokens = tokens;
  in.heads = heads;
  in.made_up = true;
  in.x = {static_cast<std::int64_t>(tokens.size()), dim, {}};
  for (const std::string& token : tokens) {
    Rng rng(seed ^ hash(token));
    for (int i = 0; i < dim; ++i) in.x.values.push_back(static_cast<float>(rng.below(9)) * 0.5F - 2.0F);
  }
  Rng rng(seed);
  for (AttentionMatrix* m : {&in.w_q, &in.w_k, &in.w_v, &in.w_o}) {
    if (m == &in.w_o && heads == 1) break;
    *m = {dim, dim, {}};
    for (int i = 0; i < dim * dim; ++i) m->values.push_back(static_cast<float>(rng.below(5)) * 0.5F - 1.0F);
  }
  return in;
}

WorkedExample work(const WorkedInput& input) {
  check(input);
  const NoGrad constant;
  WorkedExample example{input, {}, {}, {}};
  const std::int64_t words = input.x.rows;
  const std::int64_t d = input.w_q.columns / input.heads;
  const std::int64_t dv = input.w_v.columns / input.heads;
  const AttentionMatrix q = product(input.x, input.w_q);
  const AttentionMatrix k = product(input.x, input.w_k);
  const AttentionMatrix v = product(input.x, input.w_v);
  example.joined = {words, input.w_v.columns, std::vector<float>(v.values.size())};
  for (int h = 0; h < input.heads; ++h) {
    WorkedHead head;
    head.q = columns_of(q, h * d, d);
    head.k = columns_of(k, h * d, d);
    head.v = columns_of(v, h * dv, dv);
    head.scores = product(head.q, head.k, true);
    head.scaled = head.scores;
    for (float& score : head.scaled.values) score /= std::sqrt(static_cast<float>(d));
    for (std::int64_t i = 0; input.causal && i < words; ++i) {
      const auto row = head.scaled.values.begin() + i * words;
      std::fill(row + i + 1, row + words, -std::numeric_limits<float>::infinity());
    }
    const Attended seen =
        attend(tensor(head.q), tensor(head.k), tensor(head.v), {.causal = input.causal, .want = {.weights = true}});
    head.weights = matrix(seen.weights.value(), words, words);
    head.output = matrix(seen.context.value(), words, dv);
    for (const AttentionMatrix* numbers : {&head.weights, &head.output}) {
      if (!std::all_of(numbers->values.begin(), numbers->values.end(), [](float x) { return std::isfinite(x); })) {
        throw UsageError("explain: the numbers are too large: their products are not finite");
      }
    }
    for (std::int64_t i = 0; i < words; ++i) {
      for (std::int64_t c = 0; c < dv; ++c) {
        example.joined.values[static_cast<std::size_t>(i * example.joined.columns + h * dv + c)] = head.output.at(i, c);
      }
    }
    example.heads.push_back(std::move(head));
  }
  example.output = input.w_o.rows > 0 ? product(example.joined, input.w_o) : example.joined;
  return example;
}

std::vector<std::string> words_of(std::string_view sentence) {
  if (text::invalid_utf8(sentence) != std::string_view::npos) throw UsageError("SENTENCE: must be UTF-8 text");
  const std::vector<std::string_view> words = text::segment(sentence);
  return {words.begin(), words.end()};
}

WorkedScores work_scores(const std::vector<float>& scores, double dim) {
  const NoGrad constant;
  WorkedScores out;
  out.scores = scores;
  out.dim = dim;
  const float root = dim > 0 ? static_cast<float>(std::sqrt(dim)) : 1.0F;
  for (const float score : scores) out.scaled.push_back(score / root);
  const float most = *std::max_element(out.scaled.begin(), out.scaled.end());
  if (std::abs(most) > 12) out.shift = most;
  for (const float value : out.scaled) {
    out.powers.push_back(std::exp(static_cast<double>(value) - out.shift));
    out.sum += out.powers.back();
  }
  // With the query 1 of width 1, the score of each key is the key itself.
  const auto keys = static_cast<std::int64_t>(scores.size());
  const Tensor key = Tensor::of({1, keys, 1}, scores);
  const Attended seen = attend(Tensor::full({1, 1, 1}, 1), key, key,
                               {.score = score::ScaledDot{.scale = 1 / root}, .want = {.weights = true}});
  out.weights = matrix(seen.weights.value(), 1, keys).values;
  return out;
}

}  // namespace fovea::view
