// Several models that write one output together.
#pragma once

#include <memory>
#include <vector>

#include "fovea/model/stepper.hpp"

namespace FOVEA_API fovea {

/// Decoders of one vocabulary, each with the memory of its own encoder. The probability of a token is the mean of what
/// they give, which is usually mistaken less often than any of them; its attention is the mean of theirs, over those
/// that have attention.
class EnsembleStepper final : public Stepper {
 public:
  /// At least one, all with as many rows.
  explicit EnsembleStepper(std::vector<std::unique_ptr<Stepper>> members);

  /// Logarithms of the mean probabilities. Throws ShapeError when the members' vocabularies differ in size.
  [[nodiscard]] Tensor step(std::span<const std::int32_t> tokens) override;
  void restrict_to(std::vector<std::vector<std::int32_t>> candidates) override;
  [[nodiscard]] std::span<const std::int32_t> candidates(std::int64_t row) const override;
  void keep(std::span<const std::int32_t> rows) override;
  [[nodiscard]] Tensor attention() const override;

 private:
  std::vector<std::unique_ptr<Stepper>> members_;
};

}  // namespace fovea
