// What is between a score and its biases: the soft cap, then the modifiers.
//   y = c tanh(x / c)    dx = (1 - (y / c)^2) dy
#include <algorithm>

#include "attention/rows/rows.hpp"
#include "kernels/kernels.hpp"
#include "kernels/math.hpp"

namespace fovea::attention {
namespace {

kernels::ScoreTile whole_block(const Block& block) {
  return {block.b, block.h, block.first, block.low, block.rows, block.columns, block.pitch, 1};
}

}  // namespace

void change_block(const Plan& plan, const Block& block) {
  if (!plan.changes_scores() || block.columns == 0) return;
  for (Int r = 0; r < block.rows; ++r) {
    float* s = block.scores + r * block.pitch;
    const std::uint8_t* visible = block.visible + r * block.pitch;
    for (Int c = 0; c < block.columns; ++c) s[c] = visible[c] != 0 ? s[c] : 0.0F;
    if (plan.softcap > 0) {
      for (Int c = 0; c < block.columns; ++c) s[c] /= plan.softcap;
      kernels::active().math->tanh(s, s, static_cast<std::size_t>(block.columns));
      for (Int c = 0; c < block.columns; ++c) s[c] *= plan.softcap;
    }
    std::copy_n(s, block.columns, block.before + r * block.pitch);
  }
  if (!plan.modifiers) return;
  const Modifiers::Task task{&*plan.modifiers, nullptr};
  kernels::ScoreChange change;
  Modifiers::use(change, task);
  change.modify(change.modifiers, whole_block(block), block.scores);
}

void change_block_backward(const Plan& plan, const Block& block, float* const* dparameters) {
  if (!plan.changes_scores() || block.columns == 0) return;
  if (plan.modifiers) {
    const Modifiers::Task task{&*plan.modifiers, dparameters};
    kernels::ScoreChange change;
    Modifiers::use(change, task);
    change.modify_backward(change.modifiers, whole_block(block), block.before, block.gradient);
  }
  if (!(plan.softcap > 0)) return;
  for (Int r = 0; r < block.rows; ++r) {
    float* g = block.gradient + r * block.pitch;
    const float* y = block.before + r * block.pitch;
    for (Int c = 0; c < block.columns; ++c) g[c] *= 1 - y[c] / plan.softcap * (y[c] / plan.softcap);
  }
}

}  // namespace fovea::attention
