#include "tasks/captioning/picture_store.hpp"

#include "fovea/error.hpp"
#include "fovea/threads.hpp"

namespace fovea {

PictureStore::PictureStore(std::vector<std::string> places, std::int64_t side, std::int64_t budget)
    : places_(std::move(places)), errors_(places_.size()), side_(side), kept_(places_.size()) {
  const std::int64_t room = budget / (side * side * 3);
  parallel_for(size(), 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const auto at = static_cast<std::size_t>(i);
      try {
        Picture picture = read(i);
        if (i < room) kept_[at] = std::move(picture);
      } catch (const FileError& error) {
        errors_[at] = error.what();
      }
    }
  });
}

Picture PictureStore::read(std::int64_t i) const {
  return square(files_.read(places_[static_cast<std::size_t>(i)]), side_);
}

const Picture& PictureStore::picture(std::int64_t i, Picture& spare) const {
  const Picture& kept = kept_[static_cast<std::size_t>(i)];
  if (!kept.rgb.empty()) return kept;
  return spare = read(i);
}

}  // namespace fovea
