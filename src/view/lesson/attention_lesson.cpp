// A layer's attention in a trained Transformer or convolutional model, with its own numbers.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "fovea/error.hpp"
#include "view/lesson/equations.hpp"
#include "view/lesson/model_lesson.hpp"
#include "view/lesson/model_tables.hpp"
#include "view/terminal/number_table.hpp"

namespace fovea::view {
namespace {

constexpr std::size_t kProductTerms = 12;   // of a number of Q or O
constexpr std::size_t kDotTerms = 512;      // of a score: all of them
constexpr std::size_t kWeightedTerms = 24;  // of a number of Z

class AttentionLessonBuilder {
 public:
  AttentionLessonBuilder(const ModelRun& run, AttentionKind kind, const ModelLessonOptions& options)
      : run_(run), kind_(kind), layer_(options.layer), head_(options.head) {
    side_ = kind == AttentionKind::encoder ? "encoder" : "decoder";
    site_ = fmt::format("{}.{}.{}", side_, layer_, kind == AttentionKind::cross ? "cross" : "self");
    find_map();
    weights_ = head_of(value("weights"), head_, heads_);
    pair_ = chosen_pair(weights_, options, info_of(kind).queries == info_of(kind).keys);
    queries_ = lesson_names(map_->queries);
    keys_ = lesson_names(map_->keys);
    transformer_ = side_ == "encoder" ? std::get_if<TransformerConfig>(&run.config.encoder)
                                      : std::get_if<TransformerConfig>(&run.config.generator().decoder);
  }

  [[nodiscard]] Lesson build() const {
    Lesson lesson;
    lesson.title =
        Message::of("attention." + std::string(info_of(kind_).name) + ".title", {{"layer", layer_}, {"head", head_}});
    lesson.self_attention = kind_ != AttentionKind::cross;
    std::vector<LessonStep>& steps = lesson.steps;
    steps = {tokens_step(run_), embedded()};
    if (run_.trace.find(fmt::format("{}.{}.convolution", side_, layer_)) == nullptr) {
      steps.push_back(input());
    } else {
      if (std::holds_alternative<CnnConfig>(run_.config.encoder)) {
        steps.push_back(window_step(run_, "encoder", 0, pair_.key));
      }
      steps.push_back(window_step(run_, side_, layer_, pair_.query));
    }
    steps.insert(steps.end(), {projections(), scores(), scaled()});
    if (of_pairs("masked").values != of_pairs("scores").values) steps.push_back(masked());
    steps.insert(steps.end(), {softmax(), context()});
    if (traced("output") != nullptr) steps.push_back(joined());
    if (traced("sum") != nullptr) steps.push_back(residual());
    if (!run_.next.empty()) steps.push_back(next_step(run_, kind_ == AttentionKind::encoder ? 0 : pair_.query));
    lesson.picture.source = map_->keys;
    lesson.picture.target = map_->queries;
    lesson.picture.weights = map_->weights;
    lesson.picture.maps = {*map_};
    lesson.closing = {
        Message::of("model.closing",
                    {{"query", query()}, {"key", key()}, {"weight", shown_number(of_pair(weights_), kModelDecimals)}})};
    return lesson;
  }

 private:
  // The map of the layer and head. Throws UsageError naming what the model lacks.
  void find_map() {
    int layers = 0;
    for (const AttentionMap& map : run_.attention.maps) {
      if (map.kind != kind_) continue;
      layers = std::max(layers, map.layer + 1);
      heads_ = std::max(heads_, map.head + 1);
      if (map.layer == layer_ && map.head == head_) map_ = &map;
    }
    if (layer_ >= layers) {
      throw UsageError("layer", fmt::format("{} given, there are layers 0 to {}", layer_, layers - 1));
    }
    if (head_ >= heads_) throw UsageError("head", fmt::format("{} given, there are heads 0 to {}", head_, heads_ - 1));
  }

