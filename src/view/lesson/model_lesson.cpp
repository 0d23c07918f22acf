#include "view/lesson/model_lesson.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "fovea/error.hpp"
#include "view/lesson/folded.hpp"
#include "view/lesson/speaker.hpp"
#include "view/text.hpp"
#include "view/token_names.hpp"

namespace fovea::view {
namespace {

std::string list_of(const std::vector<std::string>& all, LessonLanguage language) {
  constexpr std::size_t most = 60;
  const std::vector<std::string> tokens = lesson_names(all, language);
  std::string out;
  for (std::size_t i = 0; i < tokens.size() && i < most; ++i) out += (i > 0 ? " | " : "") + tokens[i];
  if (tokens.size() > most) {
    out += Speaker(language).fill(" | … and {} more", " | …… 以及另外 {} 个", tokens.size() - most);
  }
  return out;
}

bool has_kind(const ModelRun& run, AttentionKind kind) {
  return std::any_of(run.attention.maps.begin(), run.attention.maps.end(),
                     [kind](const AttentionMap& map) { return map.kind == kind; });
}

bool decodes_by_rnn(const ModelRun& run) {
  const auto* generator = std::get_if<GeneratorConfig>(&run.config.head);
  return generator != nullptr && std::holds_alternative<RnnDecoderConfig>(generator->decoder);
}

// The kinds there are, for errors.
std::string kinds_of(const ModelRun& run) {
  std::string names;
  for (const AttentionKindInfo& info : attention_kinds) {
    if (has_kind(run, info.kind)) names += (names.empty() ? "" : ", ") + std::string(info.name);
  }
  return names.empty() ? "none" : names;
}

}  // namespace

std::vector<std::string> lesson_names(const std::vector<std::string>& tokens, LessonLanguage language) {
  std::vector<std::string> names = token_names(tokens);
  if (language != LessonLanguage::chinese) return names;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i] == "</s>") names[i] = "‹句末›";
    if (tokens[i] == "<s>") names[i] = "‹起点›";
    if (tokens[i] == "<unk>") names[i] = "‹未知›";
  }
  return names;
}

std::vector<std::string> read_target(const ModelRun& run) {
  std::vector<std::string> tokens = run.target;
  tokens.insert(tokens.begin(), "<s>");
  tokens.pop_back();
  return tokens;
}

std::string model_lead(const ModelRun& run, LessonLanguage language) {
  return Speaker(language).fill("“{}” → “{}”: the model's own numbers", "“{}” → “{}”：模型自己的数值",
                                fit(run.input, 80), fit(run.output, 80));
}

LessonStep tokens_step(const ModelRun& run, LessonLanguage language) {
  const Speaker say(language);
  const bool classifies = std::holds_alternative<ClassifierConfig>(run.config.head);
  LessonStep step;
  step.title = say("The line and its tokens", "句子及其词元");
  if (run.config.task() == Task::complete) {
    step.text = say.fill(
        "The model goes on with “{}”: “{}”. It reads {} tokens, each with those before it, and at "
        "each says what comes next.",
        "模型接着“{}”往下写：“{}”。它读入 {} 个词元，每个词元只看它之前的，并说出下一个是什么。", run.input, run.output,
        run.target.size());
    step.examples.push_back(std::string(say("next: ", "下一个：")) + list_of(run.target, language));
    return step;
  }
  step.text = fmt::format(
      fmt::runtime(classifies
                       ? say("“{}” is cut into {} tokens, the end of sequence among them; the model calls it “{}”.",
                             "“{}”被切成 {} 个词元，包括句末标记；模型判定为“{}”。")
                       : say("“{}” is cut into {} tokens, the end of sequence among them; the model writes “{}”.",
                             "“{}”被切成 {} 个词元，包括句末标记；模型写出“{}”。")),
      run.input, run.source.size(), run.output);
  step.examples.push_back(std::string(say("source: ", "源：")) + list_of(run.source, language));
  step.examples.push_back(std::string(classifies ? say("label: ", "类别：") : say("target: ", "目标：")) +
                          list_of(run.target, language));
  return step;
}

