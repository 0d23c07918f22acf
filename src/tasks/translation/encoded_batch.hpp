// The models of a translator, and a batch of lines that all of them have encoded.
#pragma once

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "fovea/decode/ensemble.hpp"
#include "fovea/model/seq2seq.hpp"
#include "fovea/text/tokens.hpp"
#include "fovea/translator.hpp"
#include "tasks/model_copies.hpp"
#include "tasks/translation/maps.hpp"
#include "text/shortlist.hpp"

namespace fovea {

/// One of the models that write together.
struct Translator::Member : PackedModel<Seq2Seq> {
  using PackedModel::PackedModel;
};

/// A line and its tokens.
struct Translator::Line {
  std::size_t number = 0;
  std::vector<std::int32_t> ids;
  std::vector<std::string> pieces;
  std::vector<std::int32_t> copies;  // of models that copy: see text::CopyTable
  std::vector<std::string> words;
};

/// Every member's memory of a batch of lines; the copies it leased belong to this thread meanwhile.
class Translator::EncodedBatch {
 public:
  /// `maps` says which attention of the encoder is kept; interventions of `options` are made here too.
  EncodedBatch(std::span<const std::unique_ptr<Member>> members, std::span<const Line* const> lines,
               const TranslateOptions& options, const MapRequest& maps, const text::Shortlist* shortlist = nullptr)
      : interventions_(options.interventions.empty() ? nullptr : &options.interventions) {
    for (const Line* line : lines) {
      if (shortlist != nullptr) candidates_.push_back(shortlist->candidates(line->ids));
    }
    const Marks marks = members[0]->config.tokens().end_of_sequence ? Marks::end : Marks::none;
    source_.fill(static_cast<std::int64_t>(lines.size()), marks, [&](std::int64_t r) {
      return std::span<const std::int32_t>(lines[static_cast<std::size_t>(r)]->ids);
    });
    if (members[0]->config.generator().copy) {
      source_.fill_copies(
          [&](std::int64_t r) { return std::span<const std::int32_t>(lines[static_cast<std::size_t>(r)]->copies); });
    }
    for (const auto& member : members) {
      Pass pass = new_pass();
      pass.top = maps.top;
      leases_.push_back(std::make_unique<const ModelCopies<Seq2Seq>::Lease>(member->copies));
      memories_.push_back(leases_.back()->model().encode(source_.view(), pass, maps.encoder));
    }
  }

  [[nodiscard]] Tokens source() const { return source_.view(); }
  [[nodiscard]] const Memory& memory(std::size_t member) const { return memories_[member]; }
  /// A pass with the interventions.
  [[nodiscard]] Pass new_pass() const {
    Pass pass;
    pass.interventions = interventions_;
    return pass;
  }
  [[nodiscard]] const Seq2Seq& model(std::size_t member) const { return leases_[member]->model(); }

  /// Of models that copy: the part of copying in each token, ends included, that the lines were translated to; the mean
  /// over the members. `outputs` has one output per line.
  [[nodiscard]] std::vector<std::vector<float>> copied(std::span<const std::span<const std::int32_t>> outputs,
                                                       std::int32_t vocabulary) const {
    PaddedTokens target, wanted;
    const auto output = [&](std::int64_t r) { return outputs[static_cast<std::size_t>(r)]; };
    const auto rows = static_cast<std::int64_t>(outputs.size());
    target.fill(rows, Marks::begin, output);
    target.cut_ids(vocabulary);
    wanted.fill(rows, Marks::end, output);
    const Tokens all = wanted.view();
    std::vector<float> part(all.ids.size()), sum(all.ids.size());
    for (std::size_t m = 0; m < leases_.size(); ++m) {
      model(m).generator().copied(memories_[m], target.view(), all.ids, part, interventions_);
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += part[i] / static_cast<float>(leases_.size());
    }
    std::vector<std::vector<float>> out;
    for (std::int64_t r = 0; r < rows; ++r) {
      const auto from = sum.begin() + r * all.length;
      out.emplace_back(from, from + all.lengths[static_cast<std::size_t>(r)]);
    }
    return out;
  }

  /// All of them at the start of an output.
  [[nodiscard]] std::unique_ptr<Stepper> start(bool want_attention, const AttentionChoice& which = {}) const {
    std::vector<std::unique_ptr<Stepper>> steppers;
    for (std::size_t m = 0; m < leases_.size(); ++m) {
      steppers.push_back(leases_[m]->model().start(memories_[m], want_attention, which, interventions_));
    }
    std::unique_ptr<Stepper> all = std::move(steppers[0]);
    if (steppers.size() > 1) {
      steppers[0] = std::move(all);
      all = std::make_unique<EnsembleStepper>(std::move(steppers));
    }
    if (!candidates_.empty()) all->restrict_to(candidates_);
    return all;
  }

 private:
  const Interventions* interventions_;  // the caller's
  PaddedTokens source_;
  std::vector<std::vector<std::int32_t>> candidates_;  // of each line; empty: all tokens
  std::vector<std::unique_ptr<const ModelCopies<Seq2Seq>::Lease>> leases_;
  std::vector<Memory> memories_;
};

}  // namespace fovea
