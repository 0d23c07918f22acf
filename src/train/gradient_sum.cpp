#include "train/gradient_sum.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <string>

#include "fovea/error.hpp"
#include "fovea/threads.hpp"
#include "kernels/kernels.hpp"
#include "kernels/math.hpp"

namespace fovea {
namespace {

// A bucket is so large that each process's slice of it has at least so many values: a message is worth its latency.
constexpr std::int64_t kSliceValues = std::int64_t{1} << 12;
constexpr int kFirstChannel = 1;  // two for each bucket
constexpr std::int64_t kMostBuckets = 4000;

using Clock = std::chrono::steady_clock;

// Adds the time it lives to a count of nanoseconds.
class Timed {
 public:
  explicit Timed(std::atomic<std::int64_t>& sum) : sum_(sum), start_(Clock::now()) {}
  ~Timed() { sum_ += std::chrono::nanoseconds(Clock::now() - start_).count(); }
  Timed(const Timed&) = delete;
  Timed& operator=(const Timed&) = delete;

 private:
  std::atomic<std::int64_t>& sum_;
  Clock::time_point start_;
};

// Calls join(i, j) for the pairs of the tree over `copies` leaves that lie within [begin, end), leaves first: branch i
// takes in branch j.
template <class Join>
void each_pair(int copies, int begin, int end, const Join& join) {
  for (int size = 1; size < copies; size *= 2) {
    for (int i = 0; i + size < copies; i += 2 * size) {
      if (i >= begin && std::min(i + 2 * size, copies) <= end) join(i, i + size);
    }
  }
}

int share(int copies, int count, int rank) {
  return static_cast<int>(static_cast<std::int64_t>(copies) * rank / count);
}

// Adds rows to rows; nothing is left of the former.
void add_rows(RowGradient& from, RowGradient& to) {
  const auto add = kernels::active().math->add_in_place;
  for (std::size_t i = 0; i < from.rows().size(); ++i) {
    add(from.values(i), to.row(from.rows()[i]), static_cast<std::size_t>(from.width()));
  }
  from.clear();
}

// The rows of a branch, as they travel.
struct BranchRows {
  std::vector<std::int32_t> ids{};
  std::vector<float> values{};
};

// The same as add_rows(), with one table of places for all branches. `place` holds -1 before and after.
void join(BranchRows& into, const BranchRows& from, std::size_t width, std::vector<std::int32_t>& place) {
  const auto add = kernels::active().math->add_in_place;
  for (std::size_t i = 0; i < into.ids.size(); ++i) {
    place[static_cast<std::size_t>(into.ids[i])] = static_cast<std::int32_t>(i);
  }
  for (std::size_t i = 0; i < from.ids.size(); ++i) {
    std::int32_t& at = place[static_cast<std::size_t>(from.ids[i])];
    if (at < 0) {
      at = static_cast<std::int32_t>(into.ids.size());
      into.ids.push_back(from.ids[i]);
      into.values.resize(into.values.size() + width, 0.0F);
    }
    add(from.values.data() + i * width, into.values.data() + static_cast<std::size_t>(at) * width, width);
  }
  for (const std::int32_t id : into.ids) place[static_cast<std::size_t>(id)] = -1;
}

void append(std::string& to, const void* bytes, std::size_t size) {
  to.append(static_cast<const char*>(bytes), size);
}

void take(const std::string& from, std::size_t& at, void* to, std::size_t size) {
  if (size > from.size() - at) throw Error("another process sent rows that do not fit: is it the same program?");
  std::memcpy(to, from.data() + at, size);
  at += size;
}

void append_rows(std::string& to, const RowGradient& rows) {
  const auto count = static_cast<std::uint64_t>(rows.rows().size());
  append(to, &count, sizeof count);
  append(to, rows.rows().data(), count * sizeof(std::int32_t));
  if (count > 0) append(to, rows.values(0), count * static_cast<std::size_t>(rows.width()) * sizeof(float));
}

void take_rows(const std::string& from, std::size_t& at, std::size_t width, BranchRows& rows) {
  std::uint64_t count = 0;
  take(from, at, &count, sizeof count);
  if (count > from.size()) throw Error("another process sent rows that do not fit: is it the same program?");
  rows.ids.resize(count);
  rows.values.resize(count * width);
  take(from, at, rows.ids.data(), count * sizeof(std::int32_t));
  take(from, at, rows.values.data(), count * width * sizeof(float));
}

}  // namespace

GradientSum::GradientSum(Processes& processes, int copies, std::int64_t bucket_values)
    : processes_(processes), copies_(copies), bucket_values_(bucket_values) {
  const int count = processes.count();
  if (copies < count) {
    throw UsageError("replicas", fmt::format("must be at least the number of processes, {1}, is {0}", copies, count));
  }
  for (int rank = 0; rank < count; ++rank) {
    const int begin = share(copies, count, rank);
    const int end = share(copies, count, rank + 1);
    std::vector<int> starts;
    for (int i = begin; i < end; ++i) starts.push_back(i);
    each_pair(copies, begin, end, [&](int, int joined) { std::erase(starts, joined); });
    branches_.push_back(std::move(starts));
  }
  begin_ = share(copies, count, processes.rank());
  end_ = share(copies, count, processes.rank() + 1);
}

bool GradientSum::leaves_out(std::size_t entry) const {
  const auto& one = local_[0]->entries()[entry];
  return one.frozen || (!rows_.empty() && std::any_of(rows_[0].begin(), rows_[0].end(),
                                                      [&](const TrainedRows& rows) { return rows.name == one.name; }));
}

// Buckets from the last entry on, and memory for them; the same in every process.
void GradientSum::plan() {
  const auto& entries = local_[0]->entries();
  at_.assign(entries.size(), -1);
  bucket_of_.assign(entries.size(), 0);
  std::int64_t all = 0;
  for (std::size_t e = 0; e < entries.size(); ++e) {
    if (left_out_[e]) continue;
    at_[e] = all;
    all += entries[e].weight.size();
  }
  values_ = all;
  const std::int64_t wanted =
      std::max({bucket_values_, std::min(kSliceValues, bucket_values_) * processes_.count(), all / kMostBuckets + 1});
  buckets_.clear();
  for (std::size_t e = entries.size(); e-- > 0;) {
    if (at_[e] < 0) continue;
    if (buckets_.empty() || buckets_.back()->size >= wanted) {
      buckets_.push_back(std::make_unique<Bucket>());
      buckets_.back()->to = e + 1;
    }
    Bucket& bucket = *buckets_.back();
    bucket.from = e;
    bucket.begin = at_[e];
    bucket.size += entries[e].weight.size();
    bucket_of_[e] = buckets_.size() - 1;
  }
  const auto& mine = branches_[static_cast<std::size_t>(processes_.rank())];
  std::int64_t strangers = -static_cast<std::int64_t>(mine.size());
  for (const auto& starts : branches_) strangers += static_cast<std::int64_t>(starts.size());
  std::int64_t room = 0;
  for (const auto& bucket : buckets_) {
    bucket->room = room;
    room += strangers * (slice(*bucket, processes_.rank() + 1) - slice(*bucket, processes_.rank()));
    bucket->tree.resize(static_cast<std::size_t>(copies_));
  }
  own_.resize(mine.size() * static_cast<std::size_t>(all));
  others_.resize(static_cast<std::size_t>(room));
  sum_.resize(static_cast<std::size_t>(all));
}

std::int64_t GradientSum::slice(const Bucket& bucket, int rank) const {
  return bucket.begin + bucket.size * rank / processes_.count();
}

void GradientSum::begin(std::span<const Parameters* const> copies, std::span<const std::vector<TrainedRows>> rows) {
  local_ = copies;
  rows_ = rows;
  const std::size_t entries = copies[0]->entries().size();
  if (left_out_.size() != entries) {
    left_out_.clear();
    for (std::size_t e = 0; e < entries; ++e) left_out_.push_back(leaves_out(e));
  }
  if (processes_.alone()) return;
  if (at_.size() != entries) plan();
  complete_.assign(static_cast<std::size_t>(local()) * entries, 0);
  for (const auto& bucket : buckets_) {
    bucket->stage = Bucket::Stage::waiting;
    std::int64_t count = 0;
    for (std::size_t e = bucket->from; e < bucket->to; ++e) count += at_[e] < 0 ? 0 : 1;
    bucket->missing = count * local();
  }
}

void GradientSum::complete(int copy, std::size_t entry) {
  if (processes_.alone() || at_[entry] < 0) return;
  char& said = complete_[static_cast<std::size_t>(copy) * at_.size() + entry];
  if (said != 0) return;
  said = 1;
  const Timed timed(adding_);
  const std::size_t b = bucket_of_[entry];
  Bucket& bucket = *buckets_[b];
  if (bucket.missing.fetch_sub(1, std::memory_order_acq_rel) == 1) {
    for (std::size_t e = bucket.from; e < bucket.to; ++e) {
      if (at_[e] >= 0) add_entry(e);
    }
    const std::lock_guard lock(mutex_);
    send_branches(bucket, kFirstChannel + 2 * static_cast<int>(b));
  }
  poll();
}

void GradientSum::complete(int copy) {
  for (std::size_t e = 0; e < at_.size(); ++e) complete(copy, e);
}

void GradientSum::operator()(std::span<const Parameters* const> copies,
                             std::span<const std::vector<TrainedRows>> rows) {
  begin(copies, rows);
  for (int copy = 0; copy < local(); ++copy) complete(copy);
  finish();
}

// Adds an entry of this process's copies, and puts its branches where they are sent from.
void GradientSum::add_entry(std::size_t entry) {
  const auto gradient = [&](int copy) {
    return local_[static_cast<std::size_t>(copy - begin_)]->entries()[entry].weight.grad();
  };
  const auto add = kernels::active().math->add_in_place;
  each_pair(copies_, begin_, end_, [&](int into, int from) {
    const Tensor sum = gradient(into);
    add(gradient(from).data(), sum.data(), static_cast<std::size_t>(sum.size()));
  });
  const auto& mine = branches_[static_cast<std::size_t>(processes_.rank())];
  for (std::size_t b = 0; b < mine.size(); ++b) {
    const Tensor sum = gradient(mine[b]);
    float* const to = own_.data() + static_cast<std::int64_t>(b) * values_ + at_[entry];
    std::memcpy(to, sum.data(), static_cast<std::size_t>(sum.size()) * sizeof(float));
  }
  for (const Parameters* copy : local_) copy->entries()[entry].weight.zero_grad();
}

// To each process its slice of this one's branches. Each begins with the next one, so that not all of them send to the
// same.
void GradientSum::send_branches(Bucket& bucket, int channel) {
  const int count = processes_.count();
  const int me = processes_.rank();
  const auto& mine = branches_[static_cast<std::size_t>(me)];
  const auto width = static_cast<std::size_t>(slice(bucket, me + 1) - slice(bucket, me));
  std::fill(bucket.tree.begin(), bucket.tree.end(), nullptr);
  for (std::size_t b = 0; b < mine.size(); ++b) {
    bucket.tree[static_cast<std::size_t>(mine[b])] =
        own_.data() + static_cast<std::int64_t>(b) * values_ + slice(bucket, me);
  }
  send_.clear();
  receive_.clear();
  float* room = others_.data() + bucket.room;
  for (int step = 1; step < count; ++step) {
    const int to = (me + step) % count;
    const int from = (me + count - step) % count;
    for (std::size_t b = 0; b < mine.size(); ++b) {
      const float* const at = own_.data() + static_cast<std::int64_t>(b) * values_ + slice(bucket, to);
      send_.push_back(
          {to, std::as_bytes(std::span(at, static_cast<std::size_t>(slice(bucket, to + 1) - slice(bucket, to))))});
    }
    for (const int start : branches_[static_cast<std::size_t>(from)]) {
      receive_.push_back({from, std::as_writable_bytes(std::span(room, width))});
      bucket.tree[static_cast<std::size_t>(start)] = room;
      room += width;
    }
  }
  bucket.ticket = processes_.start(channel, send_, receive_);
  bucket.stage = Bucket::Stage::branches;
}

// This process's slice of the sum to all others, and theirs.
void GradientSum::send_sums(Bucket& bucket, int channel) {
  const int count = processes_.count();
  const int me = processes_.rank();
  const auto part = [&](int rank) {
    return std::span(sum_).subspan(static_cast<std::size_t>(slice(bucket, rank)),
                                   static_cast<std::size_t>(slice(bucket, rank + 1) - slice(bucket, rank)));
  };
  const std::span<float> own = part(me);
  add_tree(bucket.tree, static_cast<std::int64_t>(own.size()));
  if (!own.empty()) std::memcpy(own.data(), bucket.tree[0], own.size_bytes());
  send_.clear();
  receive_.clear();
  for (int step = 1; step < count; ++step) {
    send_.push_back({(me + step) % count, std::as_bytes(own)});
    const int from = (me + count - step) % count;
    receive_.push_back({from, std::as_writable_bytes(part(from))});
  }
  bucket.ticket = processes_.start(channel, send_, receive_);
  bucket.stage = Bucket::Stage::sums;
}

// branches[i] of every leaf i that begins a branch, or null; the sum is left in branches[0].
void GradientSum::add_tree(std::span<float* const> branches, std::int64_t size) const {
  const auto add = kernels::active().math->add_in_place;
  each_pair(copies_, 0, copies_, [&](int i, int j) {
    const float* const part = branches[static_cast<std::size_t>(j)];
    if (part == nullptr) return;  // its process has added it
    add(part, branches[static_cast<std::size_t>(i)], static_cast<std::size_t>(size));
  });
}

// Moves on what can be moved on without waiting.
void GradientSum::poll() {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock()) return;
  for (std::size_t b = 0; b < buckets_.size(); ++b) {
    Bucket& bucket = *buckets_[b];
    if (bucket.stage == Bucket::Stage::branches && processes_.done(bucket.ticket)) {
      send_sums(bucket, kFirstChannel + 2 * static_cast<int>(b) + 1);
    } else if (bucket.stage == Bucket::Stage::sums && processes_.done(bucket.ticket)) {
      bucket.stage = Bucket::Stage::whole;
    }
  }
}

