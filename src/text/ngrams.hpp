// How likely a token is after those before it, by counting.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace fovea::text {

/// An n-gram model with Kneser and Ney's smoothing (1995; interpolated as in Chen and Goodman 1999):
///
///     P_n(w | h) = (max(c(hw) - D, 0) + D * followers(h) * P_{n-1}(w | h')) / c(h·)      h' is h without its first
///     token
///
/// where c(hw) is how often hw was seen if it is of the highest order or begins a sequence, else the number of
/// different tokens it was seen after. Sequences begin with a token that stands for the beginning and stands nowhere
/// else.
class Ngrams {
 public:
  static constexpr std::size_t kMostOrder = 12;
  /// `order`: the longest run that is counted, 1 to kMostOrder. `discount`: D, between 0 and 1.
  explicit Ngrams(std::size_t order = 8, double discount = 0.8);

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
      double total, followers;
    };
    const Ngrams* model_;
    std::array<Level, kMostOrder> levels_;  // the shortest history first
    std::size_t count_ = 0;
  };

 private:
  struct Node {
    std::uint64_t hash = 0;       // of the run; 0: nothing is here
    std::uint32_t count = 0;      // of the run itself
    std::uint32_t total = 0;      // of runs that are this one and a token more
    std::uint32_t followers = 0;  // different tokens among them
  };
  [[nodiscard]] std::size_t place(std::uint64_t hash) const;
  Node& node(std::uint64_t hash);
  [[nodiscard]] const Node* find(std::uint64_t hash) const;

  std::size_t order_;
  double discount_;
  std::vector<Node> nodes_;  // open addressing; a power of two
  std::size_t used_ = 0;
};

}  // namespace fovea::text
