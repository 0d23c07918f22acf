#include "text/joint_ngram/ngrams.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/rng.hpp"
#include "fovea/error.hpp"

namespace fovea::text {
namespace {

constexpr std::uint64_t kEmpty = 1;

std::uint64_t extend(std::uint64_t hash, std::int32_t token) {
  return mix64(hash ^ mix64(static_cast<std::uint64_t>(token) + 2)) | 1U;  // never 0
}

std::uint64_t hash_of(std::span<const std::int32_t> run) {
  std::uint64_t hash = kEmpty;
  for (const std::int32_t token : run) hash = extend(hash, token);
  return hash;
}

}  // namespace

Ngrams::Ngrams(std::size_t order) : nodes_(1U << 10U) {
  if (order < 1 || order > kMostOrder)
    throw UsageError(fmt::format("ngrams: order {} is not from 1 to {}", order, kMostOrder));
  orders_.resize(order);
  for (Order& o : orders_) o.fit();
}

// Where there are too few runs to tell, D is what it usually is.
void Ngrams::Order::fit() {
  constexpr double kUsual = 0.8;
  const auto n = [this](std::size_t k) { return static_cast<double>(runs[k - 1]); };
  for (std::size_t k = 1; k <= kClasses; ++k) {
    const double count = static_cast<double>(k);
    const double d = count - (count + 1) * n(k + 1) / n(k) * n(1) / (n(1) + 2 * n(2));
    discount[k - 1] = d > 0 && d < count ? d : kUsual;  // 0 / 0 is neither
  }
}

// Where a hash stands, or the free place where it would.
std::size_t Ngrams::place(std::uint64_t hash) const {
  std::size_t at = hash >> 1U & (nodes_.size() - 1);
  while (nodes_[at].hash != 0 && nodes_[at].hash != hash) at = (at + 1) & (nodes_.size() - 1);
  return at;
}

Ngrams::Node& Ngrams::node(std::uint64_t hash) {
  if (used_ * 5 > nodes_.size() * 3) {
    std::vector<Node> old(nodes_.size() * 2);
    old.swap(nodes_);
    for (const Node& n : old) {
      if (n.hash != 0) nodes_[place(n.hash)] = n;
    }
  }
  Node& found = nodes_[place(hash)];
  if (found.hash == 0) {
    found.hash = hash;
    ++used_;
  }
  return found;
}

const Ngrams::Node* Ngrams::find(std::uint64_t hash) const {
  const Node& found = nodes_[place(hash)];
  return found.hash == 0 ? nullptr : &found;
}

// A run that is new after a longer history is one more context for the run without its first token, and so on; one
// that was known changes nothing below.
void Ngrams::remember(std::span<const std::int32_t> sequence) {
  for (std::size_t t = 1; t < sequence.size(); ++t) {
    for (std::size_t first = t + 1 > orders_.size() ? t + 1 - orders_.size() : 0; first <= t; ++first) {
      const std::uint64_t before = hash_of(sequence.subspan(first, t - first));
      const std::uint32_t seen = node(extend(before, sequence[t])).count++;
      Node& history = node(before);
      ++history.total;
      // From one class to the next.
      if (seen < kClasses) ++history.followers[seen];
      if (seen > 0 && seen < kClasses) --history.followers[seen - 1];
      auto& runs = orders_[t - first].runs;
      if (seen < runs.size()) ++runs[seen];
      if (seen > 0 && seen <= runs.size()) --runs[seen - 1];
      if (seen > 0) break;
    }
  }
  for (Order& o : orders_) o.fit();
}

Ngrams::Context::Context(const Ngrams& model, std::span<const std::int32_t> before) : model_(&model) {
  for (std::size_t length = 0; length < model.orders_.size() && length <= before.size(); ++length) {
    const std::uint64_t hash = hash_of(before.last(length));
    const Node* history = model.find(hash);
    if (history == nullptr || history->total == 0) break;  // then no longer one is known either
    double shared = 0;
    for (std::size_t k = 0; k < kClasses; ++k) shared += model.orders_[length].discount[k] * history->followers[k];
    levels_[count_++] = {hash, static_cast<double>(history->total), shared};
  }
}

double Ngrams::Context::probability(std::int32_t token, std::size_t tokens) const {
  double p = 1.0 / static_cast<double>(std::max<std::size_t>(1, tokens));
  for (std::size_t k = 0; k < count_; ++k) {
    const Node* run = model_->find(extend(levels_[k].hash, token));
    double own = 0;
    if (run != nullptr && run->count > 0) {
      own = run->count - model_->orders_[k].discount[std::min<std::size_t>(run->count, kClasses) - 1];
    }
    p = (own + levels_[k].shared * p) / levels_[k].total;
  }
  return p;
}

}  // namespace fovea::text