void GradientSum::finish() {
  if (processes_.alone()) {
    add_local();
    add_local_rows();
    return;
  }
  const Timed timed(waiting_);
  for (std::size_t b = 0; b < buckets_.size(); ++b) {
    Bucket& bucket = *buckets_[b];
    if (bucket.stage == Bucket::Stage::waiting) throw Error("a gradient is not complete");
    if (bucket.stage != Bucket::Stage::branches) continue;
    processes_.wait(bucket.ticket);
    send_sums(bucket, kFirstChannel + 2 * static_cast<int>(b) + 1);
  }
  for (const auto& bucket : buckets_) {
    if (bucket->stage == Bucket::Stage::sums) processes_.wait(bucket->ticket);
    bucket->stage = Bucket::Stage::whole;
  }
  put_back();
  add_local_rows();
  add_rows_of_others();
}

// The sum as the gradients of the first copy.
void GradientSum::put_back() {
  const auto& entries = local_[0]->entries();
  parallel_for(static_cast<std::int64_t>(entries.size()), 1, [&](std::int64_t begin, std::int64_t end) {
    for (auto e = static_cast<std::size_t>(begin); e < static_cast<std::size_t>(end); ++e) {
      if (at_[e] < 0) continue;
      const GradTarget target = entries[e].weight.grad_target();
      std::memcpy(target.tensor.data(), sum_.data() + at_[e],
                  static_cast<std::size_t>(target.tensor.size()) * sizeof(float));
    }
  });
}

