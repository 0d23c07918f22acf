// Long sequences: 4096 words attend to each other, forward and backward, and the 4096 x 4096 weights never exist.
#include <cstdio>
#include <fstream>
#include <string>

#include "fovea/fovea.hpp"

// The most memory this process ever had, in MB.
long peak_memory() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM:")) return std::stol(line.substr(6)) / 1024;
  }
  return 0;
}

int main() {
  using namespace fovea;
  constexpr std::int64_t kWords = 4096, kWidth = 16;
  const Tensor x = Tensor::empty({1, kWords, kWidth});
  for (std::int64_t i = 0; i < x.size(); ++i) x.data()[i] = static_cast<float>((i * 7919) % 1009) / 1009 - 0.5F;

  const long before = peak_memory();
  const Var words = Var::parameter(x);
  const Attended result = attend(words, {.causal = true, .want = {.top = 2}});
  backward(sum(result.context));
  const long used = peak_memory() - before;

  std::printf("weights as a matrix: %lld MB\n", static_cast<long long>(kWords * kWords * 4 / (1 << 20)));
  std::printf("forward and backward in less than 16 MB: %s\n", used < 16 ? "yes" : "no");
  std::printf("the first word attended to word %lld with weight %.2f\n", static_cast<long long>(result.top.index[0]),
              result.top.weight.data()[0]);
  std::printf("the last word's largest two: %lld, %lld\n", static_cast<long long>(result.top.index[2 * (kWords - 1)]),
              static_cast<long long>(result.top.index[2 * (kWords - 1) + 1]));
}
