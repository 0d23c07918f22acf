// The backward by rows: each block's weights are computed again, then the stages are walked back.
//
// Work is split by (sequence, key head). An input that several of these share (a parameter, a bias for all sequences)
// gets one partial gradient per piece of work, kWave at a time, added up in order: the bytes do not depend on threads.
#include <algorithm>

#include "attention/rows/rows.hpp"
#include "attention/rows/rows_scratch.hpp"
#include "fovea/threads.hpp"

namespace fovea::attention {
namespace {

constexpr Int kWave = 16;

/// The gradient of one input, made of slices: that of (b, h) starts at b * batch + h * head in the target.
class Sink {
 public:
  Sink() = default;
  /// `shared`: several units add to one slice. `per_unit`: slices a unit has, G where each query head has its own.
  /// `again`: the same value is an earlier input too, whose target it must not share while both are written.
  Sink(const Var& input, bool again, Int slice, Int batch, Int head, Int per_unit, bool shared)
      : slice_(slice), batch_(batch), head_(head), per_unit_(per_unit), shared_(shared) {
    if (again) {
      later_ = input;
      target_ = Tensor::zeros(input.shape());
    } else {
      const GradTarget target = input.grad_target();
      target_ = target.tensor;
      if (!target.add) target_.fill(0.0F);
    }
    if (shared_) partial_ = Tensor::empty({kWave, per_unit_, slice_});
  }

  explicit operator bool() const { return static_cast<bool>(target_); }
  [[nodiscard]] bool shared() const { return shared_; }
  [[nodiscard]] const Tensor& target() const { return target_; }
  [[nodiscard]] float* partial(Int in_wave) const { return partial_.data() + in_wave * per_unit_ * slice_; }

  void begin_unit(Int in_wave) const {
    if (shared_) std::fill_n(partial(in_wave), per_unit_ * slice_, 0.0F);
  }
  /// Where unit `in_wave` adds what belongs to query head h = kv * G + g (or to the unit, when it has one slice).
  [[nodiscard]] float* at(Int in_wave, Int b, Int h, Int g) const {
    if (!target_) return nullptr;
    if (shared_) return partial(in_wave) + (per_unit_ > 1 ? g : 0) * slice_;
    return target_.data() + b * batch_ + h * head_;
  }
  void end_wave(const Plan& plan, Int first, Int last) const {
    if (!shared_) return;
    parallel_for(slice_, 4096, [&](Int begin, Int end) {
      for (Int u = first; u < last; ++u) {
        for (Int s = 0; s < per_unit_; ++s) {
          const Int h = per_unit_ > 1 ? u % plan.kv_heads * plan.group() + s : u % plan.kv_heads;
          float* to = target_.data() + u / plan.kv_heads * batch_ + h * head_;
          const float* from = partial(u - first) + s * slice_;
          for (Int x = begin; x < end; ++x) to[x] += from[x];
        }
      }
    });
  }

  void finish() const {
    if (later_) later_.accumulate(target_);
  }

 private:
  Tensor target_, partial_;
  Var later_;
  Int slice_ = 0, batch_ = 0, head_ = 0, per_unit_ = 1;
  bool shared_ = false;
};

struct Sinks {
  std::vector<Sink, ArenaAllocator<Sink>> all;  // by Input
  View dq, dk, dv, drow;                        // of those each unit has for itself

