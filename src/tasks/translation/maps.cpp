#include "tasks/translation/maps.hpp"

#include <algorithm>
#include <numeric>
#include <type_traits>

#include "fovea/error.hpp"
#include "fovea/text.hpp"
#include "text/words.hpp"

namespace fovea {
namespace {

constexpr std::int64_t kLongText = 1024;  // tokens, from which on all weights would be too many
constexpr std::int64_t kLargest = 32;     // then of each query

using Rows = std::vector<std::vector<float>>;

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

// As a search gives it, to the bit: see GeneratorStepper::attention and Translator::finish.
Rows mean_over(const std::vector<Var>& layers, std::int64_t row, const AttentionChoice& which, std::size_t queries,
               std::size_t keys) {
  Rows mean(queries, std::vector<float>(keys, 0.0F));
  double count = 0;
  for (std::size_t l = 0; l < layers.size(); ++l) {
    if (which.layer >= 0 && which.layer != static_cast<int>(l)) continue;
    const Tensor w = layers[l].value().select(0, row).contiguous();
    for (std::int64_t h = 0; h < w.dim(0); ++h) {
      if (which.head >= 0 && which.head != h) continue;
      count += 1;
      for (std::size_t r = 0; r < queries; ++r) {
        const float* in = w.data() + (h * w.dim(1) + static_cast<std::int64_t>(r)) * w.dim(2);
        for (std::size_t k = 0; k < keys; ++k) mean[r][k] += in[k];
      }
    }
  }
  for (auto& one : mean) {
    for (float& v : one) v = static_cast<float>(v / std::max(1.0, count));
    make_sum_one(one.data(), static_cast<std::int64_t>(keys));
  }
  return mean;
}

AttentionMatrix merged(const AttentionMatrix& m, const text::PieceWords& keys, const text::PieceWords& queries) {
  Rows rows;
  for (std::int64_t r = 0; r < m.rows; ++r) {
    const auto row = m.values.begin() + r * m.columns;
    rows.emplace_back(row, row + m.columns);
  }
  AttentionMatrix out{
      static_cast<std::int64_t>(queries.words.size()), static_cast<std::int64_t>(keys.words.size()), {}};
  for (const auto& row : text::merge_attention(rows, keys, queries)) {
    out.values.insert(out.values.end(), row.begin(), row.end());
  }
  return out;
}

}  // namespace

MapRequest::MapRequest(const TranslateOptions& options, std::int64_t longest) {
  const auto wants = [&](AttentionKind kind) {
    return std::find(options.kinds.begin(), options.kinds.end(), kind) != options.kinds.end();
  };
  cross = wants(AttentionKind::cross);
  encoder = wants(AttentionKind::encoder);
  decoder = wants(AttentionKind::decoder);
  if (any()) top = shown_weights(options.top_weights, longest);
}

std::int64_t weights_of(const Memory& memory, const ModelConfig& config, const MapRequest& maps, std::int64_t rows,
                        std::int64_t read, std::int64_t written) {
  const auto shown = [&](std::int64_t keys) { return maps.top > 0 ? std::min(maps.top, keys) : keys; };
  std::int64_t count = 0;
  for (const Var& layer : memory.attention) count += layer.value().size();
  for (const TopWeights& layer : memory.attention_top) count += layer.weight.size();
  const std::int64_t of_query = (maps.decoder ? shown(written) : 0) + (maps.cross ? shown(read) : 0);
  return count + rows * config.attention_layers() * config.attention_heads() * written * of_query;
}

std::int64_t shown_weights(std::int64_t asked, std::int64_t longest) {
  return asked > 0 ? asked : longest > kLongText ? kLargest : 0;
}

void take_decoder_maps(const Decoded& decoded, std::int64_t row, const std::vector<std::string>& fed,
                       std::vector<AttentionMap>& maps) {
  add_layers(maps, AttentionKind::decoder, decoded.self, row, fed, fed);
  add_layers(maps, AttentionKind::decoder, decoded.self_top, row, fed, fed);
}

void take_maps(const Memory& memory, const Decoded& decoded, std::int64_t row, const std::vector<std::string>& source,
               const std::vector<std::string>& target, std::vector<AttentionMap>& maps) {
  std::vector<std::string> fed{"<s>"};  // what stands at the decoder's positions: the output, shifted by one
  fed.insert(fed.end(), target.begin(), target.end() - 1);
  add_layers(maps, AttentionKind::encoder, memory.attention, row, source, source);
  add_layers(maps, AttentionKind::encoder, memory.attention_top, row, source, source);
  take_decoder_maps(decoded, row, fed, maps);
  add_layers(maps, AttentionKind::cross, decoded.cross, row, target, source);
  add_layers(maps, AttentionKind::cross, decoded.cross_top, row, target, source);
}

void take_maps(const Memory& memory, const Decoded& decoded, std::int64_t row, const AttentionChoice& which,
               bool with_mean, Translation& t) {
  take_maps(memory, decoded, row, t.source_tokens, t.target_tokens, t.maps);
  if (!with_mean) return;
  if (!decoded.cross.empty()) {
    t.attention = mean_over(decoded.cross, row, which, t.target_tokens.size(), t.source_tokens.size());
  } else if (!decoded.cross_top.empty()) {
    std::vector<AttentionMap> chosen;
    for (const AttentionMap& map : t.maps) {
      const bool here = map.kind == AttentionKind::cross && (which.layer < 0 || which.layer == map.layer) &&
                        (which.head < 0 || which.head == map.head);
      if (here) chosen.push_back(map);
    }
    t.largest = mean_of_largest(chosen);
  }
}

void merge_words(Translation& t, const Tokenizers& tokenizers) {
  const auto words = [&](AttentionSide side, const std::vector<std::string>& pieces) {
    const Tokenizer& tokenizer = side == AttentionSide::source ? *tokenizers.source : *tokenizers.target;
    return text::words_of_pieces(tokenizer.kind(), pieces);
  };
  if (t.largest) throw UsageError("merge_words: weights between words need all weights, not the largest only");
  const auto source = words(AttentionSide::source, t.source_tokens);
  const auto target = words(AttentionSide::target, t.target_tokens);
  if (!t.attention.empty()) t.attention = text::merge_attention(t.attention, source, target);
  t.copied = text::mean_of_pieces(t.copied, target);
  for (AttentionMap& map : t.maps) {
    if (map.largest) throw UsageError("merge_words: weights between words need all weights, not the largest only");
    const AttentionKindInfo& info = info_of(map.kind);
    const auto queries = words(info.queries, map.queries);
    const auto keys = words(info.keys, map.keys);
    map.weights = merged(map.weights, keys, queries);
    map.queries = queries.words;
    map.keys = keys.words;
  }
  t.source_tokens = source.words;
  t.target_tokens = target.words;
}

}  // namespace fovea
