// Numbers worked out in one line of text: sums of products, a softmax.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "view/lesson/words.hpp"

namespace fovea::view {

constexpr int kModelDecimals = 3;  // of a trained model's numbers
constexpr int kTermDecimals = 5;   // of the factors of their sums

/// The indices of the `most` largest sizes and those of `keep`, in ascending order.
[[nodiscard]] std::vector<std::int64_t> largest_of(const std::vector<double>& sizes, std::int64_t most,
                                                   const std::vector<std::int64_t>& keep = {});

/// "Q[kitten, 1]".
[[nodiscard]] Message entry(const std::string& symbol, const Message& row, const Message& column);
/// The column of an entry, numbered from 1: "#3".
[[nodiscard]] Message column_number(std::int64_t column);

/// "left = right", or more sides.
[[nodiscard]] Message equation(const std::vector<Message>& sides);

/// A sum of products: "1.5·(−0.25) + …". Of more than `most` terms the largest are written, and the sum of the others.
/// Throws ShapeError for factors of different counts.
[[nodiscard]] Message sum_of_products(const std::vector<double>& a, const std::vector<double>& b, std::size_t most,
                                      int decimals = kTermDecimals);

/// "sum + 0.5 (b_Q)".
[[nodiscard]] Message with_bias(const Message& sum, double bias, const std::string& name);

/// The softmax of one of a row of scores with weight `weight`: the largest score is subtracted first.
[[nodiscard]] Message softmax_equation(const Message& name, const std::vector<double>& scores, std::int64_t at,
                                       double weight, int decimals = kModelDecimals);

}  // namespace fovea::view
