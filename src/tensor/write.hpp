// Tensors written into an open file that the caller commits, so that of several files all appear or none.
#pragma once

#include "base/whole_file.hpp"
#include "fovea/npy.hpp"
#include "fovea/safetensors.hpp"

namespace fovea {

/// Writes float32.
void write_npy(WholeFile& file, const Tensor& tensor);
/// Writes all that the writer was given.
void write_safetensors(WholeFile& file, const SafetensorsWriter& writer);

}  // namespace fovea
