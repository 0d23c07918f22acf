#include "tasks/translation/loaded_translator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "fovea/error.hpp"
#include "fovea/text.hpp"
#include "tasks/generation/shortlist_file.hpp"

namespace fovea {
namespace {

bool same_tokens(const Tokenizer& a, const Tokenizer& b) {
  if (a.kind() != b.kind() || a.size() != b.size()) return false;
  for (std::int32_t id = 0; id < a.size(); ++id) {
    if (a.piece(id) != b.piece(id)) return false;
  }
  return true;
}

// The shorter of two lengths; 0 means any length.
std::int64_t shorter(std::int64_t a, std::int64_t b) {
  return a == 0 ? b : b == 0 ? a : std::min(a, b);
}

// The token of a text: a piece as the model writes it, or a text that is one token.
std::int32_t token_of(const Tokenizer& tokenizer, const std::string& text) {
  for (std::int32_t id = special_ids; id < tokenizer.size(); ++id) {
    if (tokenizer.piece(id) == text) return id;
  }
  const std::vector<std::int32_t> ids = tokenizer.encode(text);
  if (ids.size() == 1) return ids[0];
  throw UsageError(
      fmt::format("interventions: \"{}\" is {} tokens of this model; a token is swapped for one", text, ids.size()));
}

}  // namespace

Translator::Loaded::Loaded(std::vector<LoadedModel> models, const LoadOptions& how) {
  if (models.empty()) throw UsageError("model", "no folder is given");
  const std::filesystem::path first = models[0].folder;
  for (LoadedModel& model : models) add(std::move(model), first, how);
  prepare_copying();
  if (how.shortlist) shortlist = load_shortlist(first, config());
}

void Translator::Loaded::add(LoadedModel model, const std::filesystem::path& first, const LoadOptions& how) {
  const std::string name = model.folder.string();
  if (!std::holds_alternative<GeneratorConfig>(model.config.head)) {
    throw UsageError("model", fmt::format("{} holds a {}, which writes no text", name, kind_of(model.config.head)));
  }
  if (!model.config.reads_tokens()) {
    throw UsageError("model", fmt::format("{} has the task {} and reads no text to translate", name,
                                          enum_text(model.config.task())));
  }
  if (members.empty()) both = model.tokenizers;
  for (const auto& [side, ours, its] : {std::tuple("source", both.source.get(), model.tokenizers.source.get()),
                                        std::tuple("target", both.target.get(), model.tokenizers.target.get())}) {
    if (ours == its || same_tokens(*ours, *its)) continue;
    throw UsageError("model", fmt::format("{} and {} have other {} tokens; models that write together need the same",
                                          first.string(), name, side));
  }
  if (!members.empty() && model.config.generator().copy != config().generator().copy) {
    throw UsageError("model", fmt::format("of {} and {} only one copies; models that write together all do or none",
                                          first.string(), name));
  }
  members.push_back(std::make_unique<PackedModel<Seq2Seq>>(model.config, std::move(model.parameters), how));
  if (reads_end() != members.back()->config.tokens().end_of_sequence) {
    throw UsageError(
        "model", fmt::format("of {} and {} only one reads the end of sequence of the source", first.string(), name));
  }
}

Translator::Loaded::Loaded(const ModelConfig& config, Tokenizers tokenizers, const Parameters& parameters)
    : both(std::move(tokenizers)) {
  members.push_back(std::make_unique<PackedModel<Seq2Seq>>(config, parameters.replica()));
  prepare_copying();
}

void Translator::Loaded::prepare_copying() {
  if (config().generator().copy) copying = std::make_unique<const text::CopyTable>(*both.source, *both.target);
}

std::int64_t Translator::Loaded::longest_input() const {
  std::int64_t least = 0;
  for (const auto& member : members) least = shorter(least, member->config.longest_source());
  return least;
}

void Translator::Loaded::check_length(std::int64_t length, std::int64_t line) const {
  if (longest_input() == 0 || length <= longest_input()) return;
  throw Error(fmt::format("line {} has {} tokens, but the model has learned positions for {}", line + 1, length,
                          longest_input()));
}

SearchRules Translator::Loaded::rules() const {
  SearchRules rules = GenerationTask::rules();
  std::int64_t least = 0;
  for (const auto& member : members) least = shorter(least, member->config.longest_target());
  rules.longest = std::max<std::int64_t>(0, least - 1);
  if (copying) rules.suppressed.push_back(unk_id);  // the word itself can be copied
  return rules;
}

GenerationInput Translator::Loaded::read_line(const std::string& line, std::size_t number,
                                              const Interventions& interventions) const {
  GenerationInput read;
  read.number = number;
  both.source->encode(line, read.ids, &read.pieces);
  if (read.ids.empty()) return read;
  for (const TokenEdit& edit : interventions.tokens) {
    if (!edit.swapped || edit.token >= static_cast<std::int64_t>(read.ids.size())) continue;
    const std::int32_t id = token_of(*both.source, *edit.swapped);
    read.ids[static_cast<std::size_t>(edit.token)] = id;
    read.pieces[static_cast<std::size_t>(edit.token)] = both.source->piece(id);
  }
  if (copying) copying->source(read.ids, read.pieces, read.copies, read.words);
  if (reads_end()) read.pieces.emplace_back("</s>");
  read.length = static_cast<std::int64_t>(read.pieces.size());
  return read;
}

std::unique_ptr<const ReadBatch> Translator::Loaded::read(const BatchRequest& request) const {
  auto batch = std::make_unique<ReadBatch>();
  const auto input = [&](std::int64_t r) -> const GenerationInput& {
    return *request.inputs[static_cast<std::size_t>(r)];
  };
  batch->source.fill(static_cast<std::int64_t>(request.inputs.size()), reads_end() ? Marks::end : Marks::none,
                     [&](std::int64_t r) { return std::span<const std::int32_t>(input(r).ids); });
  if (copying) {
    batch->source.fill_copies([&](std::int64_t r) { return std::span<const std::int32_t>(input(r).copies); });
  }
  for (const auto& member : members) {
    Pass pass;
    pass.interventions = request.interventions;
    pass.top = request.maps.top;
    const Seq2Seq& model = batch->add(member->copies);
    batch->members.back().memory = model.encode(batch->source.view(), pass, request.maps.encoder);
  }
  if (shortlist) {
    for (const GenerationInput* one : request.inputs) batch->shortlist.push_back(shortlist->candidates(one->ids));
  }
  return batch;
}

std::string Translator::Loaded::piece(const GenerationInput& input, std::int32_t id) const {
  const std::int32_t known = both.target->size();
  return id < known ? both.target->piece(id) : input.words[static_cast<std::size_t>(id - known)];
}

void Translator::Loaded::write(const GenerationInput& input, const Hypothesis& h, const GenerateOptions& options,
                               Generated& output) const {
  AttentionRecord& record = output.attention;
  record.source = input.pieces;
  for (const std::int32_t id : h.tokens) record.target.push_back(piece(input, id));
  bool joined = std::any_of(h.tokens.begin(), h.tokens.end(), [this](auto id) { return id >= both.target->size(); });
  if (options.replace_unknown && !h.attention.empty()) {
    // Each <unk> becomes the token that it attended to most, without the end of sequence.
    for (std::size_t k = 0; k < h.tokens.size(); ++k) {
      if (h.tokens[k] != unk_id) continue;
      const float* row = h.attention.data() + k * input.pieces.size();
      record.target[k] = input.pieces[static_cast<std::size_t>(std::max_element(row, row + input.ids.size()) - row)];
      joined = true;
    }
  }
  output.text = joined ? both.target->join(record.target) : both.target->decode(h.tokens);
  record.target.emplace_back("</s>");
}

}  // namespace fovea
