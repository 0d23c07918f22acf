// bench_math [--seconds S]: exp, tanh, sigmoid … of every kernel table against scalar libm, in L1.
//   → elements, functions: [{"name","kernels","ns" (per element),"libm_ns","speedup","max_ulp" (of values in this
//   run)}]
#include <CLI/CLI.hpp>
#include <cmath>
#include <cstring>
#include <iostream>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/rng.hpp"
#include "cli/bench/bench.hpp"
#include "kernels/kernels.hpp"
#include "kernels/math.hpp"
#include "kernels/random.hpp"

namespace fovea {
namespace {

using cli::best_nanoseconds;

constexpr std::size_t kElements = 1024;  // 4 KB in and out: well inside the first cache

struct Function {
  const char* name;
  kernels::Map kernels::MathKernels::*kernel;
  double (*truth)(double);
  float low;
  float high;
};

double sigmoid(double x) {
  return x > 0 ? 1 / (1 + std::exp(-x)) : std::exp(x) / (1 + std::exp(x));
}
double gelu(double x) {
  return x * 0.5 * std::erfc(-x * M_SQRT1_2);
}

const Function functions[] = {
    {"exp", &kernels::MathKernels::exp, [](double x) { return std::exp(x); }, -10, 10},
    {"exp_neg", &kernels::MathKernels::exp_neg, [](double x) { return std::exp(x); }, -20, 0},
    {"exp2_neg", &kernels::MathKernels::exp2_neg, [](double x) { return std::exp2(x); }, -20, 0},
    {"tanh", &kernels::MathKernels::tanh, [](double x) { return std::tanh(x); }, -4, 4},
    {"sigmoid", &kernels::MathKernels::sigmoid, sigmoid, -10, 10},
    {"gelu", &kernels::MathKernels::gelu, gelu, -4, 4},
    {"swish", &kernels::MathKernels::swish, [](double x) { return x * sigmoid(x); }, -10, 10},
    {"log", &kernels::MathKernels::log, [](double x) { return std::log(x); }, 0, 10},
};

double ulps(float actual, double truth) {
  int exponent = 0;
  (void)std::frexp(truth, &exponent);
  return std::abs(actual - truth) / std::ldexp(1.0, exponent - 24);
}

nlohmann::json measure(const Function& function, double seconds) {
  std::vector<float> x(kElements);
  std::vector<float> y(kElements);
  Rng rng(1);
  for (float& v : x) v = static_cast<float>(function.low + (function.high - function.low) * rng.uniform());
  nlohmann::json rows = nlohmann::json::array();
  double libm = 0;
  for (const kernels::Table* table : kernels::available()) {
    const kernels::Map kernel = table->math->*function.kernel;
    const double ns =
        best_nanoseconds(seconds, 20, [&] { kernel(x.data(), y.data(), kElements); }) / static_cast<double>(kElements);
    if (rows.empty()) libm = ns;  // the generic table calls libm
    double worst = 0;
    for (std::size_t i = 0; i < kElements; ++i) worst = std::max(worst, ulps(y[i], function.truth(x[i])));
    rows.push_back({{"name", function.name},
                    {"kernels", table->name},
                    {"ns", ns},
                    {"libm_ns", libm},
                    {"speedup", libm / ns},
                    {"max_ulp", worst}});
  }
  return rows;
}

// Dropout against a copy of the same array, 128 KB each.
nlohmann::json measure_dropout(double seconds) {
  constexpr std::size_t kMany = 32768;
  std::vector<float> x(kMany, 1.0F);
  std::vector<float> y(kMany);
  const double copy = best_nanoseconds(seconds, 4,
                                       [&] {
                                         std::memcpy(y.data(), x.data(), kMany * sizeof(float));
                                         asm volatile("" : : "r"(y.data()) : "memory");
                                       }) /
                      kMany;
  nlohmann::json rows = nlohmann::json::array();
  for (const kernels::Table* table : kernels::available()) {
    const double ns =
        best_nanoseconds(seconds, 4,
                         [&] { table->random->dropout({.rate = 0.1F, .seed = 1}, x.data(), y.data(), kMany, false); }) /
        kMany;
    rows.push_back({{"kernels", table->name}, {"ns", ns}, {"copy_ns", copy}, {"ratio", ns / copy}});
  }
  return rows;
}

}  // namespace
}  // namespace fovea

int main(int count, char** arguments) {
  CLI::App app("exp, tanh, sigmoid … of every kernel table against scalar libm, in L1");
  double seconds = 0.05;
  app.add_option("--seconds", seconds, "time per function and kernel table")->check(CLI::Range(0.001, 10.0));
  CLI11_PARSE(app, count, arguments);
  nlohmann::json rows = nlohmann::json::array();
  for (const fovea::Function& function : fovea::functions) {
    for (const auto& row : fovea::measure(function, seconds)) rows.push_back(row);
  }
  const nlohmann::json report{
      {"elements", fovea::kElements}, {"functions", rows}, {"dropout", fovea::measure_dropout(seconds)}};
  std::cout << report << '\n';
  return 0;
}
