#include "kernels/rnn.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "kernels/kernels.hpp"

namespace fovea::kernels {
namespace {

using Values = std::vector<float>;

Values random_values(std::int64_t n, unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal(0.0F, 1.0F);
  Values v(static_cast<std::size_t>(n));
  for (float& x : v) x = normal(generator);
  return v;
}

void expect_close(const Values& actual, const Values& expected, const char* table, std::int64_t h) {
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i) {
    EXPECT_NEAR(actual[i], expected[i], 2e-6F * std::max(1.0F, std::abs(expected[i])))
        << table << " h " << h << " value " << i;
  }
}

// Runs one row on a table; gathers everything that was written.
Values gru_forward(const Table& table, std::int64_t h, bool want_out) {
  Values gates = random_values(4 * h, 1);
  const Values products = random_values(3 * h, 2);
  const Values more = random_values(3 * h, 6);
  const Values bias = random_values(3 * h, 3);
  const Values state_bias = random_values(h, 4);
  Values state = random_values(h, 5);
  Values out(static_cast<std::size_t>(h), -9.0F);
  table.rnn->gru_forward(h, {gates.data(), gates.data(), want_out ? more.data() : nullptr, products.data(), bias.data(),
                             state_bias.data(), state.data(), want_out ? out.data() : nullptr});
  gates.insert(gates.end(), state.begin(), state.end());
  gates.insert(gates.end(), out.begin(), out.end());
  return gates;
}

Values gru_backward(const Table& table, std::int64_t h, bool full) {
  Values gates = random_values(4 * h, 1);
  const Values before = random_values(h, 2);
  const Values dout = random_values(h, 3);
  Values carry = random_values(h, 4);
  Values products(static_cast<std::size_t>(3 * h));
  Values inputs(static_cast<std::size_t>(3 * h));
  Values dbias = random_values(4 * h, 5);
  table.rnn->gru_backward(h, {gates.data(), full ? before.data() : nullptr, full ? dout.data() : nullptr, carry.data(),
                              products.data(), full ? inputs.data() : nullptr, dbias.data()});
  for (const Values& v : {carry, products, inputs, dbias}) gates.insert(gates.end(), v.begin(), v.end());
  return gates;
}

Values lstm_forward(const Table& table, std::int64_t h, bool full) {
  Values gates = random_values(4 * h, 1);
  const Values products = random_values(4 * h, 2);
  const Values more = random_values(4 * h, 6);
  const Values bias = random_values(4 * h, 3);
  Values cell = random_values(h, 4);
  Values cell_out(static_cast<std::size_t>(h));
  Values state(static_cast<std::size_t>(h));
  Values out(static_cast<std::size_t>(h));
  table.rnn->lstm_forward(
      h, {gates.data(), gates.data(), full ? more.data() : nullptr, products.data(), bias.data(), cell.data(),
          full ? cell_out.data() : nullptr, state.data(), full ? out.data() : nullptr});
  for (const Values& v : {cell, cell_out, state, out}) gates.insert(gates.end(), v.begin(), v.end());
  return gates;
}

Values lstm_backward(const Table& table, std::int64_t h, bool full) {
  Values gates = random_values(4 * h, 1);
  const Values cell = random_values(h, 2);
  const Values before = random_values(h, 3);
  const Values dout = random_values(h, 4);
  const Values carry = random_values(h, 5);
  Values carry_cell = random_values(h, 6);
  Values products(static_cast<std::size_t>(4 * h));
  Values dbias = random_values(4 * h, 7);
  table.rnn->lstm_backward(h, {gates.data(), cell.data(), full ? before.data() : nullptr, full ? dout.data() : nullptr,
                               carry.data(), carry_cell.data(), products.data(), dbias.data()});
  for (const Values& v : {carry_cell, products, dbias}) gates.insert(gates.end(), v.begin(), v.end());
  return gates;
}

Values ssru_forward(const Table& table, std::int64_t h, bool full) {
  const Values x = random_values(h, 1);
  Values gate = random_values(h, 2);
  Values cell = random_values(h, 3);
  Values kept(static_cast<std::size_t>(h));
  Values out(static_cast<std::size_t>(h));
  table.rnn->ssru_forward(h, {x.data(), gate.data(), cell.data(), full ? kept.data() : nullptr, out.data()});
  for (const Values& v : {cell, kept, out}) gate.insert(gate.end(), v.begin(), v.end());
  return gate;
}

Values ssru_backward(const Table& table, std::int64_t h, bool full) {
  const Values x = random_values(h, 1);
  const Values gate = random_values(h, 2);
  const Values before = random_values(h, 3);
  const Values cell = random_values(h, 4);
  const Values dout = random_values(h, 5);
  Values carry = random_values(h, 6);
  Values dx(static_cast<std::size_t>(h));
  Values dgate(static_cast<std::size_t>(h));
  table.rnn->ssru_backward(h, {x.data(), gate.data(), full ? before.data() : nullptr, cell.data(), dout.data(),
                               carry.data(), dx.data(), dgate.data()});
  for (const Values& v : {dx, dgate}) carry.insert(carry.end(), v.begin(), v.end());
  return carry;
}

TEST(Rnn, EveryKernelAgreesWithGeneric) {
  for (const Table* table : available()) {
    for (const std::int64_t h : {1, 7, 8, 9, 15, 16, 17, 33, 64}) {
      for (const bool full : {false, true}) {
        const Table& truth = *available()[0];
        expect_close(gru_forward(*table, h, full), gru_forward(truth, h, full), table->name, h);
        expect_close(gru_backward(*table, h, full), gru_backward(truth, h, full), table->name, h);
        expect_close(lstm_forward(*table, h, full), lstm_forward(truth, h, full), table->name, h);
        expect_close(lstm_backward(*table, h, full), lstm_backward(truth, h, full), table->name, h);
        expect_close(ssru_forward(*table, h, full), ssru_forward(truth, h, full), table->name, h);
        expect_close(ssru_backward(*table, h, full), ssru_backward(truth, h, full), table->name, h);
      }
    }
  }
}

TEST(Rnn, GatesStaySaneWhereSigmoidAndTanhSaturate) {
  for (const Table* table : available()) {
    for (const float huge : {-1e30F, -200.0F, 200.0F, 1e30F}) {
      Values gates(4 * 9, huge);
      const Values products(3 * 9, 0.0F);
      const Values bias(4 * 9, 0.0F);
      Values state(9, 0.5F);
      table->rnn->gru_forward(
          9, {gates.data(), gates.data(), nullptr, products.data(), bias.data(), bias.data(), state.data(), nullptr});
      for (const float v : state) EXPECT_NEAR(v, huge > 0 ? 0.5F : -1.0F, 1e-6F) << table->name << " " << huge;
      gates.assign(4 * 9, huge);
      Values cell(9, 0.25F);
      table->rnn->lstm_forward(9, {gates.data(), gates.data(), nullptr, Values(4 * 9, 0.0F).data(), bias.data(),
                                   cell.data(), nullptr, state.data(), nullptr});
      for (const float v : cell) EXPECT_NEAR(v, huge > 0 ? 1.25F : 0.0F, 1e-6F) << table->name << " " << huge;
    }
  }
}

}  // namespace
}  // namespace fovea::kernels
