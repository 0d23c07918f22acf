// The pictures of a training: cut and resized once, or once more whenever they are needed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fovea/picture.hpp"

namespace fovea {

/// Pictures by number, each a square of one size. Those that cannot be read are known from the start.
class PictureStore {
 public:
  /// Reads every picture once, on all threads. Those that fit into `budget` bytes are kept as pixels; the others are
  /// decoded anew each time.
  PictureStore(std::vector<std::string> places, std::int64_t side, std::int64_t budget = std::int64_t{2} << 30);

  [[nodiscard]] std::int64_t size() const { return static_cast<std::int64_t>(places_.size()); }
  [[nodiscard]] const std::string& place(std::int64_t i) const { return places_[static_cast<std::size_t>(i)]; }
  /// What is wrong with a picture; empty: nothing.
  [[nodiscard]] const std::string& error(std::int64_t i) const { return errors_[static_cast<std::size_t>(i)]; }
  /// The pixels: those that are kept, or decoded into `spare`.
  [[nodiscard]] const Picture& picture(std::int64_t i, Picture& spare) const;

 private:
  [[nodiscard]] Picture read(std::int64_t i) const;

  PictureFiles files_;
  std::vector<std::string> places_, errors_;
  std::int64_t side_;
  std::vector<Picture> kept_;  // without pixels: not kept
};

}  // namespace fovea
