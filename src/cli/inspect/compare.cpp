// fovea compare --model DIR --model DIR… SENTENCE [--kind K] [--layer L] [--head H] [--target TEXT] [--html FILE]
// fovea compare --checkpoints DIR SENTENCE …     the kept checkpoints of a training, and the model it left
// fovea compare --scores [SENTENCE]              the same made-up numbers under five scores
//
// One sentence in several models: the output of each, its log-probability and its attention, side by side.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <ostream>

#include "base/whole_file.hpp"
#include "cli/command.hpp"
#include "cli/io/outputs.hpp"
#include "cli/io/terminal.hpp"
#include "cli/options/whole_number.hpp"
#include "fovea/attention/attend.hpp"
#include "fovea/error.hpp"
#include "fovea/inspector.hpp"
#include "tasks/training/progress/kept_checkpoints.hpp"
#include "view/lesson/worked.hpp"
#include "view/page/compare_page.hpp"
#include "view/svg/svg.hpp"
#include "view/terminal/terminal.hpp"
#include "view/text.hpp"

namespace fovea::cli {
namespace {

constexpr const char* kComparedSentence = "看小猫，它好可爱";
constexpr std::uint64_t kComparedSeed = 115947;

struct CompareOptions {
  std::vector<std::string> models;
  std::string checkpoints;
  bool scores = false;
  std::string sentence, target, html, svg;
  std::optional<std::string> kind;
  std::optional<int> layer, head;
  std::string color = "auto";
};

// A model's output, and its attention while it writes `target`, or its own output if that is empty.
view::Compared compared(const std::filesystem::path& folder, const std::string& name, const std::string& target,
                        const CompareOptions& o) {
  const Translator translator(folder);
  const Inspector inspector(translator);
  const ModelRun own = inspector.run(o.sentence);
  const ModelRun run = target.empty() ? own : inspector.run_given(o.sentence, target);
  AttentionRecord record = run.attention;
  if (o.kind) {
    record = record_of_kind(record, attention_kind(*o.kind));
  } else if (record.maps.empty()) {
    throw UsageError(fmt::format("--model: {} has no attention to compare", folder.string()));
  }
  record.weights = chosen_weights(record, o.layer, o.head);
  return {.name = name,
          .writes = own.output,
          .shown = run.output,
          .log_probability = inspector.score(o.sentence, run.output),
          .record = std::move(record)};
}

std::vector<view::Compared> of_models(const CompareOptions& o) {
  std::vector<view::Compared> all;
  for (const std::string& model : o.models) all.push_back(compared(model, model, o.target, o));
  return all;
}

// All checkpoints are given the output of the final model, so that their maps have the same tokens.
std::vector<view::Compared> of_training(const CompareOptions& o) {
  const auto kept = kept_checkpoints(o.checkpoints);
  if (kept.empty()) {
    throw FileError(fmt::format("{}: has no checkpoints; fovea train --keep-checkpoints keeps them", o.checkpoints));
  }
  std::vector<view::Compared> all;
  // Before the training ends, the last checkpoint replaces the final model.
  const bool ended = std::filesystem::exists(std::filesystem::path(o.checkpoints) / "model.safetensors");
  all.push_back(ended ? compared(o.checkpoints, "the best", o.target, o)
                      : compared(kept.back(), kept.back().filename().string(), o.target, o));
  for (const auto& folder : kept) {
    if (!ended && folder == kept.back()) continue;
    all.push_back(compared(folder, folder.filename().string(), all[0].shown, o));
    all.back().step = checkpoint_step(folder);
  }
  std::rotate(all.begin(), all.begin() + 1, all.end());
  return all;
}

// The queries, keys and values of the worked example under each score; the W of general and additive are made up too.
std::vector<view::Compared> of_scores(const CompareOptions& o) {
  const NoGrad quiet;
  const std::string sentence = o.sentence.empty() ? kComparedSentence : o.sentence;
  const std::vector<std::string> tokens = view::words_of(sentence);
  if (tokens.empty()) throw UsageError("SENTENCE has no words");
  constexpr int width = 4;
  const view::WorkedExample worked = view::work(view::made_up_input(tokens, width, 1, kComparedSeed));
  const view::WorkedHead& head = worked.heads[0];
  const auto tensor = [](const AttentionMatrix& m) { return Tensor::of({1, m.rows, m.columns}, m.values); };
  const auto matrix = [](const AttentionMatrix& m) { return Var(Tensor::of({m.rows, m.columns}, m.values)); };
  const Var vector(Tensor::full({width}, 1.0F));
  const std::pair<const char*, Score> scores[] = {
      {"dot: q · k", score::Dot{}},
      {"scaled dot: q · k / √d", score::ScaledDot{}},
      {"general: q W k", score::General{.w = matrix(worked.input.w_q)}},
      {"additive: v · tanh(W q + U k)",
       score::Additive{.w = matrix(worked.input.w_q), .u = matrix(worked.input.w_k), .v = vector}},
      {"cosine: q · k / |q| |k|", score::Cosine{}}};
  std::vector<view::Compared> all;
  for (const auto& [name, score] : scores) {
    AttentionRecord record;
    record.source = record.target = tokens;
    const Attended seen =
        attend(tensor(head.q), tensor(head.k), tensor(head.v), {.score = score, .want = {.weights = true}});
    const Tensor w = seen.weights.value().contiguous();
    const auto count = static_cast<std::int64_t>(tokens.size());
    record.weights = {count, count, {w.data(), w.data() + count * count}};
    record.maps.push_back({AttentionKind::encoder, 0, 0, tokens, tokens, record.weights, {}});
    view::Compared one;
    one.name = name;
    one.record = std::move(record);
    all.push_back(std::move(one));
  }
  return all;
}

void compare(const CompareOptions& o, const Streams& streams) {
  if (o.scores && (!o.models.empty() || !o.checkpoints.empty() || o.kind || o.layer || o.head || !o.target.empty())) {
    throw UsageError("--scores: compares made-up numbers and cannot be combined with options of models");
  }
  if (!o.scores && o.models.empty() && o.checkpoints.empty()) {
    throw UsageError("--model: give two or more, or --checkpoints DIR, or --scores");
  }
  if (!o.models.empty() && !o.checkpoints.empty()) {
    throw UsageError(
        "--checkpoints: cannot be combined with --model; give the folders of checkpoints as models to compare them");
  }
  if (!o.scores && o.models.size() == 1 && o.checkpoints.empty()) {
    throw UsageError("--model: give at least two models, or --checkpoints DIR");
  }
  if (!o.scores && o.sentence.empty()) throw UsageError("SENTENCE: is required: the line that the models read");
  check_outputs_differ({{"--html", &o.html}, {"--svg", &o.svg}});
  std::vector<view::Compared> all = o.scores ? of_scores(o) : o.checkpoints.empty() ? of_models(o) : of_training(o);
  const std::string title = o.scores ? "One sentence under five scores" : "One sentence, several models";
  for (view::Compared& one : all) one.record.title = view::heading(one);
  std::string drawing;
  if (!o.svg.empty()) {
    std::vector<view::SvgPiece> pieces;
    for (const auto& one : all) pieces.push_back(view::svg_heat_map(one.record, one.record.weights));
    drawing = view::svg_document(pieces, title, "What each query attended to, as weights from 0 to 1.");
  }
  const std::string page = o.html.empty() ? ""
                                          : view::compare_page(all, !o.checkpoints.empty(),
                                                               o.sentence.empty() ? kComparedSentence : o.sentence);
  write_whole_files({{o.html, page}, {o.svg, drawing}});
  if (!o.html.empty() || !o.svg.empty()) return;
  const view::TerminalStyle style = terminal_style(streams.out, o.color);
  for (const view::Compared& one : all) {
    streams.out << view::bold(view::clean(one.record.title), style) << '\n'
                << view::draw_heat_map(one.record, one.record.weights, style) << '\n';
  }
}

}  // namespace

void add_compare(CLI::App& app, const Streams& streams) {
  auto o = std::make_shared<CompareOptions>();
  auto* sub =
      app.add_subcommand("compare", "compare the attention of several models, or of the checkpoints of a training");
  sub->add_option("SENTENCE", o->sentence, "the line that the models read");
  sub->add_option("--model", o->models, "a model folder; give two or more")->allow_extra_args(false);
  sub->add_option("--checkpoints", o->checkpoints,
                  "model folder with the checkpoints of fovea train --keep-checkpoints");
  sub->add_flag("--scores", o->scores, "made-up numbers under dot, scaled dot, general, additive and cosine");
  sub->add_option("--target", o->target, "output to compare instead of each model's own")->type_name("SENTENCE");
  sub->add_option("--kind", o->kind, "kind of attention: " + attention_kind_names() + "; default: cross");
  sub->add_option("--layer", o->layer, "only this layer, counted from 0")->check(whole_number(1000));
  sub->add_option("--head", o->head, "only this head, counted from 0")->check(whole_number(1000));
  sub->add_option("--html", o->html, "write a self-contained page");
  sub->add_option("--svg", o->svg, "write an SVG picture");
  add_color_option(*sub, o->color);
  sub->callback([o, &streams] { compare(*o, streams); });
}

}  // namespace fovea::cli
