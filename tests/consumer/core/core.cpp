// A program that needs attention and no texts.
#include <cstdio>
#include <fovea/attention.hpp>
#include <fovea/error.hpp>
#include <fovea/ops.hpp>
#include <fovea/safetensors.hpp>
#include <string>

int main() {
  const fovea::Var keys = fovea::Var::parameter(fovea::Tensor::of({1, 2, 2}, {1, 0, 0, 1}));
  const fovea::Attended seen = fovea::attend(keys, keys, keys, {.want = {.weights = true}});
  fovea::backward(fovea::sum(seen.context));
  const float* row = seen.weights.value().data();
  std::printf("%.3f %.3f\n", row[0], row[1]);
  try {
    const fovea::Safetensors file("no such file");
    return 1;
  } catch (const fovea::FileError& error) {
    return std::string(error.what()).find("no such file") != std::string::npos && row[0] > row[1] ? 0 : 1;
  }
}
