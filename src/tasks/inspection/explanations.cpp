// Attributions to source tokens: attention, attention rollout, gradient times input; and how faithful each is.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/rng.hpp"
#include "fovea/error.hpp"
#include "fovea/inspector.hpp"
#include "fovea/ops.hpp"
#include "fovea/text.hpp"
#include "tasks/translation/loaded_translator.hpp"

namespace fovea {
namespace {

constexpr int kRandomOrders = 5;  // averaged, as a baseline

AttentionMatrix product(const AttentionMatrix& a, const AttentionMatrix& b) {
  AttentionMatrix out{a.rows, b.columns, std::vector<float>(static_cast<std::size_t>(a.rows * b.columns), 0.0F)};
  for (std::int64_t i = 0; i < a.rows; ++i) {
    for (std::int64_t k = 0; k < a.columns; ++k) {
      const float x = a.at(i, k);
      for (std::int64_t j = 0; j < b.columns; ++j) {
        out.values[static_cast<std::size_t>(i * b.columns + j)] += x * b.at(k, j);
      }
    }
  }
  return out;
}

// The cross-attention times the encoder's layers, each half the identity and half its attention.
AttentionMatrix rollout(const AttentionRecord& record) {
  AttentionMatrix through = record.weights;
  int layers = 0;
  for (const AttentionMap& map : record.maps) {
    if (map.kind == AttentionKind::encoder) layers = std::max(layers, map.layer + 1);
  }
  for (int l = layers - 1; l >= 0; --l) {
    std::vector<AttentionMap> heads;
    for (const AttentionMap& map : record.maps) {
      if (map.kind == AttentionKind::encoder && map.layer == l) heads.push_back(map);
    }
    AttentionMatrix layer = mean_of(heads);
    for (std::int64_t i = 0; i < layer.rows; ++i) {
      for (std::int64_t j = 0; j < layer.columns; ++j) {
        float& w = layer.values[static_cast<std::size_t>(i * layer.columns + j)];
        w = w / 2 + (i == j ? 0.5F : 0.0F);
      }
    }
    through = product(through, layer);
  }
  return through;
}

// The first `count` source tokens, without the end of sequence, by their summed attribution.
std::vector<std::int64_t> order_of(const AttentionMatrix& weights, std::size_t count) {
  std::vector<double> sums(count, 0.0);
  for (std::int64_t i = 0; i < weights.rows; ++i) {
    for (std::size_t j = 0; j < sums.size(); ++j) {
      sums[j] += static_cast<double>(weights.at(i, static_cast<std::int64_t>(j)));
    }
  }
  std::vector<std::int64_t> order(sums.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
    return sums[static_cast<std::size_t>(a)] > sums[static_cast<std::size_t>(b)];
  });
  return order;
}

AttentionMatrix random_weights(std::int64_t rows, std::int64_t columns, std::uint64_t seed) {
  AttentionMatrix out{rows, columns, {}};
  Rng rng(seed);
  for (std::int64_t j = 0; j < rows * columns; ++j) out.values.push_back(static_cast<float>(rng.uniform()));
  return out;
}

}  // namespace

AttentionMatrix Inspector::gradient_times_input(const std::vector<std::int32_t>& source,
                                                const std::vector<std::int32_t>& target) const {
  PaddedTokens read;
  PaddedTokens fed;
  read.fill(
      1, reads_end() ? Marks::end : Marks::none, [&](std::int64_t) -> const auto& { return source; });
  fed.fill(
      1, Marks::begin, [&](std::int64_t) -> const auto& { return target; });
  const auto rows = static_cast<std::int64_t>(target.size()) + 1;
  const auto columns = static_cast<std::int64_t>(source.size()) + (reads_end() ? 1 : 0);
  AttentionMatrix out{rows, columns, std::vector<float>(static_cast<std::size_t>(rows * columns), 0.0F)};
  const ModelCopies<Seq2Seq>::Lease lease(translator_.loaded_->members[0]->copies);
  for (std::int64_t t = 0; t < rows; ++t) {
    const Var embedded = Var::parameter(lease.model().embed(read.view()).value().clone());
    Pass pass;
    const Memory memory = lease.model().encode_embedded({embedded, read.view().lengths}, pass);
    std::vector<std::int32_t> wanted(static_cast<std::size_t>(rows), pad_id);  // only this position counts
    wanted[static_cast<std::size_t>(t)] = t + 1 < rows ? target[static_cast<std::size_t>(t)] : eos_id;
    backward(lease.model().generator().loss(&memory, fed.view(), wanted, {}, pass).loss);
    const Tensor gradient = embedded.grad().contiguous();
    const std::int64_t width = gradient.dim(2);
    for (std::int64_t j = 0; j < columns; ++j) {
      double sum = 0;
      for (std::int64_t d = 0; d < width; ++d) {
        sum += static_cast<double>(gradient.data()[j * width + d]) * embedded.value().data()[j * width + d];
      }
      out.values[static_cast<std::size_t>(t * columns + j)] = static_cast<float>(std::abs(sum));
    }
  }
  lease.parameters().zero_grad();  // only the gradient of the input is used
  return out;
}

double Inspector::deletion(const std::vector<std::int32_t>& source, const std::vector<std::int32_t>& target,
                           const AttentionMatrix& weights) const {
  const std::vector<std::int64_t> order = order_of(weights, source.size());
  if (order.size() < 2) return 0;
  const auto tokens = static_cast<double>(target.size() + 1);
  const double whole = score(source, target, {});
  std::vector<bool> removed(source.size(), false);
  double sum = 0;
  for (std::size_t k = 0; k + 1 < order.size(); ++k) {  // one token is left at the end
    removed[static_cast<std::size_t>(order[k])] = true;
    std::vector<std::int32_t> left;
    for (std::size_t i = 0; i < source.size(); ++i) {
      if (!removed[i]) left.push_back(source[i]);
    }
    sum += (whole - score(left, target, {})) / tokens;
  }
  return sum / static_cast<double>(order.size() - 1);
}

std::vector<Explanation> Inspector::explanations(const std::string& line, const GenerateOptions& options) const {
  GenerateOptions how = options;
  how.interventions = {};
  const ModelRun found = run(line, how);
  const GenerationInput read = translator_.loaded_->read_line(line, 0);
  const std::vector<std::int32_t>& target = found.target_ids;
  std::vector<Explanation> out;
  if (translator_.attends()) {
    out.push_back({"attention", found.attention.weights, 0});
    out.push_back({"rollout", rollout(found.attention), 0});
  }
  out.push_back({"gradient", gradient_times_input(read.ids, target), 0});
  for (Explanation& one : out) one.deletion = deletion(read.ids, target, one.weights);
  const auto rows = static_cast<std::int64_t>(target.size()) + 1;
  const auto columns = static_cast<std::int64_t>(read.ids.size()) + (reads_end() ? 1 : 0);
  Explanation random{"random", random_weights(rows, columns, 1), 0};
  for (int i = 0; i < kRandomOrders; ++i) {
    random.deletion +=
        deletion(read.ids, target, random_weights(rows, columns, static_cast<std::uint64_t>(i) + 1)) / kRandomOrders;
  }
  out.push_back(std::move(random));
  return out;
}

}  // namespace fovea
