#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <vector>

#include "autograd/elementwise.hpp"
#include "base/arena.hpp"
#include "fovea/error.hpp"
#include "fovea/var.hpp"
#include "kernels/kernels.hpp"
#include "kernels/math.hpp"

namespace fovea {
namespace {

thread_local bool grad_enabled = true;
// One for all threads: a graph that another thread continues keeps its order.
std::atomic<std::uint64_t> next_sequence{0};

void add_in_place(const Tensor& into, const Tensor& from) {
  const auto kernel = kernels::active().math->add_in_place;
  elementwise(into.size(),
              [&](std::int64_t begin, std::size_t n) { kernel(from.data() + begin, into.data() + begin, n); });
}

bool later(const detail::Ref<detail::Node>& a, const detail::Ref<detail::Node>& b) {
  return a->sequence < b->sequence;
}

}  // namespace

namespace detail {

void* Counted::operator new(std::size_t bytes) {
  return arena_allocate(bytes);
}
void Counted::operator delete(void* memory) noexcept {
  arena_release(memory);
}

VarState::~VarState() {
  // A long chain must not be taken apart by recursion: steps whose last share is gone wait in a list, and whoever
  // began it ends them one by one.
  static thread_local Node* waiting = nullptr;
  static thread_local bool ending = false;
  Node* node = producer.release();
  if (node == nullptr || node->shares.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  node->next = waiting;
  waiting = node;
  if (std::exchange(ending, true)) return;
  while (waiting != nullptr) delete std::exchange(waiting, waiting->next);
  ending = false;
}

Node::Node(std::span<const Var> inputs) : sequence(next_sequence.fetch_add(1, std::memory_order_relaxed)) {
  count_ = inputs.size();
  if (count_ > kInlineInputs) {
    inputs_ = static_cast<Var*>(arena_allocate(count_ * sizeof(Var)));
    std::uninitialized_copy(inputs.begin(), inputs.end(), inputs_);
  } else {
    std::copy(inputs.begin(), inputs.end(), inline_);
  }
  for (const Var& input : inputs) {
    if (input.requires_grad() && !input.state_->producer) input.state_->uses.fetch_add(1, std::memory_order_relaxed);
  }
}

Node::~Node() {
  drop_inputs();
}

void Node::drop_inputs(LeafObserver* observer) {
  for (const Var& input : inputs()) {
    if (!input.requires_grad() || input.state_->producer) continue;
    const bool last = input.state_->uses.fetch_sub(1, std::memory_order_relaxed) == 1;
    if (last && observer != nullptr && input.state_->number >= 0) observer->complete(input.state_->number);
  }
  if (inputs_ != inline_) {
    std::destroy_n(inputs_, count_);
    arena_release(inputs_);
    inputs_ = inline_;
  } else {
    std::fill_n(inline_, count_, Var());
  }
  count_ = 0;
}

Var Node::attach(Tensor value, int output) {
  Var v(std::move(value));
  v.state_->requires_grad = true;
  v.state_->producer = Ref<Node>(this);
  v.state_->output = output;
  return v;
}

bool recording(std::span<const Var> inputs) {
  return grad_enabled && std::any_of(inputs.begin(), inputs.end(), [](const Var& v) { return v.requires_grad(); });
}

}  // namespace detail

NoGrad::NoGrad() : before_(std::exchange(grad_enabled, false)) {}
NoGrad::~NoGrad() {
  grad_enabled = before_;
}

Var::Var(Tensor value) : state_(new detail::VarState) {
  state_->value = std::move(value);
}

Var Var::parameter(Tensor value) {
  Var v(std::move(value));
  v.state_->requires_grad = true;
  return v;
}

Tensor Var::grad() const {
  if (!state_ || state_->producer) throw Error("grad: only a leaf keeps its gradient");
  if (!state_->grad) state_->grad = Tensor::zeros(shape());
  if (std::exchange(state_->stale, false)) state_->grad.fill(0.0F);
  return state_->grad;
}

void Var::zero_grad() const {
  if (state_->grad) state_->stale = true;
}

void Var::accumulate(const Tensor& gradient) const {
  if (!requires_grad()) return;
  if (!(gradient.shape() == shape())) {
    throw ShapeError(fmt::format("accumulate: a gradient of shape {} for a value of shape {}", gradient.shape().text(),
                                 shape().text()));
  }
  if (!state_->producer) {
    const GradTarget target = grad_target();
    if (target.add) {
      add_in_place(target.tensor, gradient.contiguous());
    } else {
      target.tensor.copy_from(gradient);
    }
    return;
  }
  Tensor& slot = state_->producer->output_grads[state_->output];
  if (!slot) {
    slot = gradient.contiguous();  // shared until something is added to it
  } else {
    add_in_place(grad_target().tensor, gradient.contiguous());
  }
}

GradTarget Var::grad_target() const {
  const bool leaf = !state_->producer;
  Tensor& slot = leaf ? state_->grad : state_->producer->output_grads[state_->output];
  if (!slot) {
    slot = Tensor::empty(shape());
    return {slot, false};
  }
  if (leaf) return {slot, !std::exchange(state_->stale, false)};
  if (!slot.unique() || !slot.is_contiguous()) slot = slot.clone();  // it is another value's gradient too
  return {slot, true};
}

void backward(const Var& root, LeafObserver* observer) {
  if (root.size() != 1) throw ShapeError("backward: the root must hold one value, not " + root.shape().text());
  backward(root, Tensor::full(root.shape(), 1.0F), observer);
}

void backward(const Var& root, const Tensor& gradient, LeafObserver* observer) {
  if (!root.requires_grad()) throw Error("backward: the root does not depend on any parameter");
  const detail::Ref<detail::Node>& last = root.state_->producer;
  if (last && last->walked) throw Error("backward: this graph was walked before; what its steps kept is gone");
  root.accumulate(gradient);
  if (!last) return;
  // Steps in falling order of their numbers: when one runs, all that used its outputs have run.
  std::vector<detail::Ref<detail::Node>, ArenaAllocator<detail::Ref<detail::Node>>> heap;
  const auto push = [&heap](const detail::Ref<detail::Node>& node) {
    if (node->walked) throw Error("backward: a part of this graph was walked before; what its steps kept is gone");
    if (std::exchange(node->queued, true)) return;
    heap.push_back(node);
    std::push_heap(heap.begin(), heap.end(), later);
  };
  try {
    push(last);
    while (!heap.empty()) {
      std::pop_heap(heap.begin(), heap.end(), later);
      const detail::Ref<detail::Node> node = std::move(heap.back());
      heap.pop_back();
      node->walked = true;
      if (std::any_of(std::begin(node->output_grads), std::end(node->output_grads),
                      [](const Tensor& t) { return static_cast<bool>(t); })) {
        node->run();
      }
      node->release();
      for (Tensor& t : node->output_grads) t = Tensor();
      for (const Var& input : node->inputs()) {
        if (input.requires_grad() && input.state_->producer) push(input.state_->producer);
      }
      node->drop_inputs(observer);  // frees values that no other step needs: their memory serves the next gradients
    }
  } catch (...) {
    for (const auto& node : heap) node->walked = true;  // half of a graph is as good as none
    throw;
  }
}

}  // namespace fovea
