// Attention by rows: any score, any normaliser, memory linear in the keys.
//
// Blocks of queries: their score rows [rows, columns] are computed, masked and normalised whole, used and forgotten;
// the backward computes them again. Blocks begin at multiples of kRows and reach over the keys some query of a full
// block may attend to, so a sequence's bytes do not depend on the others in its batch nor on its padding.
#pragma once

#include "attention/plan.hpp"

namespace fovea::attention {

constexpr Int kRows = 32;

/// attend() without the tiled kernels: what these are checked against.
[[nodiscard]] Attended attend_by_rows(const Var& query, const Var& key, const Var& value,
                                      const AttendOptions& how = {});

/// Fills `out`; only what is not empty in it.
void rows_forward(const Plan& plan, const Outputs& out);

/// Adds to the gradients of plan.inputs that require one. `dcontext` rows of dv; the others may be empty. `dlogs` is of
/// the log-probability of a sampled key or of softmax's log-sum.
void rows_backward(const Plan& plan, const View& dcontext, const Tensor& dweights, const View& dlogs);

/// The scores of one block and what became of them. Arrays are [rows, pitch]; columns behind `columns` are 0.
struct Block {
  Int b = 0, h = 0, first = 0, rows = 0;  // queries first to first + rows of head h of sequence b
  Int low = 0, columns = 0;               // keys low to low + columns ...
  const Int* list = nullptr;              // ... or, with edges, list[0] to list[columns - 1]
  Int pitch = 0;
  const float* k = nullptr;  // the block's keys and values, gathered when there is a list
  const float* v = nullptr;
  Int k_row = 0, v_row = 0;
  bool finite = true;         // no NaN or infinity that a product with 0 would spread
  float* scores = nullptr;    // then, for hard choices, softmax's probabilities
  float* weights = nullptr;   // the normaliser's
  float* used = nullptr;      // after Gaussian and dropout; may be `weights`
  float* gradient = nullptr;  // backward: dweights, then dscores
  float* before = nullptr;    // the scores that modifiers are given, where something changes scores
  float* log_sum = nullptr;   // [rows], of softmax with a sink or where the plan wants it
  std::uint8_t* visible = nullptr;

  [[nodiscard]] Int key(Int column) const { return list != nullptr ? list[column] : low + column; }
};

// block_visibility.cpp: which keys a block reaches, which pairs are visible, what is added to their scores.
/// The keys that may be visible to some query of a full block from `first`.
void reach(const Plan& plan, Int b, Int h, Int first, Int* low, Int* high);
void see_block(const Plan& plan, const Block& block);
/// scores = (scores + biases) / temperature, -inf where not visible; a bias of -inf makes invisible.
void bias_block(const Plan& plan, const Block& block);

// block_change.cpp: the soft cap and the modifiers; they are called on the whole block.
/// `before` is filled and the scores are changed.
void change_block(const Plan& plan, const Block& block);
/// The gradient of changed scores becomes that of the scores; adds to the gradients of the modifiers' parameters.
void change_block_backward(const Plan& plan, const Block& block, float* const* dparameters);

// block_scores.cpp: the scores of visible pairs before biases, and their backward from block.gradient.
struct ScoreGrads {
  View dq{};            // of all queries; the block's rows are added to
  float* dk = nullptr;  // [columns, dim], rows dk_row apart, added to
  Int dk_row = 0;
  float* dw = nullptr;                  // [dim], added to
  float* dshaw = nullptr;               // [2K + 1, dim], added to
  float* const* dparameters = nullptr;  // of a block score, added to; null where not wanted
};
void score_block(const Plan& plan, const Block& block);
void score_block_backward(const Plan& plan, const Block& block, const ScoreGrads& to);

// block_custom.cpp: the same for the user's own scores.
void score_pairwise(const Plan& plan, const Block& block);
void score_pairwise_backward(const Plan& plan, const Block& block, const ScoreGrads& to);
void score_taped(const Plan& plan, const Block& block);
void score_taped_backward(const Plan& plan, const Block& block, const ScoreGrads& to);

// block_normalize.cpp: weights from scores, row by row; then gradient = dscores from gradient = dweights.
void normalize_block(const Plan& plan, const Block& block);
/// `dsink` and `dalpha`, if not null, are added to.
void normalize_block_backward(const Plan& plan, const Block& block, const View& dlogs, float* dsink, float* dalpha);
/// The column of a row that has all its weight, or -1.
[[nodiscard]] Int chosen_column(const float* weights, Int columns);

// block_used.cpp: the Gaussian of local attention and dropout.
/// used = weights * Gaussian.
void focus_block(const Plan& plan, const Block& block);
/// used or gradient *= dropout's mask.
void drop_block(const Plan& plan, const Block& block, float* values);
/// gradient (of weights * Gaussian) becomes that of weights; adds to the centres' gradient, [queries], if wanted.
void focus_block_backward(const Plan& plan, const Block& block, float* dcenter);

// block_values.cpp: the weighted sum of values with block.used.
struct ValueGrads {
  float* dv = nullptr;  // [columns, dv], rows dv_row apart, added to
  Int dv_row = 0;
  float* dshaw = nullptr;  // [2K + 1, dv], added to
};
void sum_block(const Plan& plan, const Block& block, float* out, Int out_row);
/// gradient = dcontext . value.
void sum_block_backward(const Plan& plan, const Block& block, const float* dcontext, Int dcontext_row);
void sum_block_backward_values(const Plan& plan, const Block& block, const float* dcontext, Int dcontext_row,
                               const ValueGrads& to);

/// Shaw's table row for query i and key j.
[[nodiscard]] inline Int shaw_row(const Plan& plan, Int i, Int j) {
  const Int distance = j - i - plan.visibility.offset;
  const Int clipped = distance < -plan.shaw_reach  ? -plan.shaw_reach
                      : distance > plan.shaw_reach ? plan.shaw_reach
                                                   : distance;
  return clipped + plan.shaw_reach;
}

}  // namespace fovea::attention
