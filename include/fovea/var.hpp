// Values that record how they were computed, for gradients.
#pragma once

#include <atomic>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <utility>

#include "fovea/error.hpp"
#include "fovea/tensor.hpp"

namespace FOVEA_API fovea {

class LeafObserver;
class Var;

namespace detail {

// Things on the tape: counted, and allocated in the arena so that a steady training loop does not reach malloc. The
// count is atomic because threads that serve one model hold the same parameters.
class Counted {
 public:
  Counted() = default;
  virtual ~Counted() = default;
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;
  static void* operator new(std::size_t bytes);
  static void operator delete(void* memory) noexcept;
  std::atomic<std::int64_t> shares{0};
};

template <class T>
class Ref {
 public:
  Ref() = default;
  explicit Ref(T* p) : p_(p) { retain(); }
  Ref(const Ref& o) : p_(o.p_) { retain(); }
  Ref(Ref&& o) noexcept : p_(std::exchange(o.p_, nullptr)) {}
  Ref& operator=(Ref o) noexcept {
    std::swap(p_, o.p_);
    return *this;
  }
  ~Ref() {
    if (p_ != nullptr && p_->shares.fetch_sub(1, std::memory_order_acq_rel) == 1) delete p_;
  }
  T* get() const { return p_; }
  T* operator->() const { return p_; }
  explicit operator bool() const { return p_ != nullptr; }
  // Gives up the share without counting it: the caller does.
  T* release() { return std::exchange(p_, nullptr); }

 private:
  void retain() {
    if (p_ != nullptr) p_->shares.fetch_add(1, std::memory_order_relaxed);
  }
  T* p_ = nullptr;
};

class Node;

struct VarState final : Counted {
  ~VarState() override;
  Tensor value;
  Tensor grad;         // of a leaf; a computed value's gradient waits in its node
  bool stale = false;  // the leaf's grad holds an earlier step's values; the next write replaces them
  bool requires_grad = false;
  Ref<Node> producer;
  int output = 0;                     // which of the producer's outputs
  std::atomic<std::int32_t> uses{0};  // of a leaf: steps that it is an input of and that backward() has not walked
  std::int32_t number = -1;           // of a leaf: what a LeafObserver knows it by
};

}  // namespace detail

/// Where an op puts a gradient: add to `tensor` when `add`, else overwrite all of it.
struct GradTarget {
  Tensor tensor;     // where the gradient goes
  bool add = false;  // add to it; else overwrite it
};

/// A tensor on the tape. Copying copies the handle. One graph belongs to one thread at a time; parameters may be used
/// by many threads at once as long as none of them walks back.
class Var {
 public:
  Var() = default;
  /// A constant: no gradient flows into it.
  Var(Tensor value);  // NOLINT(google-explicit-constructor): a tensor is a constant wherever a Var is taken
  /// A leaf whose gradient is wanted.
  [[nodiscard]] static Var parameter(Tensor value);

  /// An empty Var for a result that was not computed: using it throws Error with `reason`, a string that outlives it.
  [[nodiscard]] static Var absent(const char* reason) {
    Var v;
    v.absent_ = reason;
    return v;
  }

  /// Whether it holds anything.
  explicit operator bool() const { return static_cast<bool>(state_); }
  /// Throws Error when there is none.
  [[nodiscard]] const Tensor& value() const {
    if (!state_) throw Error(absent_);
    return state_->value;
  }
  /// Sizes of the value's axes.
  [[nodiscard]] const Shape& shape() const { return value().shape(); }
  /// Number of axes.
  [[nodiscard]] int rank() const { return value().rank(); }
  /// Size of an axis.
  [[nodiscard]] std::int64_t dim(int axis) const { return value().dim(axis); }
  /// Number of values.
  [[nodiscard]] std::int64_t size() const { return value().size(); }
  /// Whether backward() gives it a gradient.
  [[nodiscard]] bool requires_grad() const { return state_ && state_->requires_grad; }

  /// The gradient gathered in a leaf; zeros when nothing reached it. Throws Error for a computed value.
  [[nodiscard]] Tensor grad() const;
  /// Forgets the gradient; its memory is kept for the next one.
  void zero_grad() const;
  /// Sets the number, 0 or more, by which a LeafObserver knows this leaf.
  void set_number(std::int32_t number) const { state_->number = number; }

  // For ops' backward functions. Both do nothing harmful when !requires_grad(), but check first to save the work.
  void accumulate(const Tensor& gradient) const;
  /// Memory for the gradient, to write or to add to.
  [[nodiscard]] GradTarget grad_target() const;

