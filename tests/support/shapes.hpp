// Pictures of two shapes and what is seen on them, for models that learn to say it.
#pragma once

#include <string>
#include <vector>

#include "base/rng.hpp"
#include "support/pictures.hpp"
#include "support/scratch.hpp"

namespace fovea::test {

struct DescribedPicture {
  Picture picture;
  std::string caption;  // "a red square left of a blue circle"
};

inline DescribedPicture random_shapes(Rng& rng, std::int64_t side) {
  static constexpr struct {
    const char* name;
    Colour colour;
  } kColours[] = {{"red", {220, 30, 30}}, {"green", {30, 170, 60}}, {"blue", {40, 60, 220}}};
  DescribedPicture made{plain_picture(side, side, {240, 240, 240}), ""};
  const auto size = static_cast<double>(side);
  for (int k = 0; k < 2; ++k) {
    const auto& colour = kColours[rng.below(3)];
    const auto kind = rng.below(2) == 0 ? ShapeKind::square : ShapeKind::circle;
    const double x = size * ((k == 0 ? 0.22 : 0.72) + 0.06 * rng.uniform());
    const double y = size * (0.3 + 0.4 * rng.uniform());
    draw(made.picture, kind, colour.colour, x, y, size * 0.16);
    made.caption +=
        std::string(k == 0 ? "a " : " left of a ") + colour.name + (kind == ShapeKind::square ? " square" : " circle");
  }
  return made;
}

/// Files NAME0.png … in a folder, NAME.source with their paths and NAME.target with their captions.
inline std::vector<std::string> write_shapes(const std::filesystem::path& folder, const std::string& name, int count,
                                             std::uint64_t seed, std::int64_t side = 32) {
  Rng rng(seed);
  std::string source, target;
  std::vector<std::string> captions;
  for (int i = 0; i < count; ++i) {
    const DescribedPicture made = random_shapes(rng, side);
    const auto path = folder / (name + std::to_string(i) + ".png");
    write_text(path, png_file(made.picture));
    source += path.string() + "\n";
    target += made.caption + "\n";
    captions.push_back(made.caption);
  }
  write_text(folder / (name + ".source"), source);
  write_text(folder / (name + ".target"), target);
  return captions;
}

}  // namespace fovea::test
