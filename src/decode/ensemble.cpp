#include "fovea/decode/ensemble.hpp"

#include <fmt/format.h>

#include "fovea/error.hpp"
#include "kernels/kernels.hpp"
#include "kernels/math.hpp"
#include "kernels/rows.hpp"

namespace fovea {
namespace {

// into += from, both [rows, width]
void add_in_place(const Tensor& from, const Tensor& into) {
  kernels::active().math->add_in_place(from.data(), into.data(), static_cast<std::size_t>(into.size()));
}

void divide(const Tensor& sum, std::size_t count) {
  kernels::active().math->scale(1.0F / static_cast<float>(count), sum.data(), sum.data(),
                                static_cast<std::size_t>(sum.size()));
}

}  // namespace

EnsembleStepper::EnsembleStepper(std::vector<std::unique_ptr<Stepper>> members) : members_(std::move(members)) {}

Tensor EnsembleStepper::step(std::span<const std::int32_t> tokens) {
  const kernels::MathKernels& math = *kernels::active().math;
  Tensor sum;
  for (const auto& member : members_) {
    const Tensor p = member->step(tokens);
    if (sum && !(p.shape() == sum.shape())) {
      throw ShapeError(fmt::format("ensemble: logits {} and {}: all models need the same vocabulary", p.shape().text(),
                                   sum.shape().text()));
    }
    kernels::active().rows->softmax(p.data(), p.data(), p.dim(0), p.dim(1));
    if (sum) {
      add_in_place(p, sum);
    } else {
      sum = p;
    }
  }
  divide(sum, members_.size());
  math.log(sum.data(), sum.data(), static_cast<std::size_t>(sum.size()));
  return sum;
}

void EnsembleStepper::restrict_to(std::vector<std::vector<std::int32_t>> candidates) {
  for (const auto& member : members_) member->restrict_to(candidates);
}

std::span<const std::int32_t> EnsembleStepper::candidates(std::int64_t row) const {
  return members_[0]->candidates(row);
}

void EnsembleStepper::keep(std::span<const std::int32_t> rows) {
  for (const auto& member : members_) member->keep(rows);
}

Tensor EnsembleStepper::attention() const {
  Tensor sum;
  std::size_t attending = 0;
  for (const auto& member : members_) {
    const Tensor weights = member->attention();
    if (!weights) continue;
    ++attending;
    if (sum) {
      add_in_place(weights, sum);
    } else {
      sum = weights.clone();
    }
  }
  if (attending > 0) divide(sum, attending);
  return sum;
}

}  // namespace fovea
