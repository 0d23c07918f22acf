// Standard input that may be gzip-compressed.
#pragma once

#include <istream>
#include <memory>

namespace fovea::cli {

/// Standard input as text: unpacked when it starts as a gzip file does, and as it is otherwise. Waits for the first
/// byte. The stream that was given must outlive it.
class TextInput {
 public:
  explicit TextInput(std::istream& in);
  ~TextInput();
  TextInput(const TextInput&) = delete;
  TextInput& operator=(const TextInput&) = delete;

  /// Reading from it throws FileError when the gzip data is damaged or cut short.
  [[nodiscard]] std::istream& stream() { return unpacked_ != nullptr ? *unpacked_ : plain_; }

 private:
  class Buffer;
  std::istream& plain_;
  std::unique_ptr<Buffer> buffer_;
  std::unique_ptr<std::istream> unpacked_;
};

}  // namespace fovea::cli
