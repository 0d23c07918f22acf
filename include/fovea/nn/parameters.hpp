// The named weights of a model: one system for every layer, mechanism and model.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "fovea/nn/weight.hpp"
#include "fovea/ops.hpp"

namespace FOVEA_API fovea {

class Safetensors;

/// Every weight of a model by its name, in the order in which the model asked for them. A model is built by asking: a
/// weight that exists already (from a file, or shared with another copy) is used, the others are made from the seed and
/// the name alone, so the order of asking does not matter. load_parameters() and save_parameters() are in
/// fovea/nn/parameters_file.hpp.
///
///     Parameters parameters(seed);
///     const Linear layer(parameters, "output", 64, 10);
///     Adam adam(parameters, {.rate = 1e-3F});
class Parameters {
 public:
  /// What layers do with a weight.
  enum class Use {
    none,      // no layer has asked for it
    values,    // they read its values
    products,  // they multiply with it, so that pack() packs it
    both,      // values and products
  };
  /// A weight and its name.
  struct Entry {
    std::string name{};                            // as in files
    Shape shape{};                                 // of its values
    Var weight{};                                  // its values and gradient; empty where only int8 is in memory
    Use use = Use::none;                           // by the layers that were built
    std::optional<MatrixLayout> layout{};          // of a matrix that a layer multiplies with
    std::shared_ptr<const PackedWeight> packed{};  // once pack() was called
    std::shared_ptr<const Int8Matrix> stored{};    // as the file has it, where it was loaded so
    bool frozen = false;                           // not trained: layers get its value as a constant

    /// Its values, computed where only int8 is in memory.
    [[nodiscard]] Tensor values() const { return weight ? weight.value() : stored->values(); }
  };

  /// Without weights; new ones will be made from the seed.
  explicit Parameters(std::uint64_t seed = 1) : seed_(seed) {}

  // --- registry (parameters.cpp) -----------------------------------------------------------------------------------
  /// The weight of this name. Throws ShapeError when one of another shape exists. Once sealed, throws Error for a
  /// missing name instead of making it.
  Var get(const std::string& name, const Shape& shape, const Init& init);
  /// The same for a matrix that a layer multiplies with in a form of its own.
  Var get(const std::string& name, const Shape& shape, const Init& init, MatrixLayout layout);
  /// The same for a matrix that a layer multiplies with as it is, so that it may be packed. Throws UsageError when
  /// another layer multiplies with it the other way round.
  Weight matrix(const std::string& name, const Shape& shape, const Init& init,
                MatrixLayout layout = MatrixLayout::in_out);

  /// Puts a weight in before a layer asks for it. Throws Error when the name is taken.
  void put(const std::string& name, Tensor value);
  /// The same for a matrix in int8. Its values are computed only if a layer reads them; a layer that multiplies gets it
  /// packed.
  void put(const std::string& name, Int8Matrix matrix);
  /// Weights whose names begin with this are not trained: layers built from here on, or from a replica, take their
  /// values as constants, and Adam leaves them as they are.
  void freeze(std::string_view prefix);
  /// From now on no weight is made.
  void seal() { sealed_ = true; }

  /// All weights, in the order in which they were asked for.
  [[nodiscard]] const std::vector<Entry>& entries() const { return entries_; }
  /// Null when there is none of this name; Entry::weight otherwise.
  [[nodiscard]] const Var* find(std::string_view name) const;
  [[nodiscard]] std::int64_t count() const;  // numbers in all weights
  /// Shares the values, with gradients of its own: for another thread that builds the same model.
  [[nodiscard]] Parameters replica() const;
  /// Clears all gradients.
  void zero_grad() const;

  // --- packing (packing.cpp) ---------------------------------------------------------------------------------------
  /// Rounds the values to what a file of this storage holds: of int8, every matrix; of f16, the same and all arrays of
  /// more axes. Vectors stay as they are. What is rounded once stays the same. Throws Error naming a weight that holds
  /// a number that does not fit.
  void round(Storage storage);
  /// Packs the matrices that layers multiply with, in this storage. Layers built from here on, or from a replica, use
  /// the packed form. Matrices that were loaded in int8 stay in int8.
  void pack(Storage storage = Storage::f32);
  /// Computes the values of all matrices that were loaded in int8, so that pack() may pack them in another storage.
  void unpack();
  /// The storage that pack() was called with; none: it was not called.
  [[nodiscard]] std::optional<Storage> packed() const { return packed_; }
  /// The storage of the file they were loaded from.
  [[nodiscard]] Storage stored() const { return stored_; }

 private:
  friend Parameters load_parameters(const std::filesystem::path& file, bool in_place);

  Entry& insert(const std::string& name, const Shape& shape);
  Entry& entry(const std::string& name, const Shape& shape, const Init& init, Use use);
  static void read_values(Entry& entry);

  std::uint64_t seed_;
  bool sealed_ = false;
  std::optional<Storage> packed_;
  Storage stored_ = Storage::f32;
  std::shared_ptr<const Safetensors> file_;  // the file whose mapping holds the values, where it does
  std::vector<Entry> entries_;
  std::unordered_map<std::string, std::size_t> index_;
};

}  // namespace fovea
