#include "fovea/train/adam.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/option_values.hpp"
#include "fovea/error.hpp"
#include "fovea/threads.hpp"
#include "kernels/kernels.hpp"
#include "kernels/optim.hpp"

namespace fovea {
namespace {

constexpr std::int64_t kPiece = 16384;  // values a thread takes at a time
constexpr std::int64_t kRows = 128;     // rows of a gradient that has few

}  // namespace

void AdamOptions::check() const {
  check_ranges(*this);
}

Adam::Adam(Parameters& parameters, const AdamOptions& options, const std::vector<TrainedRows>& rows)
    : parameters_(parameters), options_(options), rows_(parameters.entries().size()) {
  options.check();
  for (const TrainedRows& one : rows) {
    const auto& entries = parameters.entries();
    const auto found =
        std::find_if(entries.begin(), entries.end(), [&](const auto& entry) { return entry.name == one.name; });
    if (found == entries.end()) throw UsageError("rows", fmt::format("{} is not the name of a weight", one.name));
    rows_[static_cast<std::size_t>(found - entries.begin())] = one.gradient;
  }
  for (std::size_t e = 0; e < parameters.entries().size(); ++e) {
    const Var& weight = parameters.entries()[e].weight;
    first_.push_back(Tensor::zeros(weight.shape()));
    second_.push_back(Tensor::zeros(weight.shape()));
    if (options.ema > 0) mean_.push_back(weight.value().clone());
    for (std::int64_t at = 0; at < weight.size() && !rows_[e] && !parameters.entries()[e].frozen; at += kPiece) {
      pieces_.push_back({e, at, std::min(kPiece, weight.size() - at), nullptr});
    }
  }
  whole_ = pieces_.size();
}

// The rows that have a gradient now.
void Adam::find_rows() {
  pieces_.resize(whole_);
  for (std::size_t e = 0; e < rows_.size(); ++e) {
    if (!rows_[e]) continue;
    const auto count = static_cast<std::int64_t>(rows_[e]->rows().size());
    for (std::int64_t at = 0; at < count; at += kRows) {
      pieces_.push_back({e, at, std::min(kRows, count - at), rows_[e].get()});
    }
  }
  squares_.resize(pieces_.size());
}

template <class Body>
void Adam::each_piece(const Body& body) const {
  parallel_for(static_cast<std::int64_t>(pieces_.size()), 4, [&](std::int64_t begin, std::int64_t end) {
    for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) body(i, pieces_[i]);
  });
}

double Adam::norm(double scale) {
  const kernels::OptimKernels& kernels = *kernels::active().optim;
  gradients_.clear();
  for (std::size_t e = 0; e < rows_.size(); ++e) {
    gradients_.push_back(rows_[e] || parameters_.entries()[e].frozen ? Tensor()
                                                                     : parameters_.entries()[e].weight.grad());
  }
  find_rows();
  each_piece([&](std::size_t i, const Piece& p) {
    squares_[i] =
        p.rows != nullptr  // they lie one after the other
            ? kernels.sum_of_squares(p.rows->values(static_cast<std::size_t>(p.at)), p.count * p.rows->width())
            : kernels.sum_of_squares(gradients_[p.entry].data() + p.at, p.count);
  });
  double sum = 0;
  for (const double s : squares_) sum += s;
  return scale * std::sqrt(sum);
}

double Adam::step(double rate, double scale) {
  const double norm = this->norm(scale);
  if (!std::isfinite(norm)) {
    throw Error(
        fmt::format("step {}: the norm of the gradient is {}; a smaller learning rate may help", steps_ + 1, norm));
  }
  update(rate, scale, norm);
  return norm;
}

void Adam::update(double rate, double scale, double norm) {
  const auto number = static_cast<double>(++steps_);
  const auto& entries = parameters_.entries();
  const kernels::OptimKernels& kernels = *kernels::active().optim;
  const auto factor =
      static_cast<float>(scale * (options_.clip > 0 && norm > options_.clip ? options_.clip / norm : 1.0));
  // m / c1 / (sqrt(v / c2) + e) = (m sqrt(c2) / c1) / (sqrt(v) + e sqrt(c2)): one square root and one division a value.
  const double c1 = 1 - std::pow(static_cast<double>(options_.beta1), number);
  const double c2 = 1 - std::pow(static_cast<double>(options_.beta2), number);
  // Early on the mean forgets faster, so that it does not hang on to where the weights started.
  const double steady = options_.ema;
  const double early = number / (number + 9);
  const kernels::AdamStep how{.factor = factor,
                              .beta1 = options_.beta1,
                              .beta2 = options_.beta2,
                              .speed = static_cast<float>(rate * std::sqrt(c2) / c1),
                              .epsilon = static_cast<float>(options_.epsilon * std::sqrt(c2)),
                              .shrink = static_cast<float>(1.0 - rate * options_.weight_decay),
                              .average = static_cast<float>(std::min(steady, early))};
  each_piece([&](std::size_t, const Piece& p) {
    if (p.rows != nullptr) {
      for (auto r = static_cast<std::size_t>(p.at); r < static_cast<std::size_t>(p.at + p.count); ++r) {
        const std::int64_t at = p.rows->rows()[r] * p.rows->width();
        kernels.adam(how, p.rows->values(r), first_[p.entry].data() + at, second_[p.entry].data() + at,
                     entries[p.entry].weight.value().data() + at, nullptr, p.rows->width());
      }
      return;
    }
    kernels.adam(how, gradients_[p.entry].data() + p.at, first_[p.entry].data() + p.at, second_[p.entry].data() + p.at,
                 entries[p.entry].weight.value().data() + p.at, mean_.empty() ? nullptr : mean_[p.entry].data() + p.at,
                 p.count);
  });
  for (std::size_t e = 0; e < entries.size(); ++e) {
    if (!rows_[e]) {
      entries[e].weight.zero_grad();
      continue;
    }
    rows_[e]->clear();
    if (mean_.empty()) continue;
    // The mean of a row moves also when the row does not.
    const Tensor& weight = entries[e].weight.value();
    parallel_for(weight.size(), kPiece, [&](std::int64_t begin, std::int64_t end) {
      kernels.average(how.average, weight.data() + begin, mean_[e].data() + begin, end - begin);
    });
  }
}

}  // namespace fovea
