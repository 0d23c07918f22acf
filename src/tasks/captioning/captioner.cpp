#include "fovea/captioner.hpp"

#include <fmt/format.h>

#include <cmath>
#include <functional>

#include "fovea/error.hpp"
#include "fovea/model/picture_model.hpp"
#include "fovea/text.hpp"
#include "fovea/threads.hpp"
#include "tasks/generation/batches.hpp"
#include "tasks/generation/options.hpp"
#include "tasks/generation/pipeline.hpp"
#include "tasks/generation/shortlist_file.hpp"

namespace fovea {
namespace {

constexpr std::int64_t kScoredTogether = 16;  // pictures, by one thread

using PictureInputs = std::span<const GenerationInput* const>;
using FeaturesOf = std::function<Var(const PictureModel& model, PictureInputs inputs)>;  // of a batch

LoadedModel checked_captioner(LoadedModel model) {
  if (std::holds_alternative<PictureSourceConfig>(model.config.source)) return model;
  throw UsageError("model",
                   fmt::format("{} reads {}, not pictures", model.folder.string(), kind_of(model.config.source)));
}

}  // namespace

struct Captioner::Loaded {
  const Tokenizers tokenizers;
  PackedModel<PictureModel> model;
  std::unique_ptr<const text::Shortlist> shortlist;  // may be null
  PictureFiles files;
  std::vector<std::string> regions;  // of a picture

  Loaded(const ModelConfig& config, Tokenizers of, Parameters weights, const LoadOptions& how = {})
      : tokenizers(std::move(of)), model(config, std::move(weights), how) {
    const std::int64_t grid = config.pictures().grid();
    for (std::int64_t row = 0; row < grid; ++row) {
      for (std::int64_t column = 0; column < grid; ++column) regions.push_back(fmt::format("{},{}", row, column));
    }
  }
  [[nodiscard]] std::vector<GenerationInput> inputs(std::size_t count) const {
    std::vector<GenerationInput> all(count);
    for (std::size_t i = 0; i < count; ++i) {
      all[i].number = i;
      all[i].pieces = regions;
      all[i].length = static_cast<std::int64_t>(regions.size());
    }
    return all;
  }
  [[nodiscard]] GenerateOptions with_defaults(const GenerateOptions& options) const {
    return caption_options(options, static_cast<std::int64_t>(regions.size()));
  }

  // One call in the generation pipeline.
  struct Call final : GenerationTask {
    Loaded& loaded;
    const FeaturesOf features;

    explicit Call(Loaded& of, FeaturesOf from = {}) : loaded(of), features(std::move(from)) {}
    [[nodiscard]] const ModelConfig& config() const override { return loaded.model.config; }
    [[nodiscard]] const Tokenizers& tokenizers() const override { return loaded.tokenizers; }
    [[nodiscard]] std::unique_ptr<const ReadBatch> read(const BatchRequest& request) const override;
    void write(const GenerationInput& input, const Hypothesis& h, const GenerateOptions& options,
               Generated& output) const override;
  };
};

std::unique_ptr<const ReadBatch> Captioner::Loaded::Call::read(const BatchRequest& request) const {
  auto batch = std::make_unique<ReadBatch>();
  batch->regions.assign(request.inputs.size(), static_cast<std::int64_t>(loaded.regions.size()));
  const PictureModel& model = batch->add(loaded.model.copies);
  Pass pass;
  pass.top = request.maps.top;
  batch->members.back().memory =
      model.encode(features(model, request.inputs), batch->regions, pass, request.maps.encoder);
  if (loaded.shortlist) batch->shortlist.assign(request.inputs.size(), loaded.shortlist->candidates({}));
  return batch;
}

void Captioner::Loaded::Call::write(const GenerationInput& input, const Hypothesis& h, const GenerateOptions&,
                                    Generated& output) const {
  const Tokenizer& tokenizer = *loaded.tokenizers.target;
  output.text = tokenizer.decode(h.tokens);
  output.attention.source = input.pieces;
  for (const std::int32_t id : h.tokens) output.attention.target.push_back(tokenizer.piece(id));
  output.attention.target.emplace_back("</s>");
  const auto grid = static_cast<int>(config().pictures().grid());
  output.attention.picture = {{}, grid, grid};
}

Captioner::Captioner(const std::filesystem::path& folder, const LoadOptions& how)
    : Captioner(load_model(folder, how), how) {}

Captioner::Captioner(LoadedModel model, const LoadOptions& how) {
  LoadedModel checked = checked_captioner(std::move(model));
  loaded_ = std::make_unique<Loaded>(checked.config, checked.tokenizers, std::move(checked.parameters), how);
  if (how.shortlist) loaded_->shortlist = load_shortlist(checked.folder, checked.config);
}

Captioner::Captioner(const ModelConfig& config, Tokenizers tokenizers, const Parameters& parameters)
    : loaded_(std::make_unique<Loaded>(config, std::move(tokenizers), parameters.replica())) {}

Captioner::~Captioner() = default;

const ModelConfig& Captioner::config() const {
  return loaded_->model.config;
}

const Tokenizers& Captioner::tokenizers() const {
  return loaded_->tokenizers;
}

void Captioner::check(const GenerateOptions& options) const {
  check_options(Loaded::Call(*loaded_), loaded_->with_defaults(options));
}

Generated Captioner::caption(const std::string& place, const GenerateOptions& options) const {
  return std::move(captions(std::span(&place, 1), options)[0][0]);
}

Generated Captioner::caption(const Picture& picture, const GenerateOptions& options) const {
  return std::move(captions(std::span(&picture, 1), options)[0][0]);
}

std::vector<std::vector<Generated>> Captioner::captions(std::span<const std::string> places,
                                                        const GenerateOptions& options,
                                                        const GenerateCall& call) const {
  check(options);
  std::vector<Picture> pictures(places.size());
  std::vector<std::string> errors(places.size());
  parallel_for(static_cast<std::int64_t>(places.size()), 1, [&](std::int64_t begin, std::int64_t end) {
    for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
      if (places[i].find_first_not_of(" \t\r") == std::string::npos) continue;
      try {
        pictures[i] = square(loaded_->files.read(places[i]), config().pictures().picture_size);
      } catch (const FileError& error) {
        errors[i] = error.what();
      }
    }
  });
  if (!options.skip_unreadable) {  // the first one in their order, on any number of threads
    for (const std::string& error : errors) {
      if (!error.empty()) throw FileError(error);
    }
  }
  auto results = captions(std::span<const Picture>(pictures), options, call);
  for (std::size_t i = 0; i < places.size(); ++i) {
    for (Generated& output : results[i]) {
      if (!output.attention.source.empty()) output.attention.picture.place = places[i];
      output.error = errors[i];
    }
  }
  return results;
}