  explicit Sinks(const Plan& plan);
  [[nodiscard]] const Sink& operator[](int which) const { return all[static_cast<std::size_t>(which)]; }
  [[nodiscard]] bool any_shared() const {
    return std::any_of(all.begin(), all.end(), [](const Sink& s) { return s.shared(); });
  }
};

Sinks::Sinks(const Plan& plan) : all(plan.inputs.size()) {
  const Int G = plan.group();
  const bool one = plan.batch == 1;
  const auto put = [&](int which, auto... arguments) {
    if (!plan.wants_grad(which)) return;
    const Var& input = plan.input(which);
    bool again = false;
    for (int earlier = 0; earlier < which; ++earlier) {
      again |= plan.wants_grad(earlier) && plan.input(earlier).value().data() == input.value().data();
    }
    all[static_cast<std::size_t>(which)] = Sink(input, again, arguments...);
  };
  for (const int which : {Input::query, Input::key, Input::value, Input::row_term}) {
    put(which, Int{0}, Int{0}, Int{0}, Int{1}, false);
  }
  put(Input::vector, plan.dim, Int{0}, Int{0}, Int{1}, true);
  for (const auto& [which, bias] :
       {std::pair{Input::bias, &plan.visibility.bias}, {Input::distance_bias, &plan.visibility.distance_bias}}) {
    const bool alone = (bias->b != 0 || one) && (bias->h != 0 || plan.heads == 1);
    put(which, bias->slice, bias->b, bias->h, G, !alone);
  }
  put(Input::sink, Int{1}, Int{0}, Int{1}, G, true);
  put(Input::alphas, Int{1}, Int{0}, Int{1}, G, true);
  put(Input::shaw_keys, (2 * plan.shaw_reach + 1) * plan.dim, Int{0}, Int{0}, Int{1}, true);
  put(Input::shaw_values, (2 * plan.shaw_reach + 1) * plan.value_dim, Int{0}, Int{0}, Int{1}, true);
  put(Input::centers, plan.queries, plan.center.batch, plan.center.head, G, plan.center.head == 0 && plan.heads > 1);
  for (std::size_t p = Input::parameters; p < plan.inputs.size(); ++p) {
    put(static_cast<int>(p), plan.inputs[p].size(), Int{0}, Int{0}, Int{1}, true);
  }
  if ((*this)[Input::query]) dq = plan.query_view((*this)[Input::query].target());
  if ((*this)[Input::key]) dk = plan.key_view((*this)[Input::key].target());
  if ((*this)[Input::value]) dv = plan.value_view((*this)[Input::value].target());
  if ((*this)[Input::row_term]) drow = plan.query_view((*this)[Input::row_term].target());
}

// dscores to what was added to the scores.
void add_bias_grads(const Plan& plan, const Block& block, const BiasView& bias, float* to) {
  if (to == nullptr) return;
  for (Int r = 0; r < block.rows; ++r) {
    const float* ds = block.gradient + r * block.pitch;
    const std::uint8_t* visible = block.visible + r * block.pitch;
    float* row = to + bias.first + (block.first + r) * bias.i;
    for (Int c = 0; c < block.columns; ++c) {
      if (visible[c] != 0) row[block.key(c) * bias.j] += ds[c];
    }
  }
  (void)plan;
}

void add_weight_grads(const Plan& plan, const Block& block, const Tensor& dweights) {
  const Int head = plan.head_slot.empty() ? block.h : plan.head_slot[static_cast<std::size_t>(block.h)];
  if (!dweights || head < 0) return;
  for (Int r = 0; r < block.rows; ++r) {
    const float* row = weight_row(plan, dweights, block.b, head, block.first + r);
    if (row == nullptr) continue;
    float* g = block.gradient + r * block.pitch;
    for (Int c = 0; c < block.columns; ++c) g[c] += row[block.list != nullptr ? c : block.low + c];
  }
}

struct Unit {
  const Plan& plan;
  const Sinks& sinks;
  const View& dcontext;
  const Tensor& dweights;
  const View& dlogs;
  Scratch scratch{};
  Tensor gathered{};  // gradients of an edge list's keys and values
  std::vector<float*, ArenaAllocator<float*>> dparameters{};

  void run(Int b, Int kv, Int in_wave) {
    for (const Sink& sink : sinks.all) sink.begin_unit(in_wave);
    dparameters.clear();
    for (std::size_t p = Input::parameters; p < sinks.all.size(); ++p) {
      dparameters.push_back(sinks.all[p].at(in_wave, b, 0, 0));
    }
    bool finite = all_finite(plan.k, b, kv, plan.length(b), plan.key_dim) &&
                  all_finite(plan.v, b, kv, plan.length(b), plan.value_dim);
    for (Int g = 0; g < plan.group() && finite; ++g) {
      const Int h = kv * plan.group() + g;
      finite =
          all_finite(plan.q, b, h, plan.queries, plan.dim) && all_finite(dcontext, b, h, plan.queries, plan.value_dim);
    }
    for (Int g = 0; g < plan.group(); ++g) {
      const Int h = kv * plan.group() + g;
      each_block(plan, b, h, 0, plan.queries, scratch, [&](Block& block) {
        block.finite = finite;
        walk_back(block, in_wave, g);
      });
    }
  }

