#include "view/lesson/equations.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "fovea/error.hpp"
#include "view/terminal/number_table.hpp"

namespace fovea::view {
namespace {

constexpr std::size_t kMostPowers = 16;  // of a softmax written out

std::string in_brackets(double value, const std::string& text) {
  return value < 0 ? "(" + text + ")" : text;
}

// A factor of a sum: short if round ("0.5"), otherwise with `decimals` ("0.70" for 0.7034).
std::string factor(double value, int decimals) {
  constexpr int kRound = 1;
  for (int enough = 0; enough <= std::min(kRound, decimals); ++enough) {
    const double unit = std::pow(10, enough);
    if (std::abs(value - std::round(value * unit) / unit) <= 1e-6)
      return in_brackets(value, shown_number(value, enough));
  }
  return in_brackets(value, shown_number(value, decimals));
}

}  // namespace

std::vector<std::int64_t> largest_of(const std::vector<double>& sizes, std::int64_t most,
                                     const std::vector<std::int64_t>& keep) {
  std::vector<std::int64_t> order(sizes.size());
  std::iota(order.begin(), order.end(), 0);
  if (static_cast<std::int64_t>(sizes.size()) <= most) return order;
  std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
    return sizes[static_cast<std::size_t>(a)] > sizes[static_cast<std::size_t>(b)];
  });
  std::set<std::int64_t> chosen(keep.begin(), keep.end());
  for (const std::int64_t i : order) {
    if (static_cast<std::int64_t>(chosen.size()) >= most) break;
    chosen.insert(i);
  }
  return {chosen.begin(), chosen.end()};
}

Message entry(const std::string& symbol, const Message& row, const Message& column) {
  return Message::of("at", {{"symbol", symbol}, {"row", row}, {"column", column}});
}

Message column_number(std::int64_t column) {
  return fmt::format("#{}", column + 1);
}

Message equation(const std::vector<Message>& sides) {
  Message out = sides.back();
  for (std::size_t i = sides.size() - 1; i-- > 0;) {
    out = Message::of("equation", {{"left", sides[i]}, {"right", std::move(out)}});
  }
  return out;
}

Message sum_of_products(const std::vector<double>& a, const std::vector<double>& b, std::size_t most, int decimals) {
  if (a.size() != b.size()) throw ShapeError(fmt::format("sum: {} and {} factors", a.size(), b.size()));
  std::vector<double> sizes;
  for (std::size_t i = 0; i < a.size(); ++i) sizes.push_back(std::abs(a[i] * b[i]));
  const auto shown = largest_of(sizes, static_cast<std::int64_t>(most));
  std::string terms;
  double written = 0;
  for (const std::int64_t at : shown) {
    const auto i = static_cast<std::size_t>(at);
    terms += (terms.empty() ? "" : " + ") + factor(a[i], decimals) + "·" + factor(b[i], decimals);
    written += a[i] * b[i];
  }
  if (shown.size() == a.size()) return terms;
  const double rest = std::inner_product(a.begin(), a.end(), b.begin(), 0.0) - written;
  return Message::of("sum.rest", {{"terms", terms},
                                  {"rest", in_brackets(rest, shown_number(rest, decimals))},
                                  {"count", a.size() - shown.size()}});
}

Message with_bias(const Message& sum, double bias, const std::string& name) {
  return Message::of("sum.biased", {{"terms", sum}, {"bias", shown_number(bias, kTermDecimals)}, {"name", name}});
}

Message softmax_equation(const Message& name, const std::vector<double>& scores, std::int64_t at, double weight,
                         int decimals) {
  const double largest = *std::max_element(scores.begin(), scores.end());
  std::vector<double> visible;
  for (const double score : scores) {
    if (std::isfinite(score)) visible.push_back(score);
  }
  double sum = 0;
  for (const double score : visible) sum += std::exp(score - largest);
  std::string powers;
  double rest = sum;
  const auto shown = largest_of(visible, kMostPowers);
  for (const std::int64_t i : shown) {
    const double difference = visible[static_cast<std::size_t>(i)] - largest;
    powers += (powers.empty() ? "e^" : " + e^") + shown_number(difference, decimals);
    rest -= std::exp(difference);
  }
  Message terms = powers;
  if (shown.size() < visible.size()) {
    terms = Message::of("softmax.rest",
                        {{"terms", powers}, {"rest", shown_number(rest, 4)}, {"count", visible.size() - shown.size()}});
  }
  const double score = scores[static_cast<std::size_t>(at)];
  return Message::of("softmax", {{"name", name},
                                 {"score", shown_number(score, decimals)},
                                 {"largest", in_brackets(largest, shown_number(largest, decimals))},
                                 {"terms", terms},
                                 {"power", shown_number(std::exp(score - largest), 4)},
                                 {"sum", shown_number(sum, 4)},
                                 {"weight", shown_number(weight, 4)}});
}

}  // namespace fovea::view
