#include "model/turns.hpp"

#include <algorithm>
#include <utility>

#include "fovea/ops.hpp"

namespace fovea {

TurnPlaces::TurnPlaces(const Tokens& source)
    : back(source.ids.size(), 0), number(source.ids.size(), 0), turns(source.lengths.size(), 0) {
  for (std::int64_t b = 0; b < source.batch; ++b) {
    const std::int64_t length = source.lengths[static_cast<std::size_t>(b)];
    std::int64_t& count = turns[static_cast<std::size_t>(b)];
    std::int64_t begin = 0;
    for (std::int64_t i = 0; i < length; ++i) {
      const auto at = static_cast<std::size_t>(b * source.length + i);
      number[at] = static_cast<std::int32_t>(count);
      if (source.ids[at] != bos_id && i + 1 < length) continue;
      first.push_back(begin);
      size.push_back(i + 1 - begin);
      row.push_back(static_cast<std::int32_t>(b));
      longest = std::max(longest, size.back());
      begin = i + 1;
      ++count;
    }
    for (std::int64_t i = 0; i < length; ++i) {
      const auto at = static_cast<std::size_t>(b * source.length + i);
      back[at] = static_cast<std::int32_t>(count) - 1 - number[at];
    }
    most = std::max(most, count);
  }
}

Var TurnEmbedding::add_to(const Var& embedded, const TurnPlaces& places) const {
  std::vector<std::int32_t> back = places.back;
  const auto last = static_cast<std::int32_t>(embedding_.table.dim(0)) - 1;
  for (std::int32_t& turn : back) turn = std::min(turn, last);
  return add(embedded, embedding_(back, {embedded.dim(0), embedded.dim(1)}));
}

TurnAttention::TurnAttention(Parameters& p, const std::string& name, std::int64_t most, std::int64_t width)
    : places_(p, name + ".places", most, width, {.scaled = false}),
      words_(p, name + ".words", width, width),
      turns_(p, name + ".turns", {.dim = width, .heads = 1}),
      norm_(p, name + ".norm", width) {}

Memory TurnAttention::encode(const Encoder& encoder, const Var& embedded, const Tokens& source,
                             const TurnPlaces& places, Pass& pass, bool want_attention) const {
  const auto turns = static_cast<std::int64_t>(places.first.size());
  const std::int64_t batch = source.batch, length = source.length, longest = places.longest, most = places.most;
  // From rows of tokens to rows of turns. Padding copies an arbitrary row, which is never read.
  std::vector<std::int32_t> take(static_cast<std::size_t>(turns * longest), 0);
  std::vector<std::int32_t> word_at(static_cast<std::size_t>(batch * length), 0);  // the new place of a token
  std::vector<std::int32_t> turn_at(static_cast<std::size_t>(batch * length), 0);  // its turn in [batch, most]
  std::vector<std::int32_t> turn_row(static_cast<std::size_t>(batch * most), 0);   // the turn at [b, t]
  std::vector<std::int32_t> back(static_cast<std::size_t>(batch * most), 0);
  std::vector<std::int32_t> last(static_cast<std::size_t>(batch), 0);  // turn of each row
  std::int64_t of_row = 0;
  for (std::int64_t n = 0; n < turns; ++n) {
    const std::int64_t b = places.row[static_cast<std::size_t>(n)];
    of_row = n > 0 && places.row[static_cast<std::size_t>(n - 1)] == b ? of_row + 1 : 0;
    const auto slot = static_cast<std::size_t>(b * most + of_row);
    turn_row[slot] = static_cast<std::int32_t>(n);
    back[slot] = static_cast<std::int32_t>(
        std::min(places.turns[static_cast<std::size_t>(b)] - 1 - of_row, places_.table.dim(0) - 1));
    last[static_cast<std::size_t>(b)] = static_cast<std::int32_t>(n);
    for (std::int64_t i = 0; i < places.size[static_cast<std::size_t>(n)]; ++i) {
      const std::int64_t from = b * length + places.first[static_cast<std::size_t>(n)] + i;
      take[static_cast<std::size_t>(n * longest + i)] = static_cast<std::int32_t>(from);
      word_at[static_cast<std::size_t>(from)] = static_cast<std::int32_t>(n * longest + i);
      turn_at[static_cast<std::size_t>(from)] = static_cast<std::int32_t>(slot);
    }
  }
  const std::int64_t in = embedded.dim(2);
  const Var by_turn = reshape(gather(reshape(embedded, {batch * length, in}), take), {turns, longest, in});
  const std::int64_t top = std::exchange(pass.top, 0);  // a turn is short: all weights are reported
  const Memory read = encoder.encode({by_turn, places.size}, pass, want_attention);
  pass.top = top;
  const std::int64_t width = read.states.dim(2);

  const Var vectors = reshape(words_(read.states, places.size).context, {turns, width});
  const Var rows = add(reshape(gather(vectors, turn_row), {batch, most, width}), places_(back, {batch, most}));
  const Var found = turns_(rows, rows, {.lengths = places.turns}).context;
  const Var context = reshape(norm_.residual(rows, found, pass).normed, {batch * most, width});
  const auto in_place = [&](const Var& of_words) {
    const Var words = gather(reshape(of_words, {turns * longest, width}), word_at);
    return reshape(add(words, gather(context, turn_at)), {batch, length, width});
  };
  Memory out{.states = in_place(read.states), .lengths = source.lengths};
  if (read.values) out.values = in_place(read.values);
  if (read.summary) out.summary = gather(read.summary, last);
  for (const Var& state : read.last) out.last.push_back(gather(state, last));
  for (const Var& cell : read.last_cells) out.last_cells.push_back(gather(cell, last));
  // The encoder's self-attention within turns, as blocks on the diagonal.
  for (const Var& layer : read.attention) {
    const Tensor w = layer.value().contiguous();
    const std::int64_t heads = w.dim(1);
    const Tensor all = Tensor::zeros({batch, heads, length, length});
    for (std::int64_t n = 0; n < turns; ++n) {
      const auto at = static_cast<std::size_t>(n);
      for (std::int64_t h = 0; h < heads; ++h) {
        for (std::int64_t i = 0; i < places.size[at]; ++i) {
          const float* from = w.data() + ((n * heads + h) * longest + i) * longest;
          float* to = all.data() + ((places.row[at] * heads + h) * length + places.first[at] + i) * length;
          std::copy_n(from, places.size[at], to + places.first[at]);
        }
      }
    }
    out.attention.emplace_back(all);
  }
  return out;
}

}  // namespace fovea
