// How likely a token is after those before it, by counting.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace fovea::text {

/// An n-gram model with Kneser and Ney's smoothing as modified by Chen and Goodman (1999):
///
///     P_n(w | h) = (c(hw) - D(c(hw)) + sum_k D(k) * followers_k(h) * P_{n-1}(w | h')) / c(h·)
///
/// h' is h without its first token. c(hw) is how often hw was seen if it is of the highest order or begins a sequence,
/// else the number of different tokens it was seen after; followers_k(h) are the different tokens with c(hw) = k, the
/// last of three k standing for 3 or more. D(0) = 0; each order has its other D from n_k, the number of its runs that
/// were counted k times: D(k) = k - (k + 1) n_{k+1} / n_k * n_1 / (n_1 + 2 n_2), or 0.8 where that is not
/// between 0 and k. Sequences begin with a token that stands for the beginning and stands nowhere else.
class Ngrams {
 public:
  static constexpr std::size_t kMostOrder = 12;
  /// `order`: the longest run that is counted, 1 to kMostOrder.
  explicit Ngrams(std::size_t order = 8);

  void remember(std::span<const std::int32_t> sequence);

  /// What is known of the tokens that follow a beginning of a sequence; good until the model changes.
  class Context {
   public:
    Context(const Ngrams& model, std::span<const std::int32_t> before);
    /// P(token | before), if `tokens` different ones are possible at all.
    [[nodiscard]] double probability(std::int32_t token, std::size_t tokens) const;

   private:
    struct Level {
      std::uint64_t hash;
      double total;
      double shared;  // the count that was taken from the followers, for all that may follow
    };
    const Ngrams* model_;
    std::array<Level, kMostOrder> levels_;  // the shortest history first
    std::size_t count_ = 0;
  };

 private:
  static constexpr std::size_t kClasses = 3;  // of counts: 1, 2, 3 or more
  struct Node {
    std::uint64_t hash = 0;                              // of the run; 0: nothing is here
    std::uint32_t count = 0;                             // of the run itself
    std::uint32_t total = 0;                             // of runs that are this one and a token more
    std::array<std::uint32_t, kClasses> followers = {};  // different tokens among them, by their count
  };
  struct Order {
    std::array<std::uint64_t, kClasses + 1> runs = {};  // that were counted once, twice …
    std::array<double, kClasses> discount = {};         // what is taken from a count of 1, 2, 3 or more
    void fit();
  };
  [[nodiscard]] std::size_t place(std::uint64_t hash) const;
  Node& node(std::uint64_t hash);
  [[nodiscard]] const Node* find(std::uint64_t hash) const;

  std::vector<Order> orders_;  // of runs of one token, two …
  std::vector<Node> nodes_;    // open addressing; a power of two
  std::size_t used_ = 0;
};

}  // namespace fovea::text