std::vector<std::vector<Generated>> Captioner::captions(std::span<const Picture> pictures,
                                                        const GenerateOptions& options,
                                                        const GenerateCall& call) const {
  check(options);
  const std::int64_t side = config().pictures().picture_size;
  std::vector<GenerationInput> inputs = loaded_->inputs(pictures.size());
  std::vector<Picture> resized(pictures.size());
  for (std::size_t i = 0; i < pictures.size(); ++i) {
    if (pictures[i].rgb.empty()) {
      inputs[i].length = 0;
    } else if (pictures[i].width != side || pictures[i].height != side) {
      resized[i] = square(pictures[i], side);
    }
  }
  const Loaded::Call task(*loaded_, [&](const PictureModel& model, PictureInputs batch) {
    std::vector<const Picture*> squares;
    for (const GenerationInput* input : batch) {
      const Picture& own = resized[input->number];
      squares.push_back(own.rgb.empty() ? &pictures[input->number] : &own);
    }
    return model.features(squares);
  });
  return generate(task, inputs, loaded_->with_defaults(options), call);
}

std::vector<std::vector<Generated>> Captioner::captions(const Tensor& features, const GenerateOptions& options) const {
  check(options);
  const std::vector<GenerationInput> inputs = loaded_->inputs(static_cast<std::size_t>(features.dim(0)));
  const Loaded::Call task(*loaded_, [&](const PictureModel&, PictureInputs batch) {
    const auto begin = static_cast<std::int64_t>(batch.front()->number);  // all are as long: they stay in order
    return Var(features.slice(0, begin, begin + static_cast<std::int64_t>(batch.size())).contiguous());
  });
  return generate(task, inputs, loaded_->with_defaults(options));
}

std::vector<double> Captioner::score(std::span<const std::string> places, std::span<const std::string> captions) const {
  if (places.size() != captions.size()) {
    throw UsageError("score", fmt::format("{} pictures and {} captions", places.size(), captions.size()));
  }
  const PictureSourceConfig& shape = config().pictures();
  const std::int64_t longest = config().longest_target();
  std::vector<double> results(places.size());
  if (places.empty()) return results;
  const std::vector<std::int64_t> lengths(places.size(), 1);
  decode_in_batches(lengths, {.tokens = kScoredTogether}, [&](std::size_t begin, std::size_t end) {
    const NoGrad quiet;
    const std::size_t count = end - begin;
    std::vector<Picture> pictures(count);
    std::vector<const Picture*> batch;
    std::vector<std::vector<std::int32_t>> ids(count);
    for (std::size_t i = 0; i < count; ++i) {
      pictures[i] = square(loaded_->files.read(places[begin + i]), shape.picture_size);
      batch.push_back(&pictures[i]);
      ids[i] = tokenizers().target->encode(captions[begin + i]);
      if (longest > 0 && static_cast<std::int64_t>(ids[i].size()) + 1 > longest) {
        throw Error(fmt::format("line {} has {} tokens, but the model has learned positions for {}", begin + i + 1,
                                ids[i].size() + 1, longest));
      }
    }
    const auto row = [&ids](std::int64_t i) -> const auto& {
      return ids[static_cast<std::size_t>(i)];
    };
    PaddedTokens fed, wanted;
    fed.fill(static_cast<std::int64_t>(count), Marks::begin, row);
    wanted.fill(static_cast<std::int64_t>(count), Marks::end, row);
    const std::vector<std::int64_t> regions(count, shape.grid() * shape.grid());
    const ModelCopies<PictureModel>::Lease lease(loaded_->model.copies);
    Pass pass;
    const Memory memory = lease.model().encode(lease.model().features(batch), regions, pass);
    const auto part = std::span(results).subspan(begin, count);
    lease.model().generator().score(&memory, fed.view(), wanted.view().ids, part);
    for (std::size_t i = 0; i < count; ++i) {
      if (!std::isnan(part[i])) continue;
      throw Error(fmt::format("line {}: the model gives no probability; its weights may hold NaN", begin + i + 1));
    }
  });
  return results;
}

}  // namespace fovea