  [[nodiscard]] const Tensor* traced(const char* name) const { return run_.trace.find(site_ + "." + name); }
  [[nodiscard]] const Tensor& value(const char* name) const { return run_.trace.at(site_ + "." + name); }
  [[nodiscard]] AttentionMatrix of_head(const char* name) const { return head_of(value(name), head_, heads_); }
  // The same of values [1, heads, queries, keys] or [1, queries, keys].
  [[nodiscard]] AttentionMatrix of_pairs(const char* name) const {
    const Tensor& t = value(name);
    return t.rank() == 4 ? matrix_of(t.select(0, 0).select(0, head_)) : matrix_of(t);
  }
  [[nodiscard]] const Message& query() const { return queries_[static_cast<std::size_t>(pair_.query)]; }
  [[nodiscard]] const Message& key() const { return keys_[static_cast<std::size_t>(pair_.key)]; }
  [[nodiscard]] float of_pair(const AttentionMatrix& m) const { return m.at(pair_.query, pair_.key); }
  [[nodiscard]] bool divides() const { return transformer_ == nullptr || transformer_->scaled_scores; }
  [[nodiscard]] double root() const {
    return divides() ? std::sqrt(static_cast<double>(of_head("query").columns)) : 1.0;
  }

  [[nodiscard]] LessonTable row_table(const Message& name, AttentionMatrix numbers,
                                      const std::vector<Message>& rows) const {
    return model_table(name, std::move(numbers), rows, {}, {.keep_rows = {pair_.query, pair_.key}});
  }
  [[nodiscard]] LessonTable pair_table(const Message& name, AttentionMatrix numbers) const {
    return model_table(name, std::move(numbers), queries_, keys_,
                       {.keep_rows = {pair_.query, pair_.key}, .keep_columns = {pair_.key}});
  }

  // "Q[query, #3] = … + 0.5 (b_Q) = 1.25": a number of a matrix that `weight` and `bias` make of a row.
  [[nodiscard]] Message projected(const std::string& symbol, const std::vector<double>& row, const Tensor& weight,
                                  const Tensor* bias, std::int64_t column, std::int64_t shown_column,
                                  float result) const {
    const double added = bias == nullptr ? 0 : static_cast<double>(bias->contiguous().data()[column]);
    const Message sum = sum_of_products(row, column_of(matrix_of(weight), column), kProductTerms);
    return equation({entry(symbol, query(), column_number(shown_column)), with_bias(sum, added, "b_" + symbol),
                     shown_number(result, kModelDecimals)});
  }

  [[nodiscard]] LessonStep embedded() const {
    const bool of_source = kind_ == AttentionKind::encoder;
    const AttentionMatrix x = matrix_of(run_.trace.at(side_ + ".embedded"));
    const AttentionMatrix plain = matrix_of(run_.trace.at(of_source ? "source.embedding" : "target.embedding"));
    const std::vector<Message> tokens = lesson_names(of_source ? run_.source : read_target(run_));
    const std::int64_t at = pair_.query;
    const std::int64_t column = largest_column(x, at);
    const double sum = x.at(at, column);
    const double embedding = plain.at(at, column);
    LessonStep step = LessonStep::of("embedded", {{"count", x.columns}});
    step.tables = {row_table("X", x, tokens)};
    step.worked = {
        equation({entry("X", tokens[static_cast<std::size_t>(at)], column_number(column)),
                  shown_number(embedding, kTermDecimals) + " + " + shown_number(sum - embedding, kTermDecimals),
                  shown_number(sum, kTermDecimals)})};
    return step;
  }

  [[nodiscard]] LessonStep input() const {
    LessonStep step = LessonStep::of("input", {{"layer", layer_}});
    step.tables = {row_table("x", matrix_of(value("input")), queries_)};
    if (transformer_ != nullptr && transformer_->norm == Norm::pre) {
      step.text.push_back(Message::of("input.normalized"));
    }
    if (kind_ == AttentionKind::cross) {
      step.formula = Message::of("input.formula.cross");
      step.text.push_back(Message::of("input.memory"));
      step.tables.push_back(row_table("m", matrix_of(run_.trace.at("encoder.output")), keys_));
    }
    return step;
  }

  [[nodiscard]] LessonStep projections() const {
    const AttentionMatrix q = of_head("query");
    LessonStep step = LessonStep::of("head", {{"width", q.columns}, {"all", q.columns * heads_}});
    if (kind_ == AttentionKind::cross) step.formula = Message::of("head.formula.cross");
    step.tables = {row_table("Q", q, queries_), row_table("K", of_head("key"), keys_),
                   row_table("V", of_head("value"), keys_)};
    const Tensor* weight = run_.weight(site_ + ".query.weight");
    const Tensor* x = traced("input");
    const bool rotated = transformer_ != nullptr && is_rotary(transformer_->positions);
    if (weight == nullptr || !*weight || x == nullptr || rotated) return step;
    const std::int64_t largest = largest_column(q, pair_.query);
    step.worked = {projected("Q", row_of(matrix_of(*x), pair_.query), *weight, run_.weight(site_ + ".query.bias"),
                             head_ * q.columns + largest, largest, q.at(pair_.query, largest))};
    return step;
  }

