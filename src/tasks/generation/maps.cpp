#include "tasks/generation/maps.hpp"

#include <algorithm>
#include <numeric>
#include <type_traits>

#include "attention/head_mean.hpp"
#include "fovea/error.hpp"
#include "fovea/text.hpp"
#include "text/words.hpp"

namespace fovea {
namespace {

constexpr std::int64_t kLongText = 1024;  // tokens; of longer texts all weights would be too many
constexpr std::int64_t kLargest = 32;     // of each query of a long text

void make_sum_one(float* row, std::int64_t count) {
  const float sum = std::accumulate(row, row + count, 0.0F);
  if (sum > 0) std::for_each(row, row + count, [sum](float& v) { v /= sum; });
}

// Of row `row` of a layer's weights [batch, heads, queries, keys], one map per head, without padding.
void add_maps(std::vector<AttentionMap>& maps, AttentionKind kind, int layer, const Tensor& weights, std::int64_t row,
              const std::vector<std::string>& queries, const std::vector<std::string>& keys) {
  const Tensor w = weights.select(0, row).contiguous();
  const auto rows = static_cast<std::int64_t>(queries.size());
  const auto columns = static_cast<std::int64_t>(keys.size());
  for (std::int64_t h = 0; h < w.dim(0); ++h) {
    AttentionMap map{kind, layer, static_cast<int>(h), queries, keys, {rows, columns, {}}, {}};
    map.weights.values.resize(static_cast<std::size_t>(rows * columns));
    for (std::int64_t r = 0; r < rows; ++r) {
      float* to = map.weights.values.data() + r * columns;
      std::copy_n(w.data() + (h * w.dim(1) + r) * w.dim(2), columns, to);
      make_sum_one(to, columns);
    }
    maps.push_back(std::move(map));
  }
}

// The same of the largest weights, [batch, queries, count] or [batch, heads, queries, count].
void add_maps(std::vector<AttentionMap>& maps, AttentionKind kind, int layer, const TopWeights& top, std::int64_t row,
              const std::vector<std::string>& queries, const std::vector<std::string>& keys) {
  const bool headless = top.weight.rank() == 3;
  const std::int64_t heads = headless ? 1 : top.weight.dim(1);
  const std::int64_t all = top.weight.dim(-2);
  const std::int64_t count = top.weight.dim(-1);
  const auto rows = static_cast<std::int64_t>(queries.size());
  const auto columns = static_cast<std::int64_t>(keys.size());
  const std::int64_t kept = std::min(count, columns);
  for (std::int64_t h = 0; h < heads; ++h) {
    AttentionMap map{kind, layer, static_cast<int>(h), queries, keys, {}, {rows, columns, kept, {}, {}}};
    map.largest.index.reserve(static_cast<std::size_t>(rows * kept));
    map.largest.weight.reserve(static_cast<std::size_t>(rows * kept));
    for (std::int64_t r = 0; r < rows; ++r) {
      const std::int64_t from = ((row * heads + h) * all + r) * count;
      for (std::int64_t n = 0; n < kept; ++n) {
        // Keys without weight fill a row up; in a padded batch they may be padding.
        const bool real = top.index[static_cast<std::size_t>(from + n)] < columns;
        map.largest.index.push_back(real ? top.index[static_cast<std::size_t>(from + n)] : 0);
        map.largest.weight.push_back(real ? top.weight.data()[from + n] : 0.0F);
      }
    }
    maps.push_back(std::move(map));
  }
}

// Of every layer.
template <class Layers>
void add_layers(std::vector<AttentionMap>& maps, AttentionKind kind, const Layers& layers, std::int64_t row,
                const std::vector<std::string>& queries, const std::vector<std::string>& keys) {
  for (std::size_t l = 0; l < layers.size(); ++l) {
    if constexpr (std::is_same_v<typename Layers::value_type, Var>) {
      add_maps(maps, kind, static_cast<int>(l), layers[l].value(), row, queries, keys);
    } else {
      add_maps(maps, kind, static_cast<int>(l), layers[l], row, queries, keys);
    }
  }
}

// Pieces of one side of a record, joined to words. The regions of a picture stay as they are.
text::PieceWords words_of(AttentionSide side, const std::vector<std::string>& pieces, const AttentionRecord& record,
                          const Tokenizers& tokenizers) {
  if (side == AttentionSide::source && record.picture.rows > 0) {
    text::PieceWords regions{pieces, std::vector<std::int32_t>(pieces.size())};
    std::iota(regions.of_piece.begin(), regions.of_piece.end(), 0);
    return regions;
  }
  const bool source = side == AttentionSide::source && tokenizers.source != nullptr;  // a language model has none
  return text::words_of_pieces((source ? tokenizers.source : tokenizers.target)->kind(), pieces);
}

void merge(AttentionMatrix& m, const text::PieceWords& keys, const text::PieceWords& queries) {
  m = {static_cast<std::int64_t>(queries.words.size()), static_cast<std::int64_t>(keys.words.size()),
       text::merge_attention(m.values, keys, queries)};
}

}  // namespace

MapRequest::MapRequest(const GenerateOptions& options, std::int64_t longest) {
  const auto wants = [&](AttentionKind kind) {
    return std::find(options.kinds.begin(), options.kinds.end(), kind) != options.kinds.end();
  };
  cross = wants(AttentionKind::cross);
  encoder = wants(AttentionKind::encoder);
  decoder = wants(AttentionKind::decoder);
  if (any()) top = shown_weights(options, longest);
}

std::int64_t shown_weights(const GenerateOptions& options, std::int64_t longest) {
  return options.top_weights.value_or(longest > kLongText ? kLargest : 0);
}

AttentionSize::AttentionSize(const ModelConfig& config)
    : layers(config.attention_layers()), heads(config.attention_heads()) {
  const auto* transformer = std::get_if<TransformerConfig>(&config.generator().decoder);
  if (config.task() != Task::complete || transformer == nullptr) return;
  layers = transformer->layers;
  heads = transformer->heads;
}

std::int64_t weights_of(const Memory* memory, const ModelConfig& config, const MapRequest& maps, std::int64_t rows,
                        std::int64_t read, std::int64_t written) {
  const auto shown = [&](std::int64_t keys) { return maps.top > 0 ? std::min(maps.top, keys) : keys; };
  std::int64_t count = 0;
  if (memory != nullptr) {
    for (const Var& layer : memory->attention) count += layer.value().size();
    for (const TopWeights& layer : memory->attention_top) count += layer.weight.size();
  }
  const std::int64_t of_query = (maps.decoder ? shown(written) : 0) + (maps.cross ? shown(read) : 0);
  const AttentionSize size(config);
  return count + rows * size.layers * size.heads * written * of_query;
}

void take_maps(const Memory* memory, const Decoded& decoded, std::int64_t row, AttentionRecord& r) {
  std::vector<std::string> fed = r.target;  // the tokens at the decoder's positions
  if (memory != nullptr) {
    fed.insert(fed.begin(), "<s>");
    fed.pop_back();
    add_layers(r.maps, AttentionKind::encoder, memory->attention, row, r.source, r.source);
    add_layers(r.maps, AttentionKind::encoder, memory->attention_top, row, r.source, r.source);
  }
  add_layers(r.maps, AttentionKind::decoder, decoded.self, row, fed, fed);
  add_layers(r.maps, AttentionKind::decoder, decoded.self_top, row, fed, fed);
  add_layers(r.maps, AttentionKind::cross, decoded.cross, row, r.target, r.source);
  add_layers(r.maps, AttentionKind::cross, decoded.cross_top, row, r.target, r.source);
}

void take_mean(AttentionKind kind, const Decoded& decoded, std::int64_t row, const AttentionChoice& which,
               AttentionRecord& r) {
  if (kind == AttentionKind::cross && !decoded.cross.empty()) {
    std::vector<Tensor> rows;
    std::vector<LayerWeights> layers;
    for (const Var& layer : decoded.cross) {
      const Tensor& w = rows.emplace_back(layer.value().select(0, row).contiguous());  // [heads, queries, keys]
      layers.push_back({w.data(), w.dim(0), w.dim(1) * w.dim(2), w.dim(2)});
    }
    r.weights.rows = static_cast<std::int64_t>(r.target.size());
    r.weights.columns = static_cast<std::int64_t>(r.source.size());
    r.weights.values.resize(r.target.size() * r.source.size());
    mean_over_heads(layers, which, r.weights.rows, r.weights.columns, r.weights.values.data());
    make_rows_sum_to_one(r.weights);
    return;
  }
  std::vector<AttentionMap> chosen;
  for (const AttentionMap& map : r.maps) {
    if (map.kind == kind && which.has(map.layer, map.head)) chosen.push_back(map);
  }
  if (chosen.empty()) return;
  if (chosen.front().largest) {
    r.largest = mean_of_largest(chosen);
  } else {
    r.weights = mean_of(chosen);
  }
}

void make_rows_sum_to_one(AttentionMatrix& weights) {
  for (std::int64_t r = 0; r < weights.rows; ++r) {
    make_sum_one(weights.values.data() + r * weights.columns, weights.columns);
  }
}

void merge_words(AttentionRecord& r, const Tokenizers& tokenizers) {
  const auto check_all = [](const LargestWeights& largest) {
    if (largest) throw UsageError("merge_words: weights between words need all weights, not the largest only");
  };
  check_all(r.largest);
  const text::PieceWords source = words_of(AttentionSide::source, r.source, r, tokenizers);
  const text::PieceWords target = words_of(AttentionSide::target, r.target, r, tokenizers);
  if (!r.weights.values.empty()) merge(r.weights, source, target);
  r.copied = text::mean_of_pieces(r.copied, target);
  for (AttentionMap& map : r.maps) {
    check_all(map.largest);
    const AttentionKindInfo& info = info_of(map.kind);
    const text::PieceWords queries = words_of(info.queries, map.queries, r, tokenizers);
    const text::PieceWords keys = words_of(info.keys, map.keys, r, tokenizers);
    merge(map.weights, keys, queries);
    map.queries = queries.words;
    map.keys = keys.words;
  }
  r.source = source.words;
  r.target = target.words;
}

}  // namespace fovea
