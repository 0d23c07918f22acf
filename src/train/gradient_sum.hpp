// The sum of the gradients of all copies of a model, in this process and in the others.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/processes.hpp"
#include "fovea/nn/parameters.hpp"
#include "fovea/nn/row_gradient.hpp"

namespace fovea {

/// The copies 0 … copies - 1 are shared out over the processes in their order. Gradients are added in pairs, the pairs
/// in pairs, and so on: a tree that the number of copies fixes, and so every byte of the sum, whatever number of
/// processes there is. A process adds what lies within its own branches; each then collects the branches of all for a
/// slice of the weights, adds them, and gives the others the sum. So a process sends and receives twice the size of
/// the gradients when its copies are one branch, as when they are a power of two.
class GradientSum {
 public:
  /// Throws UsageError when there are fewer copies than processes.
  GradientSum(Processes& processes, int copies);

  /// The copies of this process: local() of them, from first() on.
  [[nodiscard]] int first() const { return begin_; }
  [[nodiscard]] int local() const { return end_ - begin_; }
  /// Adds the gradients of the local copies, given in order, and of all others. The sum is left as the gradients of
  /// copies[0]; those of the other local copies are cleared.
  /// `rows`: of each local copy, the weights that it trains by rows, whose gradients are those. They are sent to other
  /// processes as whole weights.
  void operator()(std::span<const Parameters* const> copies, std::span<const std::vector<TrainedRows>> rows = {});

 private:
  void add_local(std::span<const Parameters* const> copies) const;
  void add_local_rows(std::span<const std::vector<TrainedRows>> rows) const;
  [[nodiscard]] bool by_rows(std::size_t entry) const { return entry < by_rows_.size() && by_rows_[entry]; }
  void add_others(std::span<const Parameters* const> copies);
  void add_tree(std::vector<float*>& branches, std::int64_t size) const;

  Processes& processes_;
  int copies_;
  int begin_ = 0, end_ = 0;
  std::vector<std::vector<int>> branches_;  // of each process: the copies that its branches begin with
  std::vector<float> own_;                  // this process's branches, one after the other, all weights of each
  std::vector<float> others_;               // branches of the other processes, this process's slice of each
  std::vector<float> sum_;                  // of all weights
  std::vector<bool> by_rows_;               // which entries are trained by rows; may be empty
  std::vector<float*> tree_;
  std::vector<Outgoing> send_;
  std::vector<Incoming> receive_;
};

}  // namespace fovea