LessonStep next_step(const ModelRun& run, std::int64_t at, LessonLanguage language) {
  const Speaker say(language);
  // A piece that goes on with a word says so, which depends on what stands before it.
  const bool pieces =
      std::any_of(run.target.begin(), run.target.end(), [](const auto& t) { return t.starts_with("▁"); });
  const auto name = [&](const std::string& token) {
    return pieces ? lesson_names({"▁a", token}, language)[1] : lesson_names({token}, language)[0];
  };
  const auto& candidates = run.next.at(static_cast<std::size_t>(at));
  NumberTable table;
  table.name = "p";
  table.numbers = {1, static_cast<std::int64_t>(candidates.size()), {}};
  double rest = 1;
  for (const Candidate& one : candidates) {
    table.column_labels.push_back(name(one.text));
    table.numbers.values.push_back(std::exp(one.log_probability));
    rest -= std::exp(static_cast<double>(one.log_probability));
  }
  table.decimals = 4;
  table.weights = true;
  const Tensor* logits = run.trace.find("output.logits");
  table.note = say.fill("the likeliest of {}; all others together {}", "{} 个中最可能的几个；其余合计 {}",
                        logits != nullptr ? logits->dim(-1) : 0, shown_number(std::max(0.0, rest), 4));
  const bool classifies = std::holds_alternative<ClassifierConfig>(run.config.head);
  LessonStep step{classifies
                      ? std::string(say("The label", "类别"))
                      : say.fill("The next word: token {} of the output", "下一个词：输出的第 {} 个词元", at + 1),
                  "p = softmax(state W + b)",
                  std::string(say("The output layer gives every token of the vocabulary a number, and softmax "
                                  "turns them into probabilities.",
                                  "输出层给词表中的每个词元一个数，softmax 把它们变成概率。")),
                  {table},
                  {}};
  if (classifies) {
    step.text = say("The output layer gives every label a number, and softmax turns them into probabilities.",
                    "输出层给每个类别一个数，softmax 把它们变成概率。");
  }
  step.examples.push_back(say.fill("chosen: {}", "选中：{}", name(run.target.at(static_cast<std::size_t>(at)))));
  return step;
}

LessonStep window_step(const ModelRun& run, const std::string& side, int layer, std::int64_t at,
                       LessonLanguage language) {
  const std::string name = fmt::format("{}.{}", side, layer);
  const AttentionMatrix in = matrix_of(run.trace.at(name + ".input"));
  const AttentionMatrix out = matrix_of(run.trace.at(name + ".convolution"));
  const bool decodes = side == "decoder";
  const CnnConfig& config =
      decodes ? std::get<CnnConfig>(run.config.generator().decoder) : std::get<CnnConfig>(run.config.encoder);
  const std::int64_t first = decodes ? at - config.kernel + 1 : at - config.kernel / 2;
  const std::vector<std::string> tokens = lesson_names(decodes ? read_target(run) : run.source, language);
  const Speaker say(language);
  Fold fold;
  fold.language = language;
  NumberTable window;
  window.name = say("window", "窗口");
  window.numbers = {config.kernel, in.columns, {}};
  window.decimals = 3;
  for (std::int64_t i = first; i < first + config.kernel; ++i) {
    const bool inside = i >= 0 && i < in.rows;
    window.row_labels.push_back(inside ? tokens[static_cast<std::size_t>(i)]
                                       : std::string(say("(none: zeros)", "（无：零）")));
    for (std::int64_t c = 0; c < in.columns; ++c) {
      window.numbers.values.push_back(inside ? in.at(i, c) : 0.0F);
    }
  }
  NumberTable result;
  result.name = "y";
  result.decimals = 3;
  result.row_labels = {tokens[static_cast<std::size_t>(at)]};
  const std::vector<double> row = row_of(out, at);
  result.numbers = {1, out.columns, {row.begin(), row.end()}};
  const bool chinese = language == LessonLanguage::chinese;
  return {
      chinese ? fmt::format("第 {} 层{}的窗口", layer, decodes ? "解码器" : "编码器")
              : fmt::format("The {}'s window in layer {}", side, layer),
      chinese ? "y = (窗口 W₁ + b₁) · σ(窗口 W₂ + b₂)" : "y = (window W₁ + b₁) · σ(window W₂ + b₂)",
      chinese
          ? fmt::format("宽度为 {} 的卷积每次读 {} "
                        "个词元{}；它的一半数字控制另一半的开与关（门控线性单元）。每多一层，窗口就更宽。",
                        config.kernel, config.kernel, decodes ? "，都不在其后" : "")
          : fmt::format(
                "A convolution of width {} reads {} tokens at a time{}; one half of its numbers opens and closes the "
                "other (a gated linear unit). Layer by layer the window grows.",
                config.kernel, config.kernel, decodes ? ", none of them later" : ""),
      {folded(std::move(window), fold), folded(std::move(result), fold)},
      {}};
}

