// Which keys are visible: causal, a window, padding and a mask of your own, as patterns of the weights above zero.
#include <cstdint>
#include <cstdio>
#include <vector>

#include "fovea/fovea.hpp"

using namespace fovea;

void show(const char* name, AttendOptions how) {
  constexpr int kWords = 6;
  how.want.weights = true;
  const Tensor x = Tensor::full({1, kWords, 4}, 0.5F);
  const Tensor weights = attend(x, how).weights.value();
  std::printf("%s\n", name);
  for (int i = 0; i < kWords; ++i) {
    std::printf("  ");
    for (int j = 0; j < kWords; ++j) std::printf("%s", weights.data()[i * kWords + j] > 0 ? "#" : ".");
    std::printf("  %.2f each\n",
                weights.data()[i * kWords] > 0 ? weights.data()[i * kWords] : weights.data()[i * kWords + i]);
  }
}

int main() {
  const std::int64_t lengths[] = {4};  // of each sequence of the batch
  std::vector<std::uint8_t> even(36);
  for (std::size_t i = 0; i < even.size(); ++i) even[i] = (i / 6 + i % 6) % 2 == 0 ? 1 : 0;
  show("causal", {.causal = true});
  show("window of one to each side", {.window = 1});
  show("padding from word 4 on", {.lengths = lengths});
  show("causal and window", {.causal = true, .window = 2});
  show("a mask: words an even distance away", {.mask = Mask::of({1, 1, 6, 6}, even)});
}
