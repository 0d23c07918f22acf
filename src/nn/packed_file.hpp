// Packed weights in a file.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "fovea/nn/parameters.hpp"
#include "fovea/safetensors.hpp"

namespace fovea {

/// What a packed weight is called in a file, behind its name.
inline constexpr const char* kPacked = ".packed";
/// The entry of the file's metadata that says how packed weights are stored.
inline constexpr const char* kStorage = "storage";

/// In place of values that stand only in a packed form: their shape, and NaN wherever somebody reads them all the same.
[[nodiscard]] Tensor packed_stand_in(const Shape& shape);
/// Whether a tensor is one.
[[nodiscard]] bool stands_for_packed(const Tensor& values);

/// A packed weight of a file.
struct FilePacked {
  std::string name;                            // of the weight
  MatrixLayout layout = MatrixLayout::in_out;  // which way round
  Shape shape;                                 // of its values
  std::shared_ptr<const PackedWeight> packed;  // where it stands in the file; null: it must be unpacked
  Tensor values;                               // unpacked; none if `packed` is there
};

/// Puts a weight into a file, rounded and packed.
void add_packed(SafetensorsWriter& writer, const Parameters::Entry& entry, Storage storage);
/// The storage of a file with packed weights; none: it has none. Throws FileError naming `path`.
[[nodiscard]] std::optional<Storage> packed_storage(const Safetensors& file, const std::filesystem::path& path);
/// The packed weight that an entry of a file is; none if it is something else. Everything is checked before it is
/// used; throws FileError. `in_place`: where it stands, if this machine's products can use it so.
[[nodiscard]] std::optional<FilePacked> read_packed(const std::shared_ptr<const Safetensors>& file,
                                                    const Safetensors::Entry& entry, const std::filesystem::path& path,
                                                    bool in_place);

}  // namespace fovea
