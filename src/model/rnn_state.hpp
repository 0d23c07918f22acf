// A recurrent decoder a token at a time.
#pragma once

#include <vector>

#include "model/rnn_decoder.hpp"
#include "model/row_cache.hpp"

namespace fovea {

class RnnState final : public DecoderState {
 public:
  RnnState(const RnnDecoder& decoder, const Memory& memory, bool want_attention);
  [[nodiscard]] Tensor step(const Tensor& embedded) override;
  void keep(std::span<const std::int32_t> rows) override;
  [[nodiscard]] std::span<const Tensor> attention() const override { return weights_; }

 private:
  /// What the rows' queries [rows, width] see: the context [rows, memory width].
  [[nodiscard]] Tensor look(const Tensor& queries);
  /// One step of every layer: x [rows, embedding], `extra` [rows, gates width] is added before the first layer's gates.
  void cells(const Tensor& x, const Tensor& extra);

  const RnnDecoder& decoder_;
  bool want_attention_;
  SentenceArrays sentences_;            // keys, values (and the plain decoder's context)
  Score score_;                         // on keys that are projected already
  Var input_;                           // the first layer's weights of the embedding
  Tensor fed_weights_;                  // ... and of what is fed
  std::vector<Tensor> states_, cells_;  // per layer [rows, width]
  Tensor fed_;                          // Luong: the attentional state of the step before; plain: the summary's part
  Tensor coverage_;                     // [rows, source length]
  std::vector<Tensor> weights_;         // of the last step, [rows, 1, source length]
  std::int64_t length_ = 0;
};

}  // namespace fovea
