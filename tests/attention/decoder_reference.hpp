// A decoder with attention by the formulas, one number at a time in double: the reference for attentional_rnn().
#pragma once

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "fovea/attention/attentional_rnn.hpp"
#include "support/gradcheck.hpp"

namespace fovea::test {

enum class ScoreName { dot, scaled_dot, general, general_bias, cosine, additive, concat, location, coverage };
enum class LocalName { none, monotonic, gaussian, predictive };

/// One variant of a decoder, with sizes around a vector's edge.
struct DecoderCase {
  Cell cell = Cell::gru;
  DecoderForm form = DecoderForm::bahdanau;
  ScoreName score = ScoreName::additive;
  LocalName local = LocalName::none;
  int layers = 1;  // conditional: 2, the cells
  bool feeding = true;
  bool first = true;
  bool gate = false;                // of the context
  Reading reading = Reading::soft;  // or hard
  std::int64_t half_width = 2;      // of local attention
  std::int64_t batch = 3, steps = 4, source = 5, embedding = 3, memory = 6, units = 7, hidden = 9, result = 5;
  std::vector<std::int64_t> lengths{4, 1, 3};
  std::vector<std::int64_t> memory_lengths{5, 3, 1};

  [[nodiscard]] bool luong() const { return form == DecoderForm::luong; }
  [[nodiscard]] bool conditional() const { return form == DecoderForm::conditional; }
  [[nodiscard]] int states() const { return conditional() ? 1 : layers; }
  [[nodiscard]] std::int64_t gates() const { return (cell == Cell::gru ? 3 : 4) * units; }
  [[nodiscard]] std::int64_t feed() const { return conditional() ? 0 : !luong() ? memory : feeding ? result : 0; }
  [[nodiscard]] AttentionalRnnOptions options() const {
    AttentionalRnnOptions how{.form = form,
                              .input_feeding = feeding,
                              .lengths = lengths,
                              .memory_lengths = memory_lengths,
                              .want_weights = true};
    if (local != LocalName::none)
      how.local = Local{.half_width = half_width, .gaussian = local != LocalName::monotonic};
    how.reading = reading;
    return how;
  }

  /// Every array by name, in a fixed order.
  [[nodiscard]] std::vector<std::pair<std::string, Shape>> arrays() const {
    std::vector<std::pair<std::string, Shape>> all{{"x", {batch, steps, embedding}},
                                                   {"memory", {batch, source, memory}}};
    for (int l = 0; l < layers; ++l) {
      const std::string n = std::to_string(l);
      all.push_back({"w" + n, {l == 0 ? embedding + feed() : conditional() ? memory : units, gates()}});
      all.push_back({"u" + n, {units, gates()}});
      all.push_back({"b" + n, {gates()}});
      if (cell == Cell::gru) all.push_back({"c" + n, {units}});
      if (l >= states()) continue;
      if (first) all.push_back({"first" + n, {batch, units}});
      if (first && cell == Cell::lstm) all.push_back({"cell" + n, {batch, units}});
    }
    switch (score) {
      case ScoreName::general_bias:
        all.push_back({"score_b", {memory}});
        [[fallthrough]];
      case ScoreName::general:
        all.push_back({"score_w", {units, memory}});
        break;
      case ScoreName::coverage:
        all.push_back({"score_c", {hidden}});
        [[fallthrough]];
      case ScoreName::additive:
        all.push_back({"score_w", {hidden, units}});
        all.push_back({"score_u", {hidden, memory}});
        all.push_back({"score_v", {hidden}});
        all.push_back({"score_b", {hidden}});
        break;
      case ScoreName::concat:
        all.push_back({"score_w", {hidden, units + memory}});
        all.push_back({"score_v", {hidden}});
        break;
      case ScoreName::location:
        all.push_back({"score_w", {source + 1, units}});
        break;
      default:
        break;
    }
    if (luong()) {
      all.push_back({"a", {memory + units, result}});
      all.push_back({"a_bias", {result}});
    }
    if (gate) {
      all.push_back({"gate", {units}});
      all.push_back({"gate_bias", {1}});
    }
    if (local == LocalName::predictive) {
      all.push_back({"center", {4, units}});
      all.push_back({"center_v", {4}});
    }
    return all;
  }