std::string softmax_example(const std::string& name, const std::vector<double>& scores, std::int64_t at, double weight,
                            LessonLanguage language, int decimals) {
  constexpr std::size_t most = 16;
  double top = -INFINITY;
  for (const double s : scores) top = std::max(top, s);
  double sum = 0;
  for (const double s : scores) sum += std::exp(s - top);
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    if (std::isfinite(scores[i])) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return scores[a] > scores[b]; });
  const std::size_t left_out = order.size() > most ? order.size() - most : 0;
  order.resize(order.size() - left_out);
  std::sort(order.begin(), order.end());
  std::string terms;
  double told = 0;
  for (const std::size_t i : order) {
    terms += (terms.empty() ? "e^" : " + e^") + shown_number(scores[i] - top, decimals);
    told += std::exp(scores[i] - top);
  }
  if (left_out > 0) {
    terms += Speaker(language).fill(" + {} ({} smaller ones)", " + {}（较小的 {} 项）", shown_number(sum - told, 4),
                                    left_out);
  }
  const double mine = scores[static_cast<std::size_t>(at)];
  return fmt::format("{} = e^({} − {}) / ({}) = {} / {} = {}", name, shown_number(mine, decimals),
                     top < 0 ? fmt::format("({})", shown_number(top, decimals)) : shown_number(top, decimals), terms,
                     shown_number(std::exp(mine - top), 4), shown_number(sum, 4), shown_number(weight, 4));
}

ChosenPair chosen_pair(const AttentionMatrix& weights, const ModelLessonOptions& options, bool same_side) {
  const auto check = [](const char* field, const std::optional<std::int64_t>& given, std::int64_t count) {
    if (given && (*given < 0 || *given >= count)) {
      throw UsageError(fmt::format("{}: {} given, there are positions 0 to {}", field, *given, count - 1));
    }
  };
  check("query", options.query, weights.rows);
  check("key", options.key, weights.columns);
  ChosenPair best{options.query.value_or(0), options.key.value_or(0)};
  if (options.query && options.key) return best;
  float most = -1;
  for (std::int64_t i = 0; i < weights.rows; ++i) {
    if (options.query && i != *options.query) continue;
    for (std::int64_t j = 0; j < weights.columns; ++j) {
      if (options.key && j != *options.key) continue;
      if ((same_side && i == j && weights.rows > 1 && !options.query) || weights.at(i, j) <= most) continue;
      most = weights.at(i, j);
      best = {i, j};
    }
  }
  return best;
}

namespace {

Lesson told(const ModelRun& run, const ModelLessonOptions& options) {
  if (std::holds_alternative<ClassifierConfig>(run.config.head) &&
      options.kind.value_or(AttentionKind::pooling) == AttentionKind::pooling) {
    return pooling_lesson(run, options);
  }
  if (options.kind && !has_kind(run, *options.kind)) {
    throw UsageError(
        fmt::format("kind: the model has no {} attention; it has {}", name_of(*options.kind), kinds_of(run)));
  }
  if (decodes_by_rnn(run) && options.kind.value_or(AttentionKind::cross) == AttentionKind::cross) {
    return rnn_lesson(run, options);
  }
  AttentionKind kind = AttentionKind::cross;
  if (options.kind) {
    kind = *options.kind;
  } else if (has_kind(run, AttentionKind::encoder)) {
    kind = AttentionKind::encoder;
  } else if (run.config.task() == Task::complete && has_kind(run, AttentionKind::decoder)) {
    kind = AttentionKind::decoder;
  } else if (!has_kind(run, AttentionKind::cross)) {
    throw UsageError("kind: the model has no attention");
  }
  return attention_lesson(run, kind, options);
}

}  // namespace

Lesson model_lesson(const ModelRun& run, const ModelLessonOptions& options) {
  Lesson lesson = told(run, options);
  if (options.language == LessonLanguage::chinese) {
    lesson.language = "zh-Hans";
    lesson.picture_title = "每个词关注了什么";
  }
  return lesson;
}

}  // namespace fovea::view
