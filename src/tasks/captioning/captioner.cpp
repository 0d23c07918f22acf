#include "fovea/captioner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/heap_bytes.hpp"
#include "fovea/error.hpp"
#include "fovea/model/picture_model.hpp"
#include "fovea/text.hpp"
#include "fovea/threads.hpp"
#include "tasks/batches.hpp"
#include "tasks/model_copies.hpp"
#include "tasks/translation/maps.hpp"

namespace fovea {
namespace {

constexpr std::int64_t kPicturesAtOnce = 16;  // decoded together by one thread

}  // namespace

struct Captioner::Loaded {
  const ModelConfig config;
  const Parameters parameters;  // packed
  ModelCopies<PictureModel> copies;
  PictureFiles files;

  Loaded(const ModelConfig& c, Parameters weights, const LoadOptions& how = {})
      : config(c), parameters(packed(c, std::move(weights), how)), copies(config, parameters) {}

 private:
  static Parameters packed(const ModelConfig& config, Parameters weights, const LoadOptions& how) {
    pack_weights(config, weights, how);
    return weights;
  }
};

Captioner::Captioner(const std::filesystem::path& folder, const LoadOptions& how) {
  LoadedModel loaded = load_model(folder, how);
  if (!std::holds_alternative<PictureSourceConfig>(loaded.config.source)) {
    throw UsageError(fmt::format("model: {} reads {}, not pictures", folder.string(), kind_of(loaded.config.source)));
  }
  tokenizers_ = loaded.tokenizers;
  loaded_ = std::make_unique<Loaded>(loaded.config, std::move(loaded.parameters), how);
}

Captioner::Captioner(const ModelConfig& config, Tokenizers tokenizers, const Parameters& parameters)
    : tokenizers_(std::move(tokenizers)), loaded_(std::make_unique<Loaded>(config, parameters.replica())) {}

Captioner::~Captioner() = default;

const ModelConfig& Captioner::config() const {
  return loaded_->config;
}

SearchOptions Captioner::search_options(const CaptionOptions& o) const {
  SearchOptions search{.beam = o.beam,
                       .length_penalty = o.length_penalty,
                       .n_best = o.n_best,
                       .min_length = o.min_length,
                       .max_length = o.max_length,
                       .no_repeat_ngram = o.no_repeat_ngram,
                       .sample = o.sample,
                       .temperature = o.temperature,
                       .top_k = o.top_k,
                       .top_p = o.top_p,
                       .seed = o.seed,
                       .want_attention = o.attention && config().attends()};
  search.longest = std::max<std::int64_t>(0, config().longest_target() - 1);
  return search;
}

void Captioner::check(const CaptionOptions& options) const {
  search_options(options).check();
  const auto within = [](const char* field, int given, int count) {
    if (given >= std::max(1, count)) {
      throw UsageError(fmt::format("{0}: {1} given, the decoder has {0}s 0 to {2}", field, given, count - 1));
    }
  };
  within("layer", options.layer, config().attention_layers());
  within("head", options.head, config().attention_heads());
}

Caption Captioner::caption(const std::string& place, const CaptionOptions& options) const {
  CaptionOptions one = options;
  one.n_best = 1;
  return std::move(captions(std::span(&place, 1), one)[0][0]);
}

Caption Captioner::caption(const Picture& picture, const CaptionOptions& options) const {
  CaptionOptions one = options;
  one.n_best = 1;
  return std::move(captions(std::span(&picture, 1), one)[0][0]);
}

std::vector<std::vector<Caption>> Captioner::captions(std::span<const std::string> places,
                                                      const CaptionOptions& options) const {
  check(options);
  std::vector<Picture> pictures(places.size());
  std::vector<std::string> errors(places.size());
  parallel_for(static_cast<std::int64_t>(places.size()), 1, [&](std::int64_t begin, std::int64_t end) {
    for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
      if (places[i].find_first_not_of(" \t\r") == std::string::npos) continue;
      try {
        pictures[i] = square(loaded_->files.read(places[i], options.limits), config().pictures().picture_size);
      } catch (const FileError& error) {
        errors[i] = error.what();
      }
    }
  });
  if (!options.skip_broken) {  // of several the first one in their order, whichever thread was first
    for (const std::string& error : errors) {
      if (!error.empty()) throw FileError(error);
    }
  }
  auto results = captions(std::span<const Picture>(pictures), options);
  for (std::size_t i = 0; i < places.size(); ++i) {
    for (Caption& c : results[i]) {
      c.picture = places[i];
      c.error = errors[i];
    }
  }
  return results;
}