  [[nodiscard]] std::vector<Tensor> random() const {
    std::vector<Tensor> values;
    unsigned seed = 1;
    for (const auto& [name, shape] : arrays()) {
      const bool data = name == "x" || name == "memory" || name.starts_with("first") || name.starts_with("cell");
      values.push_back(random_tensor(shape, seed++, data ? 1.0F : 0.5F));
    }
    return values;
  }

  /// Runs Fovea's op.
  [[nodiscard]] AttentionalRnn run(const std::vector<Var>& in) const { return run(in, options()); }
  [[nodiscard]] AttentionalRnn run(const std::vector<Var>& in, const AttentionalRnnOptions& how) const {
    std::vector<Var> firsts;
    std::vector<Var> cells;
    const AttentionalRnnWeights w = weights(in, firsts, cells);
    return attentional_rnn(in[0], in[1], w, how, firsts, cells);
  }
  [[nodiscard]] AttentionalRnnWeights weights(const std::vector<Var>& in, std::vector<Var>& firsts,
                                              std::vector<Var>& cells) const {
    std::map<std::string, Var> by;
    std::size_t at = 0;
    for (const auto& [name, shape] : arrays()) by[name] = in[at++];
    AttentionalRnnWeights w{.cell = cell};
    for (int l = 0; l < layers; ++l) {
      const std::string n = std::to_string(l);
      w.layers.push_back({by["w" + n], by["u" + n], by["b" + n], by["c" + n]});
      if (l >= states()) continue;
      if (first) firsts.push_back(by["first" + n]);
      if (first) cells.push_back(by["cell" + n]);
    }
    switch (score) {
      case ScoreName::dot:
        w.score = score::Dot{};
        break;
      case ScoreName::scaled_dot:
        w.score = score::ScaledDot{};
        break;
      case ScoreName::general:
      case ScoreName::general_bias:
        w.score = score::General{.w = by["score_w"], .b = by["score_b"]};
        break;
      case ScoreName::cosine:
        w.score = score::Cosine{.scale = 2};
        break;
      case ScoreName::additive:
      case ScoreName::coverage:
        w.score = score::Additive{.w = by["score_w"],
                                  .u = by["score_u"],
                                  .v = by["score_v"],
                                  .b = by["score_b"],
                                  .coverage_weight = by["score_c"]};
        break;
      case ScoreName::concat:
        w.score = score::Concat{by["score_w"], by["score_v"]};
        break;
      case ScoreName::location:
        w.score = score::Location{by["score_w"]};
        break;
    }
    w.attentional = by["a"];
    w.attentional_bias = by["a_bias"];
    w.gate = by["gate"];
    w.gate_bias = by["gate_bias"];
    w.center = by["center"];
    w.center_vector = by["center_v"];
    return w;
  }
};

/// All outputs of sequence b at each of its steps.
struct ReferenceStep {
  std::vector<double> state, context, attentional, weights;
};

class ReferenceDecoder {
 public:
  ReferenceDecoder(const DecoderCase& how, const std::vector<Tensor>& values) : c_(how) {
    std::size_t at = 0;
    for (const auto& [name, shape] : how.arrays()) by_[name] = values[at++];
  }

