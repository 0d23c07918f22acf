// The named weights of a model.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "fovea/var.hpp"

namespace fovea {

namespace kernels {
class PackedMatrix;
}

/// How a new weight starts.
enum class Init {
  zeros,
  ones,
  xavier,     // uniform in +-sqrt(6 / (rows + columns))  (Glorot and Bengio 2010)
  embedding,  // normal with deviation 1 / sqrt(columns); the padding row 0 is zero
  recurrent,  // uniform in +-1 / sqrt(rows)
};

/// Every weight of a model by its name, in the order in which the model asked for them. A model is built by asking:
/// what is there already (from a file, or shared with another copy) is taken, the rest is made from the seed and the
/// name alone, so the order of asking does not matter.
class Parameters {
 public:
  struct Entry {
    std::string name;
    Var weight;
    bool asked = false;
    std::shared_ptr<const kernels::PackedMatrix> packed = {};
  };

  explicit Parameters(std::uint64_t seed = 1) : seed_(seed) {}

  /// The weight of this name. Throws ShapeError when one of another shape is there. With `sealed`, throws Error for a
  /// name that is not there instead of making it.
  Var get(const std::string& name, const Shape& shape, Init init);
  /// Puts a weight in before the model asks for it.
  void put(const std::string& name, Tensor value);
  void seal() { sealed_ = true; }

  [[nodiscard]] const std::vector<Entry>& entries() const { return entries_; }
  [[nodiscard]] const Var* find(std::string_view name) const;
  /// Packs the matrices of layers and of the output for decoding, which uses them many times. What is packed does not
  /// follow later changes of the weights.
  void pack();
  /// The packed form of a weight, or null.
  [[nodiscard]] std::shared_ptr<const kernels::PackedMatrix> packed(std::string_view name) const;
  [[nodiscard]] std::int64_t count() const;  // numbers in all weights
  /// Shares the values, with gradients of its own: for another thread that builds the same model.
  [[nodiscard]] Parameters replica() const;

 private:
  std::uint64_t seed_;
  bool sealed_ = false;
  std::vector<Entry> entries_;
  std::unordered_map<std::string, std::size_t> index_;
};

}  // namespace fovea
