// A weight that a layer has asked for, and how a new one starts.
#pragma once

#include <cstdint>
#include <memory>

#include "fovea/packed_weight.hpp"
#include "fovea/var.hpp"

namespace FOVEA_API fovea {

/// How a new weight starts.
struct Init {
  /// How the numbers are chosen.
  enum class Kind { constant, uniform, normal, xavier, recurrent, embedding };
  Kind kind = Kind::constant;  // see below
  double scale = 0;            // the constant, the uniform's limit, the normal's deviation

  static const Init zeros, ones;  // all 0, all 1
  static const Init xavier;       // uniform in +-sqrt(6 / (rows + columns))  (Glorot and Bengio 2010)
  static const Init recurrent;    // uniform in +-1 / sqrt(rows)
  static const Init embedding;    // normal with deviation 1 / sqrt(columns); the padding row 0 is zero
  /// Between -limit and limit.
  [[nodiscard]] static constexpr Init uniform(double limit) { return {Kind::uniform, limit}; }
  /// With mean 0 and this deviation.
  [[nodiscard]] static constexpr Init normal(double deviation) { return {Kind::normal, deviation}; }
};
inline constexpr Init Init::zeros{Init::Kind::constant, 0};
inline constexpr Init Init::ones{Init::Kind::constant, 1};
inline constexpr Init Init::xavier{Init::Kind::xavier, 0};
inline constexpr Init Init::recurrent{Init::Kind::recurrent, 0};
inline constexpr Init Init::embedding{Init::Kind::embedding, 0};

/// A matrix that a layer multiplies with: its values, a packed form, or both.
struct Weight {
  Var var{};                                     // the values that are trained; empty where only a packed form exists
  MatrixLayout layout = MatrixLayout::in_out;    // which way round they are
  std::shared_ptr<const PackedWeight> packed{};  // for inference; may be empty

  /// Whether there is a matrix.
  explicit operator bool() const { return static_cast<bool>(var) || packed != nullptr; }
  /// Width of what is multiplied with it.
  [[nodiscard]] std::int64_t in() const { return var ? var.dim(layout == MatrixLayout::in_out ? 0 : 1) : packed->in(); }
  /// Width of the product.
  [[nodiscard]] std::int64_t out() const {
    return var ? var.dim(layout == MatrixLayout::in_out ? 1 : 0) : packed->out();
  }
  /// Its values as a part of the tape; computed from the packed form where there are no others.
  [[nodiscard]] Var values() const;
  /// For an op that uses the packed form where nothing is recorded: the values, or nothing where it needs none.
  [[nodiscard]] Var values_for(const Var& x) const { return var || !recording({x}) ? var : values(); }
  /// f(x W + b) without a gradient, on the packed form if there is one.
  [[nodiscard]] Tensor product(const Tensor& x, const Tensor& bias = {},
                               Activation activation = Activation::none) const;
};

}  // namespace fovea
