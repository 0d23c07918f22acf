// The library's own modifiers.
//   distance_bias  s + t[h, d], d = clip(i - j, -K, K) + K        dt[h, d] = sum of ds over the pairs of a distance
//   head_scale     f_h s                                          df_h = sum ds s
//   time_decay     s - r_h |time_i - time_j|                      dr_h = -sum ds |time_i - time_j|
#include "fovea/attention/score_modifier.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "fovea/error.hpp"
#include "fovea/tensor.hpp"

namespace fovea::modifier {
namespace {

using Int = std::int64_t;

class DistanceBias final : public ScoreModifier {
 public:
  explicit DistanceBias(const Var& table) : table_(table), packed_(table.value().contiguous()) {
    if (table.rank() != 2 || table.dim(1) % 2 != 1) {
      throw ShapeError(
          fmt::format("distance_bias: table {}: expected [heads,2*K+1] or [1,2*K+1]", table.shape().text()));
    }
  }
  [[nodiscard]] std::string name() const override { return "distance_bias"; }
  [[nodiscard]] std::vector<Var> parameters() const override { return {table_}; }
  void check(Int, Int heads, Int, Int) const override {
    if (table_.dim(0) == 1 || table_.dim(0) == heads) return;
    throw ShapeError(
        fmt::format("distance_bias: table {}: expected [{},2*K+1] or [1,2*K+1]", table_.shape().text(), heads));
  }
  void apply(const ScoreTile& scores) const override {
    const float* bias = packed_.data() + row(scores.head);
    over_keys(
        scores,
        [bias](float* s, Int step, Int count, Int first) {
          if (step == 1) {
            for (Int q = 0; q < count; ++q) s[q] += bias[first + q];
          } else {
            for (Int q = 0; q < count; ++q) s[q * step] += bias[first + q];
          }
        },
        [bias](float* s, Int step, Int count, Int place) {
          for (Int q = 0; q < count; ++q) s[q * step] += bias[place];
        });
  }
  [[nodiscard]] bool differentiable() const override { return true; }
  void backward(const ScoreTile&, const ScoreTile& gradient, std::span<float* const> parameters) const override {
    if (parameters.empty() || parameters[0] == nullptr) return;
    float* to = parameters[0] + row(gradient.head);
    over_keys(
        gradient,
        [to](const float* g, Int step, Int count, Int first) {
          for (Int q = 0; q < count; ++q) to[first + q] += g[q * step];
        },
        [to](const float* g, Int step, Int count, Int place) {
          for (Int q = 0; q < count; ++q) to[place] += g[q * step];
        });
  }

 private:
  [[nodiscard]] Int row(Int head) const { return table_.dim(0) == 1 ? 0 : head * table_.dim(1); }
  // Of each key: near(scores, step, count, first place in the table) where distances ascend, far(…, place) where they
  // are clipped.
  template <class Near, class Far>
  void over_keys(const ScoreTile& t, const Near& near, const Far& far) const {
    const Int reach = table_.dim(1) / 2;
    for (Int k = 0; k < t.keys; ++k) {
      const Int distance = t.query0 + t.offset - (t.key0 + k);  // of the first query
      float* s = t.scores + k * t.key_stride;
      const Int begin = std::clamp<Int>(-reach - distance, 0, t.queries);
      const Int end = std::clamp<Int>(reach + 1 - distance, begin, t.queries);
      if (begin > 0) far(s, t.query_stride, begin, Int{0});
      if (end > begin) near(s + begin * t.query_stride, t.query_stride, end - begin, distance + begin + reach);
      if (end < t.queries) far(s + end * t.query_stride, t.query_stride, t.queries - end, 2 * reach);
    }
  }
  Var table_;
  Tensor packed_;
};

void expect_heads(const char* name, const Var& parameter, Int heads) {
  if (parameter.shape() == Shape{heads}) return;
  throw ShapeError(fmt::format("{}: {}: expected [{}], one for each head", name, parameter.shape().text(), heads));
}

class HeadScale final : public ScoreModifier {
 public:
  explicit HeadScale(const Var& factor) : factor_(factor), packed_(factor.value().contiguous()) {}
  [[nodiscard]] std::string name() const override { return "head_scale"; }
  [[nodiscard]] std::vector<Var> parameters() const override { return {factor_}; }
  void check(Int, Int heads, Int, Int) const override { expect_heads("head_scale factor", factor_, heads); }
  void apply(const ScoreTile& scores) const override {
    scores.each([by = packed_.data()[scores.head]](float& s, Int, Int) { s *= by; });
  }
  [[nodiscard]] bool differentiable() const override { return true; }
  void backward(const ScoreTile& before, const ScoreTile& gradient, std::span<float* const> parameters) const override {
    const float by = packed_.data()[gradient.head];
    double sum = 0;
    for (Int k = 0; k < gradient.keys; ++k) {
      for (Int q = 0; q < gradient.queries; ++q) {
        float& g = gradient.at(q, k);
        sum += static_cast<double>(g) * static_cast<double>(before.at(q, k));
        g *= by;
      }
    }
    if (!parameters.empty() && parameters[0] != nullptr) parameters[0][gradient.head] += static_cast<float>(sum);
  }

