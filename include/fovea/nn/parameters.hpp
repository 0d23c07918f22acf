// The named weights of a model: one system for every layer, mechanism and model.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "fovea/ops.hpp"
#include "fovea/packed_weight.hpp"
#include "fovea/var.hpp"

namespace FOVEA_API fovea {

class Safetensors;
struct FilePacked;

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

/// A matrix that a layer multiplies with: the values that are trained, and the packed form once there is one.
struct Weight {
  Var var{};                                     // the values that are trained
  MatrixLayout layout = MatrixLayout::in_out;    // which way round they are
  std::shared_ptr<const PackedWeight> packed{};  // for inference; may be empty

  /// Whether there is one.
  explicit operator bool() const { return static_cast<bool>(var); }
  /// Width of what is multiplied with it.
  [[nodiscard]] std::int64_t in() const { return var.dim(layout == MatrixLayout::in_out ? 0 : 1); }
  /// Width of the product.
  [[nodiscard]] std::int64_t out() const { return var.dim(layout == MatrixLayout::in_out ? 1 : 0); }
  /// Its numbers, out of the packed form where a file has only that.
  [[nodiscard]] Tensor values() const;
  /// f(x W + b) without a gradient, on the packed form if there is one.
  [[nodiscard]] Tensor product(const Tensor& x, const Tensor& bias = {},
                               Activation activation = Activation::none) const;
};

/// Every weight of a model by its name, in the order in which the model asked for them. A model is built by asking:
/// what is there already (from a file, or shared with another copy) is taken, the rest is made from the seed and the
/// name alone, so the order of asking does not matter.
///
///     Parameters parameters(seed);
///     const Linear layer(parameters, "output", 64, 10);
///     Adam adam(parameters, {.rate = 1e-3F});
class Parameters {
 public:
  /// A weight and its name.
  struct Entry {
    std::string name;                                 // as in files
    Var weight;                                       // its values and gradient
    bool used = false;                                // a layer has asked for it
    std::optional<MatrixLayout> layout;               // of a matrix that a layer multiplies with
    bool to_pack = false;                             // the layer multiplies with the packed form
    std::shared_ptr<const PackedWeight> packed = {};  // once pack() was called
    bool frozen = false;                              // not trained: layers get its value as a constant
    bool read = false;                                // a layer has asked for its values as they are
    bool mapped = false;                              // `packed` stands in the file
  };

  /// Without weights; new ones will be made from the seed.
  explicit Parameters(std::uint64_t seed = 1) : seed_(seed) {}

  /// The weight of this name. Throws ShapeError when one of another shape is there. Once sealed, throws Error for a
  /// name that is not there instead of making it.
  Var get(const std::string& name, const Shape& shape, const Init& init);
  /// The same for a matrix that a layer multiplies with in a form of its own.
  Var get(const std::string& name, const Shape& shape, const Init& init, MatrixLayout layout);
  /// The same for a matrix that a layer multiplies with as it is, so that it may be packed. Throws UsageError when
  /// another layer multiplies with it the other way round.
  Weight matrix(const std::string& name, const Shape& shape, const Init& init,
                MatrixLayout layout = MatrixLayout::in_out);

  /// Puts a weight in before a layer asks for it. Throws Error when the name is taken.
  void put(const std::string& name, Tensor value);
  /// Weights whose names begin with this are not trained: layers built from here on, or from a replica, take their
  /// values as constants, and Adam leaves them as they are.
  void freeze(std::string_view prefix);
  /// From now on nothing new is made.
  void seal() { sealed_ = true; }

  /// All weights, in the order in which they were asked for.
  [[nodiscard]] const std::vector<Entry>& entries() const { return entries_; }
  /// Null when there is none of this name.
  [[nodiscard]] const Var* find(std::string_view name) const;
  [[nodiscard]] std::int64_t count() const;  // numbers in all weights

  /// Rounds the values to what a file of this storage holds: of int8, every matrix; of f16, the same and all arrays of
  /// more axes. Vectors stay as they are. What is rounded once stays the same. Throws Error naming a weight that holds
  /// a number that does not fit.
  void round(Storage storage);
  /// Packs the matrices that layers multiply with, stored so. Layers built from here on, or from a replica, use the
  /// packed form.
  void pack(Storage storage = Storage::f32);
  /// How pack() stored them; none: it was not called.
  [[nodiscard]] std::optional<Storage> packed() const { return packed_; }
  /// How the file that they were loaded from stored them.
  [[nodiscard]] Storage stored() const { return stored_; }
  /// Takes weights out of the packed form that their file has: their values are there again, and pack() packs them
  /// anew.
  void unpack();
  /// Shares the values, with gradients of its own: for another thread that builds the same model.
  [[nodiscard]] Parameters replica() const;
  /// Clears all gradients.
  void zero_grad() const;

  /// All weights as one .safetensors file, which appears whole or not at all. Matrices are stored as `storage` says:
  /// int8 has NAME as I8 and NAME.scale, [1, columns] or [rows, 1], by which it is multiplied.
  void save(const std::filesystem::path& file, Storage storage = Storage::f32) const;
  /// The same, rounded to that storage, with what layers multiply with as pack() lays it out on this machine:
  /// NAME.packed as U8, described in the header's metadata. Matrices that are read in another way (embeddings) are F32,
  /// so that nothing need be converted. The layers must have been built.
  void save_packed(const std::filesystem::path& file, Storage storage) const;
  /// The weights of a file, sealed. Throws FileError naming what is wrong. `in_place`: they are used where the file is
  /// mapped, which takes less time and memory; the file must not be written over meanwhile (another may take its place,
  /// as save() does). Weights that are packed in the file then have no values of their own (Weight::values() unpacks
  /// them): they multiply and cannot be trained. Where this machine's products want another layout, or without
  /// `in_place`, they are unpacked.
  [[nodiscard]] static Parameters load(const std::filesystem::path& file, bool in_place = false);

 private:
  Entry& entry(const std::string& name, const Shape& shape, const Init& init);
  Entry& entry(const std::string& name, const Shape& shape, const Init& init, MatrixLayout layout);
  static void unpack(Entry& entry);
  void put_packed(FilePacked weight, const std::filesystem::path& file);

  std::uint64_t seed_;
  bool sealed_ = false;
  std::optional<Storage> packed_;
  Storage stored_ = Storage::f32;
  std::shared_ptr<const Safetensors> file_;  // that they are used in place of
  std::vector<Entry> entries_;
  std::unordered_map<std::string, std::size_t> index_;
};

}  // namespace fovea
