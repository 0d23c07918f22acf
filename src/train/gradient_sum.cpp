#include "train/gradient_sum.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "fovea/error.hpp"
#include "fovea/threads.hpp"
#include "kernels/kernels.hpp"
#include "kernels/math.hpp"

namespace fovea {
namespace {

constexpr std::int64_t kSlicePiece = 16384;  // values a thread adds at a time

// Calls join(i, j) for the pairs of the tree over `copies` leaves that lie within [begin, end), leaves first: branch i
// takes in branch j.
template <class Join>
void each_pair(int copies, int begin, int end, const Join& join) {
  for (int size = 1; size < copies; size *= 2) {
    for (int i = 0; i + size < copies; i += 2 * size) {
      if (i >= begin && std::min(i + 2 * size, copies) <= end) join(i, i + size);
    }
  }
}

int share(int copies, int count, int rank) {
  return static_cast<int>(static_cast<std::int64_t>(copies) * rank / count);
}

template <class Body>
void in_pieces(std::int64_t size, const Body& body) {
  parallel_for((size + kSlicePiece - 1) / kSlicePiece, 1, [&](std::int64_t begin, std::int64_t end) {
    body(begin * kSlicePiece, std::min(size, end * kSlicePiece));
  });
}

// Adds rows to rows; nothing is left of the former.
void add_rows(RowGradient& from, RowGradient& to) {
  const auto add = kernels::active().math->add_in_place;
  for (std::size_t i = 0; i < from.rows().size(); ++i) {
    add(from.values(i), to.row(from.rows()[i]), static_cast<std::size_t>(from.width()));
  }
  from.clear();
}

// Rows as the gradient of the whole weight.
void spread(RowGradient& rows, const Var& weight) {
  const Tensor whole = Tensor::zeros(weight.shape());
  for (std::size_t i = 0; i < rows.rows().size(); ++i) {
    std::copy_n(rows.values(i), rows.width(), whole.data() + rows.rows()[i] * rows.width());
  }
  rows.clear();
  weight.accumulate(whole);
}

// And back: the rows that are not zero.
void collect(const Var& weight, RowGradient& rows) {
  const Tensor whole = weight.grad();
  for (std::int64_t r = 0; r < whole.dim(0); ++r) {
    const float* from = whole.data() + r * rows.width();
    if (std::all_of(from, from + rows.width(), [](float v) { return v == 0; })) continue;
    std::copy_n(from, rows.width(), rows.row(static_cast<std::int32_t>(r)));
  }
  weight.zero_grad();
}

}  // namespace

GradientSum::GradientSum(Processes& processes, int copies) : processes_(processes), copies_(copies) {
  const int count = processes.count();
  if (copies < count) {
    throw UsageError(fmt::format("replicas: {} are too few for {} processes, each of which needs one", copies, count));
  }
  for (int rank = 0; rank < count; ++rank) {
    const int begin = share(copies, count, rank);
    const int end = share(copies, count, rank + 1);
    std::vector<int> starts;
    for (int i = begin; i < end; ++i) starts.push_back(i);
    each_pair(copies, begin, end, [&](int, int joined) { std::erase(starts, joined); });
    branches_.push_back(std::move(starts));
  }
  begin_ = share(copies, count, processes.rank());
  end_ = share(copies, count, processes.rank() + 1);
}

void GradientSum::operator()(std::span<const Parameters* const> copies,
                             std::span<const std::vector<TrainedRows>> rows) {
  if (by_rows_.empty() && !rows.empty() && !rows[0].empty()) {
    for (const auto& entry : copies[0]->entries()) {
      by_rows_.push_back(
          std::any_of(rows[0].begin(), rows[0].end(), [&](const TrainedRows& one) { return one.name == entry.name; }));
    }
  }
  add_local(copies);
  add_local_rows(rows);
  if (processes_.alone()) return;
  for (std::size_t c = 0; c < rows.size(); ++c) {
    for (const TrainedRows& one : rows[c]) spread(*one.gradient, *copies[c]->find(one.name));
  }
  add_others(copies);
  for (const TrainedRows& one : rows.empty() ? std::vector<TrainedRows>{} : rows[0]) {
    collect(*copies[0]->find(one.name), *one.gradient);
  }
}

void GradientSum::add_local_rows(std::span<const std::vector<TrainedRows>> rows) const {
  if (rows.empty()) return;
  each_pair(copies_, begin_, end_, [&](int into, int from) {
    const auto& sum = rows[static_cast<std::size_t>(into - begin_)];
    const auto& part = rows[static_cast<std::size_t>(from - begin_)];
    for (std::size_t r = 0; r < sum.size(); ++r) add_rows(*part[r].gradient, *sum[r].gradient);
  });
}

void GradientSum::add_local(std::span<const Parameters* const> copies) const {
  const std::size_t entries = copies[0]->entries().size();
  each_pair(copies_, begin_, end_, [&](int into, int from) {
    const auto& sum = copies[static_cast<std::size_t>(into - begin_)]->entries();
    const auto& part = copies[static_cast<std::size_t>(from - begin_)]->entries();
    for (std::size_t e = 0; e < entries; ++e) {
      if (by_rows(e)) continue;
      sum[e].weight.accumulate(part[e].weight.grad());
      part[e].weight.zero_grad();
    }
  });
}

// branches[i] of every leaf i that begins a branch, or null; the sum is left in branches[0].
void GradientSum::add_tree(std::vector<float*>& branches, std::int64_t size) const {
  in_pieces(size, [&](std::int64_t from, std::int64_t to) {
    each_pair(copies_, 0, copies_, [&](int i, int j) {
      float* const into = branches[static_cast<std::size_t>(i)];
      const float* const part = branches[static_cast<std::size_t>(j)];
      if (part == nullptr) return;  // its process has added it
      for (std::int64_t k = from; k < to; ++k) into[k] += part[k];
    });
  });
}

void GradientSum::add_others(std::span<const Parameters* const> copies) {
  const int count = processes_.count();
  const int me = processes_.rank();
  const auto& mine = branches_[static_cast<std::size_t>(me)];
  const auto& entries = copies[0]->entries();
  const std::int64_t weights = copies[0]->count();
  const auto slice = [&](int rank) { return weights * rank / count; };
  const std::int64_t begin = slice(me);
  const std::int64_t width = slice(me + 1) - begin;
  std::size_t strangers = 0;
  for (const auto& starts : branches_) strangers += starts.size();
  strangers -= mine.size();
  own_.resize(mine.size() * static_cast<std::size_t>(weights));
  others_.resize(strangers * static_cast<std::size_t>(width));
  sum_.resize(static_cast<std::size_t>(weights));

  for (std::size_t b = 0; b < mine.size(); ++b) {
    const auto& branch = copies[static_cast<std::size_t>(mine[b] - begin_)]->entries();
    float* to = own_.data() + static_cast<std::int64_t>(b) * weights;
    for (const auto& entry : branch) {
      const Tensor gradient = entry.weight.grad();
      std::memcpy(to, gradient.data(), static_cast<std::size_t>(gradient.size()) * sizeof(float));
      to += gradient.size();
      entry.weight.zero_grad();
    }
  }
  send_.clear();
  receive_.clear();
  tree_.assign(static_cast<std::size_t>(copies_), nullptr);
  for (std::size_t b = 0; b < mine.size(); ++b) {
    tree_[static_cast<std::size_t>(mine[b])] = own_.data() + static_cast<std::int64_t>(b) * weights + begin;
  }
  float* room = others_.data();
  // Each begins with the next one, so that not all of them send to the same.
  for (int step = 1; step < count; ++step) {
    const int to = (me + step) % count;
    const int from = (me + count - step) % count;
    for (std::size_t b = 0; b < mine.size(); ++b) {
      const float* const at = own_.data() + static_cast<std::int64_t>(b) * weights + slice(to);
      send_.push_back({to, std::as_bytes(std::span(at, static_cast<std::size_t>(slice(to + 1) - slice(to))))});
    }
    for (const int start : branches_[static_cast<std::size_t>(from)]) {
      receive_.push_back({from, std::as_writable_bytes(std::span(room, static_cast<std::size_t>(width)))});
      tree_[static_cast<std::size_t>(start)] = room;
      room += width;
    }
  }
  processes_.exchange(send_, receive_);
  add_tree(tree_, width);
  std::memcpy(sum_.data() + begin, tree_[0], static_cast<std::size_t>(width) * sizeof(float));

  send_.clear();
  receive_.clear();
  for (int step = 1; step < count; ++step) {
    const int to = (me + step) % count;
    const int from = (me + count - step) % count;
    send_.push_back(
        {to, std::as_bytes(std::span(sum_).subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(width)))});
    receive_.push_back(
        {from, std::as_writable_bytes(std::span(sum_).subspan(
                   static_cast<std::size_t>(slice(from)), static_cast<std::size_t>(slice(from + 1) - slice(from))))});
  }
  processes_.exchange(send_, receive_);
  const float* at = sum_.data();
  for (const auto& entry : entries) {
    const GradTarget target = entry.weight.grad_target();
    std::memcpy(target.tensor.data(), at, static_cast<std::size_t>(target.tensor.size()) * sizeof(float));
    at += target.tensor.size();
  }
}

}  // namespace fovea