 private:
  Var factor_;
  Tensor packed_;
};

class TimeDecay final : public ScoreModifier {
 public:
  TimeDecay(const Var& rate, const Tensor& times)
      : rate_(rate), packed_(rate.value().contiguous()), times_(times.contiguous()) {
    if (times.rank() != 2) {
      throw ShapeError(fmt::format("time_decay: times {}: expected [batch,tokens]", times.shape().text()));
    }
  }
  [[nodiscard]] std::string name() const override { return "time_decay"; }
  [[nodiscard]] std::vector<Var> parameters() const override { return {rate_}; }
  void check(Int batch, Int heads, Int queries, Int keys) const override {
    expect_heads("time_decay rate", rate_, heads);
    if (queries != keys || !(times_.shape() == Shape{batch, keys})) {
      throw ShapeError(fmt::format("time_decay: times {}: expected [{},{}] and as many queries as keys",
                                   times_.shape().text(), batch, keys));
    }
  }
  void apply(const ScoreTile& scores) const override {
    const float rate = packed_.data()[scores.head];
    over_gaps(scores, [rate](float& s, float gap) { s -= rate * gap; });
  }
  [[nodiscard]] bool differentiable() const override { return true; }
  void backward(const ScoreTile&, const ScoreTile& gradient, std::span<float* const> parameters) const override {
    if (parameters.empty() || parameters[0] == nullptr) return;
    double sum = 0;
    over_gaps(gradient, [&sum](float& g, float gap) { sum -= static_cast<double>(g) * static_cast<double>(gap); });
    parameters[0][gradient.head] += static_cast<float>(sum);
  }

 private:
  template <class Body>
  void over_gaps(const ScoreTile& t, const Body& body) const {
    const float* times = times_.data() + t.batch * times_.dim(1);
    for (Int k = 0; k < t.keys; ++k) {
      const float key = times[t.key0 + k];
      float* row = t.scores + k * t.key_stride;
      for (Int q = 0; q < t.queries; ++q) body(row[q * t.query_stride], std::abs(times[t.query0 + q] - key));
    }
  }
  Var rate_;
  Tensor packed_, times_;
};

}  // namespace

std::shared_ptr<const ScoreModifier> distance_bias(const Var& table) {
  return std::make_shared<DistanceBias>(table);
}
std::shared_ptr<const ScoreModifier> head_scale(const Var& factor) {
  return std::make_shared<HeadScale>(factor);
}
std::shared_ptr<const ScoreModifier> time_decay(const Var& rate, const Tensor& times) {
  return std::make_shared<TimeDecay>(rate, times);
}

}  // namespace fovea::modifier
