#include "fovea/attention/interventions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "fovea/error.hpp"

namespace fovea {
namespace {

using What = AttentionEdit::What;
using Seen = std::span<const std::uint8_t>;

bool sees(const Seen& visible, std::size_t i) {
  return visible.empty() || visible[i] != 0;
}

// Multiplies all but `fixed` so that the row sums to `total` with it.
void rescale(std::span<float> w, std::size_t fixed, double total) {
  double others = 0;
  for (std::size_t i = 0; i < w.size(); ++i) others += i == fixed ? 0.0 : static_cast<double>(w[i]);
  const double rest = std::max(0.0, total - static_cast<double>(w[fixed]));
  for (std::size_t i = 0; i < w.size(); ++i) {
    if (i != fixed) w[i] = others > 0 ? static_cast<float>(static_cast<double>(w[i]) * rest / others) : 0.0F;
  }
}

void set_weight(std::span<float> w, const Seen& visible, std::int64_t at, float value) {
  if (at < 0 || at >= static_cast<std::int64_t>(w.size())) return;
  const auto i = static_cast<std::size_t>(at);
  if (!sees(visible, i)) return;
  const double total = std::accumulate(w.begin(), w.end(), 0.0);
  w[i] = value * static_cast<float>(total > 0 ? total : 1.0);
  rescale(w, i, total > 0 ? total : 1.0);
}

void make_uniform(std::span<float> w, const Seen& visible) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < w.size(); ++i) count += sees(visible, i) ? 1 : 0;
  for (std::size_t i = 0; i < w.size(); ++i) w[i] = sees(visible, i) ? 1.0F / static_cast<float>(count) : 0.0F;
}

// softmax(s / T) from w = softmax(s): w^(1/T), normalised.
void warm(std::span<float> w, float temperature) {
  const double total = std::accumulate(w.begin(), w.end(), 0.0);
  const float most = w.empty() ? 0.0F : *std::max_element(w.begin(), w.end());
  if (!(most > 0)) return;
  double sum = 0;
  for (float& x : w) {
    x = x > 0 ? static_cast<float>(std::pow(static_cast<double>(x / most), 1.0 / static_cast<double>(temperature)))
              : 0.0F;
    sum += static_cast<double>(x);
  }
  for (float& x : w) x = static_cast<float>(static_cast<double>(x) * total / sum);
}

bool is_key_of_source(AttentionKind kind) {
  return info_of(kind).keys == AttentionSide::source;
}

}  // namespace

void Interventions::check() const {
  for (const AttentionEdit& edit : attention) {
    const bool names_key = edit.what == What::cut || edit.what == What::force;
    if (names_key && !edit.key) throw UsageError("intervene", "cut and force name a key");
    if (edit.what == What::force && !(edit.value >= 0 && edit.value <= 1)) {
      throw UsageError("intervene", fmt::format("force {}: a weight is from 0 to 1", edit.value));
    }
    if (edit.what == What::temperature && !(edit.value > 0 && std::isfinite(edit.value))) {
      throw UsageError("intervene", fmt::format("temperature {}: it is above 0", edit.value));
    }
    for (const auto& position : {edit.query, edit.key}) {
      if (position && *position < 0)
        throw UsageError("intervene", fmt::format("position {}: counted from 0", *position));
    }
  }
  for (const TokenEdit& edit : tokens) {
    if (edit.token < 0) throw UsageError("intervene", fmt::format("token {}: counted from 0", edit.token));
  }
}

bool Interventions::masks(std::int64_t token) const {
  return std::any_of(tokens.begin(), tokens.end(),
                     [token](const TokenEdit& edit) { return edit.token == token && !edit.swapped; });
}

bool Interventions::touches(AttentionKind kind, int layer) const {
  if (is_key_of_source(kind) &&
      std::any_of(tokens.begin(), tokens.end(), [](const TokenEdit& edit) { return !edit.swapped; })) {
    return true;
  }
  return std::any_of(attention.begin(), attention.end(), [&](const AttentionEdit& edit) {
    return (!edit.kind || *edit.kind == kind) && (!edit.layer || *edit.layer == layer);
  });
}

void SiteEditor::edit(const Row& row, std::span<float> w, Seen visible) const {
  if (is_key_of_source(kind_)) {
    for (const TokenEdit& token : interventions_.tokens) {
      if (!token.swapped) set_weight(w, visible, token.token - row.first_key, 0);
    }
  }
  const std::int64_t query = step_.value_or(row.query);
  for (const AttentionEdit& edit : interventions_.attention) {
    const bool here = (!edit.kind || *edit.kind == kind_) && (!edit.layer || *edit.layer == layer_) &&
                      (!edit.head || *edit.head == row.head) && (!edit.query || *edit.query == query);
    if (!here) continue;
    switch (edit.what) {
      case What::cut:
        set_weight(w, visible, *edit.key - row.first_key, 0);
        break;
      case What::force:
        set_weight(w, visible, *edit.key - row.first_key, edit.value);
        break;
      case What::uniform:
        make_uniform(w, visible);
        break;
      case What::temperature:
        warm(w, edit.value);
        break;
      case What::silence:
        std::fill(w.begin(), w.end(), 0.0F);
        break;
    }
  }
}

}  // namespace fovea
