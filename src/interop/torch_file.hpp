// A file of PyTorch's torch.save: a zip archive of data.pkl and one file per storage.
#pragma once

#include <map>
#include <string>

#include "interop/files.hpp"
#include "interop/pickle.hpp"
#include "interop/zip.hpp"

namespace fovea::interop {

/// The pickle is read by a few operations and never executed.
class TorchFile {
 public:
  explicit TorchFile(const FileBytes& file);

  [[nodiscard]] const Pickle& pickle() const { return pickle_; }
  /// The dictionary that was saved.
  [[nodiscard]] const PickleValue& top() const { return pickle_[pickle_.top]; }
  /// Adds the tensors of a dictionary, their names with `prefix` before them. Throws for a value that is no tensor.
  void add(ForeignTensors& tensors, const PickleValue& dictionary, const std::string& prefix = {}) const;

 private:
  std::string name_;
  std::map<std::string, ZipEntry> storages_;
  Pickle pickle_;
};

}  // namespace fovea::interop