void GradientSum::add_local() const {
  const std::size_t entries = local_[0]->entries().size();
  each_pair(copies_, begin_, end_, [&](int into, int from) {
    const auto& sum = local_[static_cast<std::size_t>(into - begin_)]->entries();
    const auto& part = local_[static_cast<std::size_t>(from - begin_)]->entries();
    for (std::size_t e = 0; e < entries; ++e) {
      if (left_out_[e]) continue;
      sum[e].weight.accumulate(part[e].weight.grad());
      part[e].weight.zero_grad();
    }
  });
}

void GradientSum::add_local_rows() const {
  if (rows_.empty()) return;
  each_pair(copies_, begin_, end_, [&](int into, int from) {
    const auto& sum = rows_[static_cast<std::size_t>(into - begin_)];
    const auto& part = rows_[static_cast<std::size_t>(from - begin_)];
    for (std::size_t r = 0; r < sum.size(); ++r) add_rows(*part[r].gradient, *sum[r].gradient);
  });
}

// Every process gets the rows of every branch and adds them in the order of the tree. A step reads few rows of a table:
// this is less than the table as long as the rows of all processes together are fewer than twice its own.
void GradientSum::add_rows_of_others() {
  if (rows_.empty()) return;
  const auto& mine = branches_[static_cast<std::size_t>(processes_.rank())];
  for (std::size_t r = 0; r < rows_[0].size(); ++r) {
    RowGradient& result = *rows_[0][r].gradient;
    const Var& table = *local_[0]->find(rows_[0][r].name);
    const auto width = static_cast<std::size_t>(result.width());
    std::string own;
    for (const int start : mine) append_rows(own, *rows_[static_cast<std::size_t>(start - begin_)][r].gradient);
    std::vector<BranchRows> branches(static_cast<std::size_t>(copies_));
    const std::vector<std::string> all = gather(processes_, own);
    for (std::size_t rank = 0; rank < all.size(); ++rank) {
      std::size_t at = 0;
      for (const int start : branches_[rank]) {
        BranchRows& rows = branches[static_cast<std::size_t>(start)];
        take_rows(all[rank], at, width, rows);
        for (const std::int32_t id : rows.ids) {
          if (id < 0 || id >= table.dim(0)) throw Error("another process sent a row that is not in the table");
        }
      }
    }
    if (place_.size() < static_cast<std::size_t>(table.dim(0)))
      place_.resize(static_cast<std::size_t>(table.dim(0)), -1);
    each_pair(copies_, 0, copies_, [&](int into, int from) {
      BranchRows& part = branches[static_cast<std::size_t>(from)];
      join(branches[static_cast<std::size_t>(into)], part, width, place_);
      part = {};
    });
    for (const auto& copy : rows_) copy[r].gradient->clear();
    for (std::size_t i = 0; i < branches[0].ids.size(); ++i) {
      std::copy_n(branches[0].values.data() + i * width, width, result.row(branches[0].ids[i]));
    }
  }
}

double GradientSum::take_seconds() {
  const double threads_at_work = std::min(local(), threads());
  return (static_cast<double>(waiting_.exchange(0)) + static_cast<double>(adding_.exchange(0)) / threads_at_work) *
         1e-9;
}

}  // namespace fovea