  void walk_back(const Block& block, Int in_wave, Int g) {
    const Int b = block.b, h = block.h, kv = h / plan.group();
    see_block(plan, block);
    score_block(plan, block);
    change_block(plan, block);
    bias_block(plan, block);
    normalize_block(plan, block);
    focus_block(plan, block);
    drop_block(plan, block, block.used);

    ScoreGrads score{.dparameters = dparameters.data()};
    ValueGrads values{.dshaw = sinks[Input::shaw_values].at(in_wave, b, h, g)};
    score.dw = sinks[Input::vector].at(in_wave, b, h, g);
    score.dshaw = sinks[Input::shaw_keys].at(in_wave, b, h, g);
    score.dq = sinks.dq;
    const bool gather = block.list != nullptr;
    if (gather) {
      float* memory = Scratch::grown(gathered, std::max<Int>(1, block.columns * (plan.key_dim + plan.value_dim)));
      std::fill_n(memory, block.columns * (plan.key_dim + plan.value_dim), 0.0F);
      if (sinks.dk) score.dk = memory;
      if (sinks.dv) values.dv = memory + block.columns * plan.key_dim;
      score.dk_row = plan.key_dim;
      values.dv_row = plan.value_dim;
    } else {
      if (sinks.dk) score.dk = sinks.dk.at(b, kv, block.low);
      score.dk_row = sinks.dk.row;
      if (sinks.dv) values.dv = sinks.dv.at(b, kv, block.low);
      values.dv_row = sinks.dv.row;
    }

    if (dcontext) {
      const float* d = dcontext.at(b, h, block.first);
      sum_block_backward(plan, block, d, dcontext.row);
      drop_block(plan, block, block.gradient);
      sum_block_backward_values(plan, block, d, dcontext.row, values);
    } else {
      std::fill_n(block.gradient, block.rows * block.pitch, 0.0F);
    }
    add_weight_grads(plan, block, dweights);
    focus_block_backward(plan, block, sinks[Input::centers].at(in_wave, b, h, g));
    normalize_block_backward(plan, block, dlogs, sinks[Input::sink].at(in_wave, b, h, g),
                             sinks[Input::alphas].at(in_wave, b, h, g));
    add_bias_grads(plan, block, plan.visibility.bias, sinks[Input::bias].at(in_wave, b, h, g));
    add_bias_grads(plan, block, plan.visibility.distance_bias, sinks[Input::distance_bias].at(in_wave, b, h, g));
    for (Int r = 0; sinks.drow && r < block.rows; ++r) {
      float sum = 0;
      for (Int c = 0; c < block.columns; ++c) sum += block.gradient[r * block.pitch + c];
      *sinks.drow.at(b, h, block.first + r) += sum;
    }
    change_block_backward(plan, block, dparameters.data() + (plan.first_modifier_input - Input::parameters));
    score_block_backward(plan, block, score);

    for (Int c = 0; gather && c < block.columns; ++c) {
      float* dk = sinks.dk ? sinks.dk.at(b, kv, block.list[c]) : nullptr;
      for (Int x = 0; dk != nullptr && x < plan.key_dim; ++x) dk[x] += score.dk[c * plan.key_dim + x];
      float* dv = sinks.dv ? sinks.dv.at(b, kv, block.list[c]) : nullptr;
      for (Int x = 0; dv != nullptr && x < plan.value_dim; ++x) dv[x] += values.dv[c * plan.value_dim + x];
    }
  }
};

}  // namespace

void rows_backward(const Plan& plan, const View& dcontext, const Tensor& dweights, const View& dlogs) {
  const Sinks sinks(plan);
  const Int units = plan.batch * plan.kv_heads;
  const Int wave = sinks.any_shared() ? kWave : units;
  for (Int first = 0; first < units; first += wave) {
    const Int last = std::min(units, first + wave);
    parallel_for(last - first, 1, [&](Int begin, Int end) {
      Unit unit{plan, sinks, dcontext, dweights, dlogs};
      for (Int u = first + begin; u < first + end; ++u) unit.run(u / plan.kv_heads, u % plan.kv_heads, u - first);
    });
    for (const Sink& sink : sinks.all) sink.end_wave(plan, first, last);
  }
  for (const Sink& sink : sinks.all) sink.finish();
  if (plan.modifiers) plan.modifiers->rethrow();
}

}  // namespace fovea::attention