  [[nodiscard]] LessonStep scores() const {
    AttentionMatrix s = of_pairs("scores");
    for (float& v : s.values) v = static_cast<float>(static_cast<double>(v) * root());
    LessonStep step = LessonStep::of("pairs");
    step.worked = {
        equation({entry("S", query(), key()),
                  sum_of_products(row_of(of_head("query"), pair_.query), row_of(of_head("key"), pair_.key), kDotTerms),
                  shown_number(of_pair(s), kModelDecimals)})};
    step.tables = {pair_table("S", std::move(s))};
    return step;
  }

  [[nodiscard]] LessonStep scaled() const {
    const AttentionMatrix s = of_pairs("scores");
    LessonStep step =
        divides() ? LessonStep::of("scaled", {{"width", of_head("query").columns}, {"root", shown_number(root(), 4)}})
                  : LessonStep::of("unscaled");
    step.tables = {pair_table("S/√d", s)};
    if (divides()) {
      step.worked = {fmt::format("{} / {} = {}", shown_number(of_pair(s) * root(), kModelDecimals),
                                 shown_number(root(), 4), shown_number(of_pair(s), kModelDecimals))};
    }
    return step;
  }

  [[nodiscard]] LessonStep masked() const {
    LessonStep step = LessonStep::of("masked");
    step.text = {Message::of(kind_ == AttentionKind::decoder ? "masked.later" : "masked.biased")};
    step.tables = {pair_table(Message::of("masked.table"), of_pairs("masked"))};
    return step;
  }

  [[nodiscard]] LessonStep softmax() const {
    LessonStep step = LessonStep::of("weights");
    step.tables = {pair_table("A", weights_)};
    step.tables[0].weights = true;
    step.worked = {softmax_equation(entry("A", query(), key()), row_of(of_pairs("masked"), pair_.query), pair_.key,
                                    of_pair(weights_))};
    return step;
  }

  [[nodiscard]] LessonStep context() const {
    const AttentionMatrix z = of_head("context");
    const std::int64_t column = largest_column(z, pair_.query);
    LessonStep step = LessonStep::of("context");
    step.tables = {row_table("Z", z, queries_)};
    step.worked = {
        equation({entry("Z", query(), column_number(column)),
                  sum_of_products(row_of(weights_, pair_.query), column_of(of_head("value"), column), kWeightedTerms),
                  shown_number(z.at(pair_.query, column), kModelDecimals)})};
    return step;
  }

  [[nodiscard]] LessonStep joined() const {
    const AttentionMatrix z = matrix_of(value("context"));
    const AttentionMatrix o = matrix_of(value("output"));
    LessonStep step = LessonStep::of("joined", {{"heads", heads_}, {"width", z.columns}});
    step.tables = {row_table("[Z]", z, queries_), row_table("O", o, queries_)};
    const Tensor* weight = run_.weight(site_ + ".output.weight");
    if (weight == nullptr || !*weight) return step;
    const std::int64_t column = largest_column(o, pair_.query);
    step.worked = {projected("O", row_of(z, pair_.query), *weight, run_.weight(site_ + ".output.bias"), column, column,
                             o.at(pair_.query, column))};
    return step;
  }

  [[nodiscard]] LessonStep residual() const {
    LessonStep step = LessonStep::of("residual");
    step.tables = {row_table("y", matrix_of(value("sum")), queries_),
                   row_table("norm", matrix_of(value("norm")), queries_)};
    return step;
  }

  const ModelRun& run_;
  AttentionKind kind_;
  int layer_, head_;
  std::string side_, site_;  // "encoder", "encoder.0.self"
  int heads_ = 1;
  const AttentionMap* map_ = nullptr;
  const TransformerConfig* transformer_ = nullptr;  // null: convolutional
  std::vector<Message> queries_, keys_;             // display names
  AttentionMatrix weights_;
  ChosenPair pair_;
};

}  // namespace

Lesson attention_lesson(const ModelRun& run, AttentionKind kind, const ModelLessonOptions& options) {
  return AttentionLessonBuilder(run, kind, options).build();
}

}  // namespace fovea::view
