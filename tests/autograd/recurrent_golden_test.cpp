#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "fovea/ops.hpp"
#include "fovea/recurrent.hpp"
#include "support/golden.hpp"

namespace fovea {
namespace {

using test::Golden;
using test::weigh;

TEST(Gru, AgreesWithPyTorchBothWaysOverPackedSequences) {
  const Golden golden("gru");
  const auto weights = [&](const std::string& way) {
    return GruWeights{golden.leaf(way + ".input"), golden.leaf(way + ".state"), golden.leaf(way + ".bias"),
                      golden.leaf(way + ".state_bias")};
  };
  const GruWeights f = weights("forward");
  const GruWeights b = weights("backward");
  const Var x = golden.leaf("x");
  const Var first = golden.leaf("first");
  const Recurrent run = bidirectional_gru(x, f, b, {.lengths = golden.lengths()}, first);
  golden.check("states", run.states);
  golden.check("last", run.last);
  backward(add(weigh(run.states, golden.r("states")), weigh(run.last, golden.r("last"))));
  golden.expect_gradient("x", x);
  golden.expect_gradient("first", first);
  for (const auto& [way, w] : {std::pair{std::string("forward"), f}, std::pair{std::string("backward"), b}}) {
    golden.expect_gradient(way + ".input", w.input);
    golden.expect_gradient(way + ".state", w.state);
    golden.expect_gradient(way + ".bias", w.bias);
    golden.expect_gradient(way + ".state_bias", w.state_bias);
  }
}

TEST(Lstm, AgreesWithPyTorchBothWaysOverPackedSequences) {
  const Golden golden("lstm");
  const auto weights = [&](const std::string& way) {
    return LstmWeights{golden.leaf(way + ".input"), golden.leaf(way + ".state"), golden.leaf(way + ".bias")};
  };
  const LstmWeights f = weights("forward");
  const LstmWeights b = weights("backward");
  const Var x = golden.leaf("x");
  const Var first = golden.leaf("first");
  const Var cell = golden.leaf("cell");
  const Recurrent run = bidirectional_lstm(x, f, b, {.lengths = golden.lengths()}, first, cell);
  golden.check("states", run.states);
  golden.check("last", run.last);
  golden.check("last_cell", run.last_cell);
  backward(add(add(weigh(run.states, golden.r("states")), weigh(run.last, golden.r("last"))),
               weigh(run.last_cell, golden.r("last_cell"))));
  golden.expect_gradient("x", x);
  golden.expect_gradient("first", first);
  golden.expect_gradient("cell", cell);
  for (const auto& [way, w] : {std::pair{std::string("forward"), f}, std::pair{std::string("backward"), b}}) {
    golden.expect_gradient(way + ".input", w.input);
    golden.expect_gradient(way + ".state", w.state);
    golden.expect_gradient(way + ".bias", w.bias);
  }
}

}  // namespace
}  // namespace fovea