std::vector<std::vector<Caption>> Captioner::captions(std::span<const Picture> pictures,
                                                      const CaptionOptions& options) const {
  check(options);
  const std::int64_t side = config().pictures().picture_size;
  std::vector<std::vector<Caption>> results(pictures.size());
  std::vector<Picture> squares;
  std::vector<std::size_t> numbers;
  for (std::size_t i = 0; i < pictures.size(); ++i) {
    if (pictures[i].rgb.empty()) {
      results[i].resize(static_cast<std::size_t>(options.n_best));
      continue;
    }
    const bool fits = pictures[i].width == side && pictures[i].height == side;
    squares.push_back(fits ? pictures[i] : square(pictures[i], side));
    numbers.push_back(i);
  }
  const std::vector<std::int64_t> lengths(squares.size(), 1);
  decode_in_batches(lengths, {.tokens = kPicturesAtOnce}, [&](std::size_t begin, std::size_t end) {
    const NoGrad quiet;
    const ModelCopies<PictureModel>::Lease lease(loaded_->copies);
    std::vector<const Picture*> batch;
    for (std::size_t i = begin; i < end; ++i) batch.push_back(&squares[i]);
    write(lease.model(), lease.model().features(batch), std::span(numbers).subspan(begin, end - begin), options,
          results);
  });
  return results;
}

std::vector<std::vector<Caption>> Captioner::captions(const Tensor& features, const CaptionOptions& options) const {
  check(options);
  Results results(static_cast<std::size_t>(features.dim(0)));
  std::vector<std::size_t> numbers(results.size());
  std::iota(numbers.begin(), numbers.end(), 0);
  const std::vector<std::int64_t> lengths(results.size(), 1);
  decode_in_batches(lengths, {.tokens = kPicturesAtOnce}, [&](std::size_t begin, std::size_t end) {
    const NoGrad quiet;
    const ModelCopies<PictureModel>::Lease lease(loaded_->copies);
    const Tensor some =
        features.slice(0, static_cast<std::int64_t>(begin), static_cast<std::int64_t>(end)).contiguous();
    write(lease.model(), some, std::span(numbers).subspan(begin, end - begin), options, results);
  });
  return results;
}