  [[nodiscard]] std::vector<ReferenceStep> run(std::int64_t b) const {
    std::vector<Row> h;
    std::vector<Row> cell;
    for (int l = 0; l < c_.states(); ++l) {
      h.push_back(c_.first ? row("first" + std::to_string(l), b) : Row(size(c_.units), 0.0));
      cell.push_back(c_.first && c_.cell == Cell::lstm ? row("cell" + std::to_string(l), b) : Row(size(c_.units), 0.0));
    }
    Row fed(size(c_.result), 0.0);
    Row coverage(size(c_.source), 0.0);
    std::vector<ReferenceStep> steps;
    for (std::int64_t t = 0; t < c_.lengths[size(b)]; ++t) {
      ReferenceStep step;
      Row input = row("x", b * c_.steps + t);
      if (c_.conditional()) {
        cells(0, input, h[0], cell[0]);
        attend(b, t, h[0], coverage, step);
        cells(1, step.context, h[0], cell[0]);
      } else if (!c_.luong()) {
        attend(b, t, h.back(), coverage, step);
        input.insert(input.end(), step.context.begin(), step.context.end());
      } else if (c_.feeding) {
        input.insert(input.end(), fed.begin(), fed.end());
      }
      for (int l = 0; !c_.conditional() && l < c_.layers; ++l) {
        cells(l, l == 0 ? input : h[size(l - 1)], h[size(l)], cell[size(l)]);
      }
      step.state = h.back();
      if (c_.luong()) {
        attend(b, t, h.back(), coverage, step);
        Row joined = step.context;
        joined.insert(joined.end(), h.back().begin(), h.back().end());
        step.attentional = times(joined, "a", "a_bias");
        for (double& v : step.attentional) v = std::tanh(v);
        fed = step.attentional;
      }
      steps.push_back(step);
    }
    return steps;
  }

 private:
  using Row = std::vector<double>;
  static std::size_t size(std::int64_t n) { return static_cast<std::size_t>(n); }
  static double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

  [[nodiscard]] double value(const std::string& name, std::int64_t i) const { return by_.at(name).data()[i]; }
  [[nodiscard]] Row row(const std::string& name, std::int64_t r) const {
    const std::int64_t n = by_.at(name).dim(-1);
    const float* p = by_.at(name).data() + r * n;
    return {p, p + n};
  }
  // x W + bias
  [[nodiscard]] Row times(const Row& x, const std::string& w, const std::string& bias) const {
    const std::int64_t n = by_.at(w).dim(1);
    Row y(size(n), 0.0);
    for (std::int64_t j = 0; j < n; ++j) {
      if (!bias.empty()) y[size(j)] = value(bias, j);
      for (std::size_t i = 0; i < x.size(); ++i) y[size(j)] += x[i] * value(w, static_cast<std::int64_t>(i) * n + j);
    }
    return y;
  }
  // W x, from column `first` on
  [[nodiscard]] Row times_transposed(const std::string& w, const Row& x, std::int64_t first = 0) const {
    const std::int64_t n = by_.at(w).dim(1);
    Row y(size(by_.at(w).dim(0)), 0.0);
    for (std::size_t i = 0; i < y.size(); ++i) {
      for (std::size_t j = 0; j < x.size(); ++j) {
        y[i] += value(w, static_cast<std::int64_t>(i) * n + first + static_cast<std::int64_t>(j)) * x[j];
      }
    }
    return y;
  }
  static double dot(const Row& a, const Row& b) {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
    return sum;
  }

  void cells(int l, const Row& input, Row& h, Row& cell) const {
    const std::string n = std::to_string(l);
    const Row x = times(input, "w" + n, "b" + n);
    const Row u = times(h, "u" + n, "");
    const std::size_t units = h.size();
    for (std::size_t i = 0; i < units; ++i) {
      if (c_.cell == Cell::gru) {
        const double r = sigmoid(x[i] + u[i]);
        const double z = sigmoid(x[units + i] + u[units + i]);
        const double m = u[2 * units + i] + value("c" + n, static_cast<std::int64_t>(i));
        h[i] = (1 - z) * std::tanh(x[2 * units + i] + r * m) + z * h[i];
      } else {
        const auto gate = [&](std::size_t k) { return x[k * units + i] + u[k * units + i]; };
        cell[i] = sigmoid(gate(1)) * cell[i] + sigmoid(gate(0)) * std::tanh(gate(2));
        h[i] = sigmoid(gate(3)) * std::tanh(cell[i]);
      }
    }
  }

