// The formats that weights of other programs are stored in, each as ForeignTensors. Every field is checked against the
// size of the file; faults are FileErrors that name the file.
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include "interop/foreign_tensors.hpp"

namespace fovea::interop {

/// Bytes and what keeps them, under the name that errors use.
struct FileBytes {
  std::span<const std::byte> bytes;
  std::shared_ptr<void> owner;
  std::string name;

  [[nodiscard]] static FileBytes map(const std::filesystem::path& file);
  [[nodiscard]] std::string_view text() const { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }
};

/// PyTorch's torch.save of a state dict: a zip archive of data.pkl and one file per storage. The pickle is read by a
/// few operations and never executed.
[[nodiscard]] ForeignTensors read_torch(const FileBytes& file);
/// Hugging Face's .safetensors.
[[nodiscard]] ForeignTensors read_safetensors(const FileBytes& file);
/// NumPy's .npz: a zip archive of .npy files.
[[nodiscard]] ForeignTensors read_npz(const FileBytes& file);
/// Marian's .bin, version 1.
[[nodiscard]] ForeignTensors read_marian_bin(const FileBytes& file);

/// CTranslate2's model.bin, binary versions 2 to 6. Matrices stored in int8 or int16 are paired with their scales by
/// dequantized().
struct CTranslate2File {
  ForeignTensors tensors;
  std::string spec;        // "TransformerSpec"
  std::uint32_t revision;  // of the spec
};
[[nodiscard]] CTranslate2File read_ctranslate2(const FileBytes& file);

}  // namespace fovea::interop