void Captioner::write(const PictureModel& model, const Var& features, std::span<const std::size_t> numbers,
                      const CaptionOptions& options, Results& results) const {
  const std::int64_t grid = config().pictures().grid();
  std::vector<SearchInput> inputs;
  for (const std::size_t number : numbers) {
    inputs.push_back({grid * grid, static_cast<std::uint64_t>(options.first_line) + number, {}});
  }
  const std::vector<std::int64_t> regions(numbers.size(), grid * grid);
  Pass pass;
  const auto wants = [&options](AttentionKind kind) {
    return std::find(options.kinds.begin(), options.kinds.end(), kind) != options.kinds.end();
  };
  const Memory memory = model.encode(features, regions, pass, wants(AttentionKind::encoder));
  const SearchOptions how = search_options(options);
  const auto stepper = model.generator().start(&memory, static_cast<std::int64_t>(numbers.size()), how.want_attention,
                                               {options.layer, options.head});
  const auto found = search(*stepper, inputs, how);
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (found[i].empty()) throw Error("the model gave no caption; its weights may hold NaN");
    for (const Hypothesis& h : found[i]) {
      Caption c;
      c.text = tokenizers_.target->decode(h.tokens);
      c.score = h.score;
      c.log_probability = h.log_probability;
      for (const std::int32_t id : h.tokens) c.tokens.push_back(tokenizers_.target->piece(id));
      c.tokens.emplace_back("</s>");
      c.rows = c.columns = static_cast<int>(grid);
      const auto width = static_cast<std::size_t>(grid * grid);
      for (std::size_t t = 0; t < c.tokens.size() && !h.attention.empty(); ++t) {
        const auto row = std::span(h.attention).subspan(t * width, width);
        c.attention.emplace_back(row.begin(), row.end());
        const float sum = std::accumulate(row.begin(), row.end(), 0.0F);
        for (float& w : c.attention.back()) w = sum > 0 ? w / sum : w;
      }
      results[numbers[i]].push_back(std::move(c));
    }
  }
  if (options.kinds.empty()) return;
  // The best captions once more, all positions at once, to see every layer and head.
  PaddedTokens fed;
  fed.fill(
      static_cast<std::int64_t>(found.size()),
      Marks::begin, [&](std::int64_t i) -> const auto& { return found[static_cast<std::size_t>(i)][0].tokens; });
  const Decoded decoded = model.generator().decode(
      &memory, fed.view(), pass, {.cross = wants(AttentionKind::cross), .self = wants(AttentionKind::decoder)});
  for (std::size_t i = 0; i < found.size(); ++i) {
    Caption& best = results[numbers[i]][0];
    take_maps(memory, decoded, static_cast<std::int64_t>(i), best.regions(), best.tokens, best.maps);
  }
}

std::vector<double> Captioner::score(std::span<const std::string> places, std::span<const std::string> captions) const {
  if (places.size() != captions.size()) {
    throw UsageError(fmt::format("score: {} pictures and {} captions", places.size(), captions.size()));
  }
  const PictureSourceConfig& shape = config().pictures();
  const std::int64_t longest = config().longest_target();
  std::vector<double> results(places.size());
  if (places.empty()) return results;
  const std::vector<std::int64_t> lengths(places.size(), 1);
  decode_in_batches(lengths, {.tokens = kPicturesAtOnce}, [&](std::size_t begin, std::size_t end) {
    const NoGrad quiet;
    const std::size_t count = end - begin;
    std::vector<Picture> pictures(count);
    std::vector<const Picture*> batch;
    std::vector<std::vector<std::int32_t>> ids(count);
    for (std::size_t i = 0; i < count; ++i) {
      pictures[i] = square(loaded_->files.read(places[begin + i]), shape.picture_size);
      batch.push_back(&pictures[i]);
      ids[i] = tokenizers_.target->encode(captions[begin + i]);
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
    const ModelCopies<PictureModel>::Lease lease(loaded_->copies);
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

std::vector<std::string> Caption::regions() const {
  std::vector<std::string> names;
  for (int row = 0; row < rows; ++row) {
    for (int column = 0; column < columns; ++column) names.push_back(fmt::format("{},{}", row, column));
  }
  return names;
}

std::size_t heap_bytes(const Caption& caption) {
  return heap_bytes(caption.text) + heap_bytes(caption.tokens) + heap_bytes(caption.attention) +
         heap_bytes(caption.maps) + heap_bytes(caption.picture) + heap_bytes(caption.error);
}

AttentionRecord Caption::record() const {
  AttentionRecord r;
  r.maps = maps;
  if (attention.empty()) return r;
  r.target = tokens;
  r.source = regions();
  r.picture = {picture, rows, columns};
  r.weights.rows = static_cast<std::int64_t>(attention.size());
  r.weights.columns = static_cast<std::int64_t>(r.source.size());
  for (const auto& row : attention) r.weights.values.insert(r.weights.values.end(), row.begin(), row.end());
  return r;
}

}  // namespace fovea
