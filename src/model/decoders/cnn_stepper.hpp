// A CNN decoder a token at a time, for decoding: plain arrays that are allocated once.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "fovea/model/decoder.hpp"
#include "model/decoders/cnn_decoder.hpp"

namespace fovea {

/// Keeps the last `kernel` inputs of each layer, from which its next output is computed. Every row is computed as if it
/// were alone, so its bytes do not depend on the others. Once its arrays have their final size, a step allocates little
/// more than what it returns.
class CnnStepper final : public DecoderState {
 public:
  CnnStepper(const CnnDecoder& decoder, const Memory* memory, std::int64_t rows, bool want_attention,
             const Interventions* interventions);
  [[nodiscard]] Tensor step(const Tensor& embedded) override;
  void keep(std::span<const std::int32_t> rows) override;
  [[nodiscard]] std::span<const Tensor> attention() const override { return weights_; }

 private:
  using Layer = CnnDecoder::Layer;
  void make_room(std::int64_t rows);
  // Shifts all windows by one input, which is written later.
  void slide(std::int64_t rows);
  // The newest input of a layer; rows are window_row_ apart.
  [[nodiscard]] float* newest(std::size_t layer) { return windows_[layer].data() + window_row_ - dim_; }
  // y = glu(window W + b)
  void convolve(std::size_t layer, std::int64_t rows);
  // y = (y + context) / sqrt 2
  void attend(std::size_t layer, const float* embedded, std::int64_t rows);

  const CnnDecoder& decoder_;
  const bool want_attention_;
  const Interventions* interventions_;
  const std::int64_t dim_, embedding_, window_row_;
  std::int64_t length_ = 0;  // tokens written

  Tensor keys_, values_;                                      // of the memory [sentences, longest, embedding]
  std::vector<std::int64_t> count_;                           // keys of each sentence
  std::vector<std::int32_t> sentence_of_, next_sentence_of_;  // of each row

  std::vector<Tensor> windows_, next_windows_;  // per layer [rows, kernel * dim]; zeros before the first input
  std::vector<std::int32_t> from_, next_from_;  // the row whose window row i continues

  Tensor sums_, y_, query_, context_, mixed_, scores_, last_;
  std::int64_t rows_ = 0;        // that the arrays have room for
  std::vector<Tensor> weights_;  // when asked for
};

}  // namespace fovea
