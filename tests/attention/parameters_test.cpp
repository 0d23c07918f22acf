// Every mechanism and its weights: by name, from a seed, shared with a replica.
#include "fovea/nn/parameters.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "attention/both_paths.hpp"
#include "fovea/error.hpp"
#include "fovea/ops.hpp"
#include "support/parameter_gradcheck.hpp"

namespace fovea {
namespace {

using test::random_tensor;
using testing::UnorderedElementsAreArray;
using Names = std::vector<std::string>;

struct Mechanism {
  std::string type;
  std::function<Var(Parameters&)> run;  // builds it as "m" and applies it
  Names weights;                        // behind "m."
};

Var both(const CoAttended& attended) {
  return add(sum(attended.a), sum(attended.b));
}

const std::vector<Mechanism>& mechanisms() {
  static const Tensor x = random_tensor({2, 4, 6}, 1), y = random_tensor({2, 5, 3}, 2);
  static const std::vector<std::int64_t> row_start{0, 2, 3, 4, 6}, column{0, 3, 1, 2, 0, 3}, dims{6, 6};
  static const std::vector<Mechanism> all{
      {"MultiHead",
       [](Parameters& p) {
         return MultiHead(p, "m", {.dim = 6, .heads = 2, .kv_heads = 1, .memory_dim = 3})(x, y).context;
       },
       {"query.weight", "query.bias", "key.weight", "key.bias", "value.weight", "value.bias", "output.weight",
        "output.bias"}},
      {"SelfAttention",
       [](Parameters& p) { return SelfAttention(p, "m", {.dim = 6, .heads = 3, .bias = false})(x).context; },
       {"query.weight", "key.weight", "value.weight", "output.weight"}},
      {"LearnedPooling",
       [](Parameters& p) { return LearnedPooling(p, "m", {.dim = 6, .queries = 2})(x).context; },
       {"queries"}},
      {"ContextPooling", [](Parameters& p) { return ContextPooling(p, "m", 6, 4)(x).context; }, {"w", "b", "context"}},
      {"HierarchicalAttention",
       [](Parameters& p) {
         return HierarchicalAttention(p, "m", {.word_dim = 3, .hidden = 4})(reshape(Var(x), {2, 4, 2, 3})).document;
       },
       {"words.w", "words.b", "words.context", "sentences.w", "sentences.b", "sentences.context"}},
      {"ParallelCoAttention",
       [](Parameters& p) { return both(ParallelCoAttention(p, "m", {.dim_a = 6, .dim_b = 3, .hidden = 4})(x, y)); },
       {"w", "w_a", "w_b", "v_a", "v_b"}},
      {"AlternatingCoAttention",
       [](Parameters& p) { return both(AlternatingCoAttention(p, "m", {.dim_a = 6, .dim_b = 3, .hidden = 4})(x, y)); },
       {"first.w_x", "first.w_g", "first.v", "second.w_x", "second.w_g", "second.v", "third.w_x", "third.w_g",
        "third.v"}},
      {"MultiRepresentational",
       [](Parameters& p) {
         return MultiRepresentational(p, "m", dims, 5)(std::vector<Var>{x, random_tensor({2, 4, 6}, 3)}).mixed;
       },
       {"0.weight", "0.bias", "1.weight", "1.bias", "context"}},
      {"MultiDimensional", [](Parameters& p) { return MultiDimensional(p, "m", 6)(x); }, {"w_1", "w_2", "b"}},
      {"MultiDimensionalPooling",
       [](Parameters& p) { return MultiDimensionalPooling(p, "m", 6)(x); },
       {"w_1", "b_1", "w", "b"}},
      {"MemoryNetwork",
       [](Parameters& p) {
         const std::vector<MemoryNetwork::Memory> memory{{x, x}};
         return MemoryNetwork(p, "m", {.dim = 6, .hops = 2})(random_tensor({2, 1, 6}, 3), memory).state;
       },
       {"map.0", "map.1"}},
      {"Pointer",
       [](Parameters& p) { return Pointer(p, "m", {.query_dim = 6, .key_dim = 3, .hidden = 4})(x, y); },
       {"w", "u", "v"}},
      {"CopyGate",
       [](Parameters& p) { return CopyGate(p, "m", {.context_dim = 6, .state_dim = 6, .input_dim = 6})(x, x, x); },
       {"state.weight", "state.bias", "input.weight", "memory.weight"}},
      {"CoverageAttention",
       [](Parameters& p) {
         return CoverageAttention(p, "m", {.query_dim = 6, .key_dim = 3, .hidden = 4})(x, y, y).context;
       },
       {"w", "u", "v", "b", "coverage_weight"}},
      {"GraphAttention",
       [](Parameters& p) {
         return GraphAttention(p, "m", {.dim = 6, .out = 3, .heads = 2})(x.select(0, 0), {row_start, column}).context;
       },
       {"w", "a_target", "a_source"}},
  };
  return all;
}

TEST(MechanismParameters, HaveTheMechanismsNameAsPrefix) {
  for (const Mechanism& m : mechanisms()) {
    SCOPED_TRACE(m.type);
    Parameters p;
    (void)m.run(p);
    Names expected, names;
    for (const std::string& name : m.weights) expected.push_back("m." + name);
    for (const auto& entry : p.entries()) names.push_back(entry.name);
    EXPECT_THAT(names, UnorderedElementsAreArray(expected));
  }
}

TEST(MechanismParameters, BuildingAgainTakesTheSameWeights) {
  for (const Mechanism& m : mechanisms()) {
    SCOPED_TRACE(m.type);
    Parameters p(5), same(5), other(6);
    const Tensor first = m.run(p).value();
    const std::size_t count = p.entries().size();
    p.seal();
    test::expect_same_bytes(m.run(p).value(), first);
    EXPECT_EQ(p.entries().size(), count);
    test::expect_same_bytes(m.run(same).value(), first);
    const Tensor different = m.run(other).value();
    EXPECT_FALSE(std::ranges::equal(different.contiguous().values(), first.contiguous().values()));
  }
}

TEST(MechanismParameters, AReplicaSharesValuesAndHasGradientsOfItsOwn) {
  for (const Mechanism& m : mechanisms()) {
    SCOPED_TRACE(m.type);
    Parameters p(5);
    const Tensor first = m.run(p).value();
    test::scatter(p);  // away from biases of 0 whose gradient might be too
    Parameters replica = p.replica();
    const Var output = m.run(replica);
    test::expect_same_bytes(output.value(), m.run(p).value());
    backward(output, random_tensor(output.shape(), 9));
    ASSERT_EQ(replica.entries().size(), p.entries().size());
    for (std::size_t i = 0; i < p.entries().size(); ++i) {
      SCOPED_TRACE(p.entries()[i].name);
      const Var &own = p.entries()[i].weight, &shared = replica.entries()[i].weight;
      EXPECT_EQ(own.value().data(), shared.value().data());
      const auto zero = [](float g) { return g == 0; };
      EXPECT_TRUE(std::ranges::all_of(own.grad().values(), zero));
      EXPECT_FALSE(std::ranges::all_of(shared.grad().values(), zero));
    }
    EXPECT_FALSE(std::ranges::equal(first.contiguous().values(), output.value().contiguous().values()));
  }
}

TEST(MechanismParameters, ASizeThatWasLeftOutIsNamed) {
  Parameters p;
  const auto message = [](const std::function<void()>& build) -> std::string {
    try {
      build();
    } catch (const UsageError& error) {
      return error.what();
    }
    return {};
  };
  using testing::HasSubstr;
  EXPECT_THAT(message([&] { Pointer(p, "m", {.query_dim = 6, .hidden = 4}); }), HasSubstr("m: key_dim 0"));
  EXPECT_THAT(message([&] { CoverageAttention(p, "m", {.query_dim = 6, .key_dim = 4}); }), HasSubstr("m: hidden 0"));
  EXPECT_THAT(message([&] { CopyGate(p, "m", {.context_dim = 1, .state_dim = 2}); }), HasSubstr("m: input_dim 0"));
  EXPECT_THAT(message([&] { GraphAttention(p, "m", {.dim = 6}); }), HasSubstr("m: out 0"));
  EXPECT_THAT(message([&] { ParallelCoAttention(p, "m", {.dim_a = 6}); }), HasSubstr("m: dim_b 0"));
  EXPECT_THAT(message([&] { AlternatingCoAttention(p, "m", {.dim_b = 6}); }), HasSubstr("m: dim_a 0"));
  EXPECT_THAT(message([&] { HierarchicalAttention(p, "m", {.hidden = 6}); }), HasSubstr("m: word_dim 0"));
  EXPECT_THAT(message([&] { LearnedPooling(p, "m", {.dim = 6, .queries = 0}); }), HasSubstr("m: queries 0"));
  EXPECT_THAT(message([&] { ContextPooling(p, "m", 6, -1); }), HasSubstr("m: hidden -1"));
  EXPECT_TRUE(p.entries().empty());  // nothing was made before the check
}

}  // namespace
}  // namespace fovea