  [[nodiscard]] double score(const Row& q, const Row& k, std::int64_t j, double covered) const {
    switch (c_.score) {
      case ScoreName::dot:
        return dot(q, k);
      case ScoreName::scaled_dot:
        return dot(q, k) / std::sqrt(static_cast<double>(q.size()));
      case ScoreName::general:
        return dot(times(q, "score_w", ""), k);
      case ScoreName::general_bias:
        return dot(times(q, "score_w", "score_b"), k);
      case ScoreName::cosine:
        return 2 * dot(q, k) / std::sqrt(dot(q, q) * dot(k, k));
      case ScoreName::location:
        return times_transposed("score_w", q)[size(j)];
      default:
        break;
    }
    const bool concat = c_.score == ScoreName::concat;
    const Row a = times_transposed("score_w", q);
    const Row b = concat ? times_transposed("score_w", k, c_.units) : times_transposed("score_u", k);
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
      const auto at = static_cast<std::int64_t>(i);
      double x = a[i] + b[i] + (concat ? 0.0 : value("score_b", at));
      if (c_.score == ScoreName::coverage) x += covered * value("score_c", at);
      sum += value("score_v", at) * std::tanh(x);
    }
    return sum;
  }

  void attend(std::int64_t b, std::int64_t t, const Row& q, Row& coverage, ReferenceStep& step) const {
    const std::int64_t length = c_.memory_lengths[size(b)];
    double center = static_cast<double>(t);
    if (c_.local == LocalName::predictive) {
      Row p = times_transposed("center", q);
      double z = 0;
      for (std::size_t i = 0; i < p.size(); ++i) z += value("center_v", static_cast<std::int64_t>(i)) * std::tanh(p[i]);
      center = static_cast<double>(length) * sigmoid(z);
    }
    step.weights.assign(size(c_.source), 0.0);
    step.context.assign(size(c_.memory), 0.0);
    double total = 0;
    for (std::int64_t j = 0; j < length; ++j) {
      const double distance = static_cast<double>(j) - center;
      if (c_.local != LocalName::none && std::abs(distance) > static_cast<double>(c_.half_width)) continue;
      step.weights[size(j)] = std::exp(score(q, row("memory", b * c_.source + j), j, coverage[size(j)]));
      total += step.weights[size(j)];
    }
    for (std::int64_t j = 0; j < length; ++j) {
      double& w = step.weights[size(j)];
      if (w == 0) continue;
      w /= total;
      const double distance = static_cast<double>(j) - center;
      if (c_.local == LocalName::gaussian || c_.local == LocalName::predictive)
        w *= std::exp(-2 * distance * distance / std::pow(c_.half_width, 2));
      const Row m = row("memory", b * c_.source + j);
      for (std::size_t i = 0; c_.reading == Reading::soft && i < m.size(); ++i) step.context[i] += w * m[i];
    }
    const auto most = std::max_element(step.weights.begin(), step.weights.end());
    if (c_.reading == Reading::hard && *most > 0) {
      step.context = row("memory", b * c_.source + (most - step.weights.begin()));
    }
    if (c_.gate) {
      double z = value("gate_bias", 0);
      for (std::size_t i = 0; i < q.size(); ++i) z += q[i] * value("gate", static_cast<std::int64_t>(i));
      for (double& v : step.context) v *= sigmoid(z);
    }
    for (std::size_t j = 0; j < coverage.size(); ++j) coverage[j] += step.weights[j];
  }

  DecoderCase c_;
  std::map<std::string, Tensor> by_;
};

}  // namespace fovea::test
