#include "attention/both_paths.hpp"
#include "fovea/error.hpp"
#include "fovea/ops.hpp"
#include "support/parameter_gradcheck.hpp"

namespace fovea {
namespace {

using test::check_gradients;
using test::random_tensor;
using Memory = MemoryNetwork::Memory;

TEST(MemoryNetwork, GradientsMatchFiniteDifferencesOverHops) {
  const std::vector<std::int64_t> lengths{5, 3};
  check_gradients(  // key-value memory, one memory, a map after each hop
      [&](Parameters& p, const auto& in) {
        const std::vector<Memory> memory{{in[1], in[2]}};
        return MemoryNetwork(p, "memory", {.dim = 3, .hops = 2})(in[0], memory, lengths).state;
      },
      {random_tensor({2, 1, 3}, 1), random_tensor({2, 5, 3}, 2), random_tensor({2, 5, 3}, 3)});
  check_gradients(  // end-to-end: keys and values per hop
      [](const auto& in) {
        const std::vector<Memory> memories{{in[1], in[2]}, {in[2], in[3]}};
        return MemoryNetwork(2)(in[0], memories).state;
      },
      {random_tensor({2, 1, 3}, 1), random_tensor({2, 5, 3}, 2), random_tensor({2, 5, 3}, 3),
       random_tensor({2, 5, 3}, 4)});
}

TEST(MemoryNetwork, OneHopAddsItsContext) {
  const Tensor q = random_tensor({1, 2, 3}, 1), k = random_tensor({1, 4, 3}, 2), v = random_tensor({1, 4, 3}, 3);
  const std::vector<Memory> memory{{k, v}};
  const auto result = MemoryNetwork()(q, memory, {}, {.weights = true});
  test::expect_near(result.state.value(), add(Var(q), attend(q, k, v, {.score = score::Dot{}}).context).value(), 1e-6);
  ASSERT_EQ(result.hops.size(), 1U);
  EXPECT_EQ(result.hops[0].weights.shape(), (Shape{1, 2, 4}));
}

TEST(MemoryNetwork, HopsAndMemoriesMustFit) {
  const std::vector<Memory> two(2, {Tensor::zeros({1, 4, 3}), Tensor::zeros({1, 4, 3})});
  EXPECT_THROW((void)MemoryNetwork(3)(Tensor::zeros({1, 1, 3}), two), UsageError);
  Parameters p;
  EXPECT_EQ(MemoryNetwork(p, "memory", {.dim = 4, .hops = 3}).maps.size(), 3U);
  EXPECT_THROW(MemoryNetwork(p, "none", {.dim = 4, .hops = 0}), UsageError);
}

}  // namespace
}  // namespace fovea
