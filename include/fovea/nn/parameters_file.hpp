// The weights of a model in a .safetensors file.
#pragma once

#include <filesystem>

#include "fovea/nn/parameters.hpp"

namespace FOVEA_API fovea {

/// Writes all weights; the file appears whole or not at all. Matrices are stored as `storage` says: int8 has NAME as I8
/// and NAME.scale, [1, columns] or [rows, 1], by which it is multiplied. No layout of a kernel is stored, so that every
/// version and CPU reads the file. Throws Error naming a weight that does not fit.
///
///     save_parameters(parameters, "model.safetensors", Storage::int8);
///     Parameters same = load_parameters("model.safetensors");
void save_parameters(const Parameters& parameters, const std::filesystem::path& file, Storage storage = Storage::f32);

/// The weights of a file, sealed. Throws FileError naming what is wrong. `in_place`: weights are used where the file is
/// mapped, which takes less time and memory; the file must not be written over meanwhile (another may replace it, as
/// save_parameters() does). Matrices in int8 then stay in int8 until their values are read.
[[nodiscard]] Parameters load_parameters(const std::filesystem::path& file, bool in_place = false);

}  // namespace fovea