 private:
  friend class detail::Node;
  friend void backward(const Var&, const Tensor&, LeafObserver*);
  template <class F>
  friend Var record(Tensor, std::initializer_list<Var>, F&&);
  template <class F>
  friend void record(std::initializer_list<std::pair<Var*, Tensor>>, std::span<const Var>, F&&);
  detail::Ref<detail::VarState> state_;
  const char* absent_ = "a Var without a value is used as if it had one";
};

/// Is called for each leaf whose gradient is complete, while backward() still works on others.
class LeafObserver {
 public:
  LeafObserver() = default;
  virtual ~LeafObserver() = default;
  LeafObserver(const LeafObserver&) = delete;
  LeafObserver& operator=(const LeafObserver&) = delete;
  /// The leaf's number (Var::set_number). A leaf is left out when some step that it is an input of was not walked.
  virtual void complete(std::int32_t number) = 0;
};

namespace detail {

// One step of the tape. Its sequence number is larger than those of all steps it builds on.
class Node : public Counted {
 public:
  static constexpr int kMaxOutputs = 4;
  static constexpr int kInlineInputs = 8;

  Node(std::span<const Var> inputs);  // NOLINT(google-explicit-constructor)
  ~Node() override;
  virtual void run() = 0;      // adds to the inputs' gradients from output_grads
  virtual void release() = 0;  // frees what run() needed
  [[nodiscard]] Var attach(Tensor value, int output);
  [[nodiscard]] std::span<const Var> inputs() const { return {inputs_, count_}; }
  void drop_inputs(LeafObserver* observer = nullptr);

  Tensor output_grads[kMaxOutputs];  // empty for an output that was not used
  std::uint64_t sequence;
  bool queued = false;
  bool walked = false;   // by backward(): it cannot be again
  Node* next = nullptr;  // in the list of steps to be freed

 private:
  Var inline_[kInlineInputs];
  Var* inputs_ = inline_;
  std::size_t count_ = 0;
};

template <class F>
class FunctionNode final : public Node {
 public:
  FunctionNode(std::span<const Var> inputs, F f) : Node(inputs), function_(std::move(f)) {}
  void run() override {
    if constexpr (std::is_invocable_v<F&, const Tensor&>) {
      (*function_)(output_grads[0]);
    } else {
      (*function_)(std::span<const Tensor>(output_grads, kMaxOutputs));
    }
  }
  void release() override { function_.reset(); }

 private:
  std::optional<F> function_;
};

[[nodiscard]] bool recording(std::span<const Var> inputs);

}  // namespace detail

/// Whether an op on these inputs must keep what its backward needs.
[[nodiscard]] inline bool recording(std::initializer_list<Var> inputs) {
  return detail::recording({inputs.begin(), inputs.size()});
}

/// While one lives, this thread records nothing: what it computes are constants.
class NoGrad {
 public:
  NoGrad();
  ~NoGrad();
  NoGrad(const NoGrad&) = delete;
  NoGrad& operator=(const NoGrad&) = delete;

 private:
  bool before_;
};

/// How an op enters the tape: its value, the inputs it came from, and a function that is given dL/d(value) and adds
/// dL/d(input) to each input that requires it. Your own ops are made the same way:
///
///     Var square(const Var& x) {
///       ... y_i = x_i * x_i ...
///       return record(y, {x}, [x](const Tensor& dy) { x.accumulate(... 2 * x_i * dy_i ...); });
///     }
template <class F>
[[nodiscard]] Var record(Tensor value, std::initializer_list<Var> inputs, F&& backward) {
  const std::span<const Var> in{inputs.begin(), inputs.size()};
  if (!detail::recording(in)) return Var(std::move(value));
  const detail::Ref<detail::Node> node(new detail::FunctionNode<std::decay_t<F>>(in, std::forward<F>(backward)));
  return node->attach(std::move(value), 0);
}

/// The same for an op with up to four outputs: each Var* receives its Tensor. The function is given one gradient per
/// output, empty where that output was not used.
template <class F>
void record(std::initializer_list<std::pair<Var*, Tensor>> outputs, std::span<const Var> inputs, F&& backward) {
  if (!detail::recording(inputs)) {
    for (const auto& [var, value] : outputs) *var = Var(value);
    return;
  }
  const detail::Ref<detail::Node> node(new detail::FunctionNode<std::decay_t<F>>(inputs, std::forward<F>(backward)));
  int k = 0;
  for (const auto& [var, value] : outputs) *var = node->attach(value, k++);
}

/// Walks the tape back from `root`, which must hold one value, and adds to the gradient of every leaf it depends on.
/// What the ops kept is freed on the way, so a graph can be walked once; again, it throws Error.
void backward(const Var& root, LeafObserver* observer = nullptr);
/// The same from a root of any shape, given dL/d(root).
void backward(const Var& root, const Tensor& gradient, LeafObserver* observer = nullptr);

}  // namespace fovea
