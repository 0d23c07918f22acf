#include "train/gradient_sum.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <thread>

#include "fovea/error.hpp"
#include "support/thread_processes.hpp"

namespace fovea {
namespace {

constexpr std::int64_t kWeights = 5 + 21 + 1;

// A copy of a small model with gradients that no order of adding leaves the same.
std::unique_ptr<Parameters> copy_number(int copy) {
  auto parameters = std::make_unique<Parameters>(1);
  int k = 0;
  for (const Shape& shape : {Shape{5}, Shape{3, 7}, Shape{1}}) {
    const Var weight = parameters->get("w" + std::to_string(k), shape, Init::zeros);
    Tensor gradient = Tensor::zeros(shape);
    for (float& v : gradient.values()) {
      v = static_cast<float>(std::sin(1.0 + copy * 37 + k) * std::pow(10.0, (copy + k) % 5));
      ++k;
    }
    weight.accumulate(gradient);
  }
  return parameters;
}

std::vector<float> gradients(const Parameters& parameters) {
  std::vector<float> all;
  for (const auto& entry : parameters.entries()) {
    const Tensor gradient = entry.weight.grad();
    all.insert(all.end(), gradient.values().begin(), gradient.values().end());
  }
  return all;
}

// What each process has as the sum.
std::vector<std::vector<float>> sums(int copies, int count, std::int64_t* sent = nullptr,
                                     std::int64_t bucket_values = 1 << 18) {
  std::vector<std::vector<float>> all(static_cast<std::size_t>(count));
  test::in_processes(count, [&](test::ThreadProcesses& own) {
    GradientSum sum(own, copies, bucket_values);
    std::vector<std::unique_ptr<Parameters>> local;
    std::vector<const Parameters*> pointers;
    for (int i = 0; i < sum.local(); ++i) pointers.push_back(local.emplace_back(copy_number(sum.first() + i)).get());
    sum(pointers);
    for (std::size_t i = 1; i < pointers.size(); ++i) {
      for (const float v : gradients(*pointers[i])) EXPECT_EQ(v, 0) << "the gradient of a copy was not taken";
    }
    all[static_cast<std::size_t>(own.rank())] = gradients(*pointers[0]);
    if (sent != nullptr && own.first()) *sent = own.sent;
  });
  return all;
}

TEST(GradientSum, IsTheSum) {
  for (const int copies : {1, 2, 3, 8}) {
    std::vector<double> wanted(kWeights, 0.0);
    std::vector<double> size(kWeights, 0.0);
    for (int copy = 0; copy < copies; ++copy) {
      const auto part = gradients(*copy_number(copy));
      for (std::size_t i = 0; i < part.size(); ++i) {
        wanted[i] += part[i];
        size[i] += std::abs(part[i]);
      }
    }
    const auto sum = sums(copies, 1)[0];
    for (std::size_t i = 0; i < sum.size(); ++i) EXPECT_NEAR(sum[i], wanted[i], 1e-6 * size[i]) << copies;
  }
}

TEST(GradientSum, HasTheSameBytesInAnyNumberOfProcesses) {
  for (const int copies : {2, 3, 4, 5, 6, 7, 8, 13}) {
    const auto alone = sums(copies, 1)[0];
    for (int count = 2; count <= copies; ++count) {
      for (const auto& sum : sums(copies, count)) EXPECT_EQ(sum, alone) << copies << " copies, " << count;
    }
  }
}

TEST(GradientSum, HasTheSameBytesInAnyBuckets) {
  for (const int copies : {2, 5, 8}) {
    const auto alone = sums(copies, 1)[0];
    for (const int count : {2, copies}) {
      for (const std::int64_t bucket : {1, 3, 9}) {
        for (const auto& sum : sums(copies, count, nullptr, bucket)) EXPECT_EQ(sum, alone) << copies << ", " << bucket;
      }
    }
  }
}

// Copies on threads of their own that are complete entry by entry, in an order of their own, step after step.
TEST(GradientSum, TakesGradientsWhenTheyAreComplete) {
  constexpr int copies = 6;
  const auto alone = sums(copies, 1)[0];
  test::in_processes(2, [&](test::ThreadProcesses& own) {
    GradientSum sum(own, copies, 4);
    for (int step = 0; step < 3; ++step) {
      std::vector<std::unique_ptr<Parameters>> local;
      std::vector<const Parameters*> pointers;
      for (int i = 0; i < sum.local(); ++i) pointers.push_back(local.emplace_back(copy_number(sum.first() + i)).get());
      sum.begin(pointers);
      std::vector<std::thread> threads;
      for (int i = 0; i < sum.local(); ++i) {
        threads.emplace_back([&, i] {
          for (const std::size_t entry : {(1 + i) % 3, (2 + i) % 3}) sum.complete(i, entry);
          sum.complete(i);
        });
      }
      for (std::thread& one : threads) one.join();
      sum.finish();
      EXPECT_EQ(gradients(*pointers[0]), alone);
    }
    EXPECT_GT(sum.take_seconds(), 0);
    EXPECT_EQ(sum.take_seconds(), 0);
  });
}

TEST(GradientSum, AGradientThatIsNotCompleteIsAnError) {
  test::in_processes(2, [](test::ThreadProcesses& own) {
    GradientSum sum(own, 2);
    const auto copy = copy_number(own.rank());
    const Parameters* pointer = copy.get();
    sum.begin({&pointer, 1});
    sum.complete(0, 1);
    EXPECT_THROW(sum.finish(), Error);
  });
}

// Frozen weights do not travel.
TEST(GradientSum, LeavesOutWhatIsFrozen) {
  test::in_processes(2, [](test::ThreadProcesses& own) {
    GradientSum sum(own, 2);
    const auto copy = copy_number(own.rank());
    copy->freeze("w5");  // 21 of 27 values
    const Parameters* pointer = copy.get();
    sum({&pointer, 1});
    EXPECT_EQ(own.sent, 6 * sizeof(float));
  });
}

struct Row {
  std::int32_t row;
  std::vector<float> values;
  bool operator==(const Row&) const = default;
};

// What each process has as the sum of rows of a table [50, 3], in the order in which they came.
std::vector<std::vector<Row>> sums_of_rows(int copies, int count, std::int64_t* sent = nullptr) {
  std::vector<std::vector<Row>> all(static_cast<std::size_t>(count));
  test::in_processes(count, [&](test::ThreadProcesses& own) {
    GradientSum sum(own, copies);
    std::vector<std::unique_ptr<Parameters>> local;
    std::vector<const Parameters*> pointers;
    std::vector<std::vector<TrainedRows>> rows;
    for (int i = 0; i < sum.local(); ++i) {
      const int copy = sum.first() + i;
      pointers.push_back(local.emplace_back(copy_number(copy)).get());
      (void)local.back()->get("table", {50, 3}, Init::zeros);
      const auto gradient = std::make_shared<RowGradient>(50, 3);
      for (int k = 0; k < 4; ++k) {
        float* row = gradient->row((7 * copy + 11 * k * k) % 20);
        for (int d = 0; d < 3; ++d)
          row[d] = std::sin(1.0F + static_cast<float>(copy * 5 + k + d)) * (k == 2 ? 1e4F : 1);
      }
      rows.push_back({{"table", gradient}});
    }
    sum(pointers, rows);
    const RowGradient& result = *rows[0][0].gradient;
    for (std::size_t i = 0; i < result.rows().size(); ++i) {
      all[static_cast<std::size_t>(own.rank())].push_back({result.rows()[i], {result.values(i), result.values(i) + 3}});
    }
    for (std::size_t i = 1; i < rows.size(); ++i) EXPECT_TRUE(rows[i][0].gradient->rows().empty());
    if (sent != nullptr && own.first()) *sent = own.sent;
  });
  return all;
}

TEST(GradientSum, RowsHaveTheSameBytesAndOrderInAnyNumberOfProcesses) {
  for (const int copies : {2, 3, 5, 8}) {
    const auto alone = sums_of_rows(copies, 1)[0];
    EXPECT_GT(alone.size(), 4U);
    for (int count = 2; count <= copies; ++count) {
      for (const auto& sum : sums_of_rows(copies, count)) EXPECT_EQ(sum, alone) << copies << " copies, " << count;
    }
  }
}

// Four rows with their numbers, and two counts; the table would be 600 bytes.
TEST(GradientSum, OnlyRowsThatThereAreTravel) {
  std::int64_t sent = 0;
  (void)sums_of_rows(2, 2, &sent);
  EXPECT_LE(sent, static_cast<std::int64_t>(kWeights * sizeof(float)) + 4 * (4 + 12) + 2 * 8);
}

// Half of the gradient to the other process, and half of the sum.
TEST(GradientSum, TwoProcessesSendTheSizeOfTheGradientEach) {
  std::int64_t sent = 0;
  (void)sums(8, 2, &sent);
  EXPECT_NEAR(static_cast<double>(sent), kWeights * sizeof(float), sizeof(float));
}

TEST(GradientSum, FewerCopiesThanProcessesAreRefused) {
  test::in_processes(3, [](Processes& own) { EXPECT_THROW(GradientSum(own, 2), UsageError); });
}

}  // namespace
}  // namespace fovea
