// The sum of the gradients of all copies of a model, in this process and in the others.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
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
///
/// The weights go in buckets, the last ones first, as backward() reaches them: a bucket sets out when all copies of
/// this process have said that their gradients of it are complete, and travels while they work on the others.
class GradientSum {
 public:
  /// Buckets have at least so many values. Throws UsageError when there are fewer copies than processes.
  GradientSum(Processes& processes, int copies, std::int64_t bucket_values = std::int64_t{1} << 18);

  /// The copies of this process: local() of them, from first() on.
  [[nodiscard]] int first() const { return begin_; }
  [[nodiscard]] int local() const { return end_ - begin_; }

  /// The copies of this process, in order, begin to compute the gradients that will be added. All outlive finish().
  /// `rows`: of each of them, the weights that it trains by rows, whose gradients are those; only the rows that there
  /// are go to other processes.
  void begin(std::span<const Parameters* const> copies, std::span<const std::vector<TrainedRows>> rows = {});
  /// The gradient of an entry of copies[copy] will not change any more. From any thread; a second time does nothing.
  void complete(int copy, std::size_t entry);
  /// Of all its entries.
  void complete(int copy);
  /// Waits for the others, when all is complete. The sum is left as the gradients of copies[0]; those of the other
  /// copies are cleared.
  void finish();

  /// All at once.
  void operator()(std::span<const Parameters* const> copies, std::span<const std::vector<TrainedRows>> rows = {});
  /// How long the training has worked on the sum instead of gradients, or waited for it, since this was asked last.
  [[nodiscard]] double take_seconds();

 private:
  // Neighbouring entries [from, to) that travel together.
  struct Bucket {
    std::size_t from = 0, to = 0;
    std::int64_t begin = 0, size = 0;      // of their values among all
    std::int64_t room = 0;                 // where others_ has the branches of other processes
    std::atomic<std::int64_t> missing{0};  // gradients of copies that are not complete
    int ticket = -1;
    enum class Stage { waiting, branches, sums, whole } stage = Stage::waiting;
    std::vector<float*> tree{};  // of each leaf that begins a branch: this process's slice
  };

  void plan();
  void add_local() const;
  void add_local_rows() const;
  void add_rows_of_others();
  void add_entry(std::size_t entry);
  void send_branches(Bucket& bucket, int channel);
  void send_sums(Bucket& bucket, int channel);
  void poll();
  void put_back();
  void add_tree(std::span<float* const> branches, std::int64_t size) const;
  [[nodiscard]] std::int64_t slice(const Bucket& bucket, int rank) const;
  [[nodiscard]] bool leaves_out(std::size_t entry) const;

  Processes& processes_;
  int copies_;
  std::int64_t bucket_values_;
  int begin_ = 0, end_ = 0;
  std::vector<std::vector<int>> branches_;  // of each process: the copies that its branches begin with
  std::span<const Parameters* const> local_;
  std::span<const std::vector<TrainedRows>> rows_;
  std::vector<bool> left_out_;  // of each entry: frozen, or trained by rows
  std::vector<std::unique_ptr<Bucket>> buckets_;
  std::vector<std::int64_t> at_;  // of each entry: where its values are among all; -1: it is in no bucket
  std::vector<std::size_t> bucket_of_;
  std::vector<char> complete_;       // [copy, entry]
  std::int64_t values_ = 0;          // of all buckets
  std::vector<float> own_;           // this process's branches, one after the other, all values of each
  std::vector<float> others_;        // branches of the other processes, this process's slice of each bucket
  std::vector<float> sum_;           // of all values
  std::vector<std::int32_t> place_;  // of each row of a table, while branches of rows are joined
  std::vector<Outgoing> send_;
  std::vector<Incoming> receive_;
  std::mutex mutex_;  // of the processes and the buckets' stages, while copies are at work
  std::atomic<std::int64_t> adding_{0}, waiting_{0};  // nanoseconds: in complete(), of all threads; in finish()
};

}  // namespace fovea
