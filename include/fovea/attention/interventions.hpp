// Changes made to a model while it runs: edges cut or forced, heads silenced, tokens hidden.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fovea/attention/kind.hpp"

namespace FOVEA_API fovea {

/// Changes a query's weights before they make its context.
class WeightEditor {
 public:
  WeightEditor() = default;
  virtual ~WeightEditor() = default;
  WeightEditor(const WeightEditor&) = delete;
  WeightEditor& operator=(const WeightEditor&) = delete;

  /// A query of a head.
  struct Row {
    std::int64_t sequence = 0, head = 0, query = 0;  // as attend() counts them
    std::int64_t first_key = 0;                      // the key of weights[0]
  };
  /// `weights` of the keys from row.first_key on; `visible`, as long or empty (all are), says which the query sees.
  virtual void edit(const Row& row, std::span<float> weights, std::span<const std::uint8_t> visible) const = 0;
};

/// One change to attention. Positions are those of the maps' rows and columns.
struct AttentionEdit {
  /// What happens to the weights of a query.
  enum class What {
    cut,          // the key gets none; the others grow so that they sum to what they did
    force,        // the key gets `value`; the others shrink or grow to the rest
    uniform,      // every visible key gets the same
    temperature,  // as if the scores were divided by `value`: above 1 more even, below 1 sharper
    silence,      // the head gives zeros
  };
  What what = What::cut;                       // what is done
  std::optional<AttentionKind> kind{};         // only of this kind; empty: of all
  std::optional<int> layer{}, head{};          // only there, counted from 0; empty: in all
  std::optional<std::int64_t> query{}, key{};  // only there, counted from 0; empty: all. cut and force name a key
  float value = 1;                             // of force from 0 to 1, of temperature above 0

  bool operator==(const AttentionEdit&) const = default;  // every field
};

/// One change to the source.
struct TokenEdit {
  std::int64_t token = 0;                // its position, counted from 0
  std::optional<std::string> swapped{};  // the token that takes its place; empty: it is masked

  bool operator==(const TokenEdit&) const = default;  // every field
};

/// What is changed in a run. A masked token has an embedding of zeros, and nothing attends to it.
struct Interventions {
  std::vector<AttentionEdit> attention{};  // in this order
  std::vector<TokenEdit> tokens{};         // of the source

  /// Whether there is nothing to do.
  [[nodiscard]] bool empty() const { return attention.empty() && tokens.empty(); }
  /// Throws UsageError naming the field that cannot be.
  void check() const;
  /// Whether the source token is masked.
  [[nodiscard]] bool masks(std::int64_t token) const;
  /// Whether the weights of a layer are changed.
  [[nodiscard]] bool touches(AttentionKind kind, int layer) const;

  bool operator==(const Interventions&) const = default;  // every field
};

/// Applies interventions to one layer's attention.
class SiteEditor final : public WeightEditor {
 public:
  /// `step`: the position of all queries, while a decoder writes token by token; empty: that of query i is i.
  SiteEditor(const Interventions& interventions, AttentionKind kind, int layer,
             std::optional<std::int64_t> step = std::nullopt)
      : interventions_(interventions), kind_(kind), layer_(layer), step_(step) {}
  void edit(const Row& row, std::span<float> weights, std::span<const std::uint8_t> visible) const override;

 private:
  const Interventions& interventions_;
  AttentionKind kind_;
  int layer_;
  std::optional<std::int64_t> step_;
};

}  // namespace fovea
