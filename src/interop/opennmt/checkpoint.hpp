// A checkpoint of OpenNMT-py: weights, options and vocabularies in one file of PyTorch's.
#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "interop/torch_file.hpp"

namespace fovea::interop {

/// Vocabularies are torchtext's fields (up to 2.x) or lists of tokens (3.x). Every fault is a FileError.
class OpenNmtCheckpoint {
 public:
  explicit OpenNmtCheckpoint(const FileBytes& file);

  ForeignTensors tensors;                   // those of the output layer begin with "generator."
  std::vector<std::string> source, target;  // tokens by id
  std::string start = "<s>";                // what the decoder is fed first

  /// An option of the training as text, "true" and "false" for flags; `otherwise` where it is not there, or none.
  [[nodiscard]] std::string option(const char* name, const std::string& otherwise) const;
  /// Throws unless the option has one of these values.
  void need(const char* name, const std::string& otherwise, std::initializer_list<const char*> possible) const;

 private:
  [[nodiscard]] const PickleValue& part(const char* name) const;
  [[nodiscard]] std::vector<std::string> tokens(const char* side) const;

  TorchFile file_;
};

}  // namespace fovea::interop
