// A layer's attention in a trained Transformer or convolutional model, with its own numbers.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "fovea/error.hpp"
#include "view/lesson/folded.hpp"
#include "view/lesson/model_lesson.hpp"
#include "view/lesson/speaker.hpp"

namespace fovea::view {
namespace {

constexpr int kModelDecimals = 3;

class AttentionTeller {
 public:
  AttentionTeller(const ModelRun& run, AttentionKind kind, const ModelLessonOptions& options)
      : run_(run), kind_(kind), options_(options), say_(options.language) {
    side_ = kind == AttentionKind::encoder ? "encoder" : "decoder";
    layer_ = fmt::format("{}.{}", side_, options.layer);
    site_ = layer_ + (kind == AttentionKind::cross ? ".cross" : ".self");
    int layers = 0;
    for (const AttentionMap& map : run.attention.maps) {
      if (map.kind != kind) continue;
      layers = std::max(layers, map.layer + 1);
      heads_ = std::max(heads_, map.head + 1);
      if (map.layer == options.layer && map.head == options.head) map_ = &map;
    }
    if (options.layer >= layers) {
      throw UsageError(fmt::format("layer: {} given, there are layers 0 to {}", options.layer, layers - 1));
    }
    if (options.head >= heads_) {
      throw UsageError(fmt::format("head: {} given, there are heads 0 to {}", options.head, heads_ - 1));
    }
    weights_ = head_of(value("weights"), options.head, heads_);
    pair_ = chosen_pair(weights_, options, info_of(kind).queries == info_of(kind).keys);
    queries_ = lesson_names(map_->queries, options.language);
    keys_ = lesson_names(map_->keys, options.language);
    fold_.keep_rows = {pair_.query, pair_.key};
    fold_.language = options.language;
    pairs_fold_ = fold_;
    pairs_fold_.most_columns = 24;
    pairs_fold_.keep_columns = {pair_.key};
  }

  Lesson tell() {
    const bool convolutional = run_.trace.find(layer_ + ".convolution") != nullptr;
    Lesson lesson;
    lesson.title = fmt::format(fmt::runtime(title()), options_.layer, options_.head);
    lesson.folded = true;
    lesson.same_side = kind_ != AttentionKind::cross;
    lesson.lead = model_lead(run_, options_.language);
    lesson.steps.push_back(tokens_step(run_, options_.language));
    lesson.steps.push_back(embeddings());
    if (convolutional) {
      if (std::holds_alternative<CnnConfig>(run_.config.encoder)) {
        lesson.steps.push_back(window_step(run_, "encoder", 0, pair_.key, options_.language));
      }
      lesson.steps.push_back(window_step(run_, side_, options_.layer, pair_.query, options_.language));
    } else {
      lesson.steps.push_back(input());
    }
    lesson.steps.push_back(projections());
    lesson.steps.push_back(scores());
    lesson.steps.push_back(scaled());
    if (masks_something()) lesson.steps.push_back(masked());
    lesson.steps.push_back(softmax());
    lesson.steps.push_back(output());
    if (run_.trace.find(site_ + ".output") != nullptr) lesson.steps.push_back(joined());
    if (run_.trace.find(site_ + ".sum") != nullptr) lesson.steps.push_back(residual());
    if (!run_.next.empty()) {
      lesson.steps.push_back(next_step(run_, kind_ == AttentionKind::encoder ? 0 : pair_.query, options_.language));
    }
    lesson.picture.source = map_->keys;
    lesson.picture.target = map_->queries;
    lesson.picture.weights = map_->weights;
    lesson.picture.maps = {*map_};
    lesson.closing = say_.fill("{} attends most to {}: weight {}.", "{} 最关注 {}：权重 {}。", query(), key(),
                               shown_number(weights_.at(pair_.query, pair_.key), 3));
    return lesson;
  }

 private:
  [[nodiscard]] const Tensor& value(const char* name) const { return run_.trace.at(site_ + "." + name); }
  [[nodiscard]] AttentionMatrix of_head(const char* name) const { return head_of(value(name), options_.head, heads_); }
  [[nodiscard]] std::string query() const { return queries_[static_cast<std::size_t>(pair_.query)]; }
  [[nodiscard]] std::string key() const { return keys_[static_cast<std::size_t>(pair_.key)]; }
  [[nodiscard]] const char* title() const {
    return kind_ == AttentionKind::encoder
               ? say_("Encoder self-attention, layer {}, head {}", "编码器自注意力，第 {} 层，头 {}")
           : kind_ == AttentionKind::decoder
               ? say_("Decoder self-attention, layer {}, head {}", "解码器自注意力，第 {} 层，头 {}")
               : say_("Cross-attention, layer {}, head {}", "交叉注意力，第 {} 层，头 {}");
  }
  [[nodiscard]] bool scaled_scores() const {
    const auto* t = side_ == "encoder" ? std::get_if<TransformerConfig>(&run_.config.encoder)
                                       : std::get_if<TransformerConfig>(&run_.config.generator().decoder);
    return t == nullptr || t->scaled_scores;
  }
  [[nodiscard]] double root() const {
    return scaled_scores() ? std::sqrt(static_cast<double>(of_head("query").columns)) : 1.0;
  }

  [[nodiscard]] NumberTable table(const char* name, AttentionMatrix numbers, const std::vector<std::string>& rows,
                                  const std::vector<std::string>& columns = {}) const {
    NumberTable t;
    t.name = name;
    t.id = name;
    t.numbers = std::move(numbers);
    t.row_labels = rows;
    t.column_labels = columns;
    t.decimals = kModelDecimals;
    return folded(std::move(t), columns.empty() ? fold_ : pairs_fold_);
  }
  [[nodiscard]] NumberTable pairs(const char* name, AttentionMatrix numbers) const {
    return table(name, std::move(numbers), queries_, keys_);
  }

  [[nodiscard]] LessonStep embeddings() const {
    const AttentionMatrix x = matrix_of(run_.trace.at(side_ + ".embedded"));
    const char* which = kind_ == AttentionKind::encoder ? "source" : "target";
    const AttentionMatrix plain = matrix_of(run_.trace.at(std::string(which) + ".embedding"));
    const std::vector<std::string> tokens =
        lesson_names(kind_ == AttentionKind::encoder ? run_.source : read_target(run_), options_.language);
    const std::int64_t at = pair_.query;
    std::int64_t largest = 0;
    for (std::int64_t c = 0; c < x.columns; ++c) {
      if (std::abs(x.at(at, c)) > std::abs(x.at(at, largest))) largest = c;
    }
    LessonStep step{say_("Every token becomes a row of numbers, with its position", "每个词元变成一行数，并加上位置"),
                    say_("X = embedding + position", "X = 词嵌入 + 位置"),
                    say_.fill("The model has learned {} numbers for each token of its vocabulary; what stands for the "
                              "position is added to them.",
                              "模型为词表中的每个词元学到了 {} 个数；再加上表示位置的数。", x.columns),
                    {table("X", x, tokens)},
                    {}};
    step.examples.push_back(fmt::format(
        "X[{}, #{}] = {} + {} = {}", tokens[static_cast<std::size_t>(at)], largest + 1,
        shown_number(plain.at(at, largest), 5),
        shown_number(static_cast<double>(x.at(at, largest)) - static_cast<double>(plain.at(at, largest)), 5),
        shown_number(x.at(at, largest), 5)));
    return step;
  }

  [[nodiscard]] LessonStep input() const {
    LessonStep step{say_.fill("What layer {} reads", "第 {} 层读入什么", options_.layer),
                    kind_ == AttentionKind::cross ? say_("x, and the memory m", "x 和记忆 m") : "x",
                    say_("The rows as the layers below left them", "下面各层留下的各行"),
                    {table("x", matrix_of(value("input")), queries_)},
                    {}};
    const auto* t = side_ == "encoder" ? std::get_if<TransformerConfig>(&run_.config.encoder)
                                       : std::get_if<TransformerConfig>(&run_.config.generator().decoder);
    step.text += t != nullptr && t->norm == Norm::pre
                     ? say_(", normalised: of each row the mean is taken away, then it is divided by its deviation.",
                            "，经过归一化：每行减去平均值，再除以标准差。")
                     : say_(".", "。");
    if (kind_ == AttentionKind::cross) {
      step.text +=
          say_(" Keys and values are made of the encoder's output, the memory.", "键和值由编码器的输出（记忆）得到。");
      step.tables.push_back(table("m", matrix_of(run_.trace.at("encoder.output")), keys_));
    }
    return step;
  }

  [[nodiscard]] LessonStep projections() const {
    const AttentionMatrix q = of_head("query");
    LessonStep step{
        say_("Queries, keys and values of this head", "这个头的查询、键和值"),
        "Q = x W_Q + b_Q    K = x W_K + b_K    V = x W_V + b_V",
        say_.fill("Each head has {} of the {} columns.", "每个头占 {} 列（共 {} 列）。", q.columns, q.columns * heads_),
        {table("Q", q, queries_), table("K", of_head("key"), keys_), table("V", of_head("value"), keys_)},
        {}};
    if (kind_ == AttentionKind::cross) step.formula = "Q = x W_Q + b_Q    K = m W_K + b_K    V = m W_V + b_V";
    const Tensor* w = run_.weight(site_ + ".query.weight");
    const Tensor* b = run_.weight(site_ + ".query.bias");
    const Tensor* x = run_.trace.find(site_ + ".input");
    if (w == nullptr || !*w || x == nullptr || turned()) return step;
    std::int64_t largest = 0;
    for (std::int64_t c = 0; c < q.columns; ++c) {
      if (std::abs(q.at(pair_.query, c)) > std::abs(q.at(pair_.query, largest))) largest = c;
    }
    const std::int64_t column = options_.head * q.columns + largest;
    const double bias = b == nullptr ? 0 : static_cast<double>(b->contiguous().data()[column]);
    step.examples.push_back(
        fmt::format("Q[{}, #{}] = {} + {} (b_Q) = {}", query(), largest + 1,
                    sum_of_products(row_of_input(*x), column_of(matrix_of(*w), column), 12, options_.language),
                    shown_number(bias, 5), shown_number(q.at(pair_.query, largest), 3)));
    return step;
  }
  [[nodiscard]] std::vector<double> row_of_input(const Tensor& x) const { return row_of(matrix_of(x), pair_.query); }
  [[nodiscard]] bool turned() const {
    const auto* t = side_ == "encoder" ? std::get_if<TransformerConfig>(&run_.config.encoder)
                                       : std::get_if<TransformerConfig>(&run_.config.generator().decoder);
    return t != nullptr && is_rotary(t->positions);
  }

  [[nodiscard]] LessonStep scores() const {
    AttentionMatrix s = of_head_pairs("scores");
    for (float& v : s.values) v = static_cast<float>(static_cast<double>(v) * root());
    const double shown = s.at(pair_.query, pair_.key);
    LessonStep step{say_("How well does each key answer each query?", "每个键与每个查询有多相配？"),
                    "S = Q Kᵀ",
                    say_("The score of a query and a key is the sum of the products of their numbers.",
                         "查询与键的分数是它们对应数字的乘积之和。"),
                    {pairs("S", std::move(s))},
                    {}};
    step.examples.push_back(fmt::format("S[{}, {}] = {} = {}", query(), key(),
                                        sum_of_products(row_of(of_head("query"), pair_.query),
                                                        row_of(of_head("key"), pair_.key), 512, options_.language),
                                        shown_number(shown, 3)));
    return step;
  }
  [[nodiscard]] AttentionMatrix of_head_pairs(const char* name) const {
    const Tensor& t = value(name);
    return t.rank() == 4 ? matrix_of(t.select(0, 0).select(0, options_.head)) : matrix_of(t);
  }

  [[nodiscard]] LessonStep scaled() const {
    const AttentionMatrix s = of_head_pairs("scores");
    const double mine = s.at(pair_.query, pair_.key);
    LessonStep step{say_("Divided by the square root of the width", "除以宽度的平方根"),
                    "S / √d",
                    say_.fill("d = {}, √d = {}: sums of more products are larger, and a softmax of large numbers puts "
                              "everything on one key.",
                              "d = {}，√d = {}：乘积越多，和越大；而数值很大时 softmax 会把权重全给一个键。",
                              of_head("query").columns, shown_number(root(), 4)),
                    {pairs("S/√d", s)},
                    {}};
    step.examples.push_back(
        fmt::format("{} / {} = {}", shown_number(mine * root(), 3), shown_number(root(), 4), shown_number(mine, 3)));
    if (!scaled_scores()) {
      step.title = say_("Not divided by the square root of the width", "不除以宽度的平方根");
      step.formula = "S";
      step.text = say_("This model takes the scores as they are.", "此模型直接使用分数。");
      step.examples.clear();
    }
    return step;
  }

  [[nodiscard]] bool masks_something() const {
    const AttentionMatrix m = of_head_pairs("masked");
    return m.values != of_head_pairs("scores").values;
  }
  [[nodiscard]] LessonStep masked() const {
    return {say_("What a query may not see gets −∞", "查询看不到的得到 −∞"),
            say_("S / √d + mask", "S / √d + 掩码"),
            kind_ == AttentionKind::decoder ? say_("While the target is written, later tokens are not there yet.",
                                                   "写目标句时，后面的词元还不存在。")
                                            : say_("Biases of positions are added, and what is hidden is taken away.",
                                                   "加上位置的偏置，并去掉被遮住的。"),
            {pairs(say_("masked", "加掩码后"), of_head_pairs("masked"))},
            {}};
  }

  [[nodiscard]] LessonStep softmax() const {
    NumberTable weights = pairs("A", weights_);
    weights.weights = true;
    LessonStep step{say_("From scores to weights", "从分数到权重"),
                    "A = softmax(S / √d)",
                    say_("Row by row: the largest score is taken from all, e to the power of each, divided by their "
                         "sum. Every row sums to 1.",
                         "逐行：先都减去最大的分数，再取 e 的幂，除以该行之和。每行之和为 1。"),
                    {std::move(weights)},
                    {}};
    const AttentionMatrix masked = of_head_pairs("masked");
    step.examples.push_back(softmax_example(fmt::format("A[{}, {}]", query(), key()), row_of(masked, pair_.query),
                                            pair_.key, weights_.at(pair_.query, pair_.key), options_.language));
    return step;
  }

  [[nodiscard]] LessonStep output() const {
    const AttentionMatrix z = of_head("context");
    const AttentionMatrix v = of_head("value");
    std::int64_t largest = 0;
    for (std::int64_t c = 0; c < z.columns; ++c) {
      if (std::abs(z.at(pair_.query, c)) > std::abs(z.at(pair_.query, largest))) largest = c;
    }
    return {say_("Each query reads the values", "每个查询读取值"),
            "Z = A V",
            say_("The sum of the values, each times its weight.", "各个值乘以权重后之和。"),
            {table("Z", z, queries_)},
            {fmt::format("Z[{}, #{}] = {} = {}", query(), largest + 1,
                         sum_of_products(row_of(weights_, pair_.query), column_of(v, largest), 24, options_.language),
                         shown_number(z.at(pair_.query, largest), 3))}};
  }

  [[nodiscard]] LessonStep joined() const {
    const AttentionMatrix z = matrix_of(value("context"));
    const AttentionMatrix o = matrix_of(value("output"));
    LessonStep step{
        say_("The heads join", "各头合并"),
        "O = [Z₁ … Z_H] W_O + b_O",
        say_.fill("The {} heads' outputs stand side by side, {} numbers, and one more learned matrix mixes them.",
                  "{} 个头的输出并排放置，共 {} 个数，再由一个学到的矩阵混合。", heads_, z.columns),
        {table("[Z]", z, queries_), table("O", o, queries_)},
        {}};
    const Tensor* w = run_.weight(site_ + ".output.weight");
    const Tensor* b = run_.weight(site_ + ".output.bias");
    if (w == nullptr || !*w) return step;
    std::int64_t largest = 0;
    for (std::int64_t c = 0; c < o.columns; ++c) {
      if (std::abs(o.at(pair_.query, c)) > std::abs(o.at(pair_.query, largest))) largest = c;
    }
    const double bias = b == nullptr ? 0 : static_cast<double>(b->contiguous().data()[largest]);
    step.examples.push_back(
        fmt::format("O[{}, #{}] = {} + {} (b_O) = {}", query(), largest + 1,
                    sum_of_products(row_of(z, pair_.query), column_of(matrix_of(*w), largest), 12, options_.language),
                    shown_number(bias, 5), shown_number(o.at(pair_.query, largest), 3)));
    return step;
  }

  [[nodiscard]] LessonStep residual() const {
    return {say_("Added to what was there, and normalised", "加到原来的数上，并归一化"),
            "y = x + O,  norm(y)",
            say_("What attention found is added to the row it started from (the residual); the layer norm brings the "
                 "numbers to one size for the feed-forward layer that follows.",
                 "注意力找到的内容加到原来的行上（残差）；层归一化使数值大小一致，交给后面的前馈层。"),
            {table("y", matrix_of(value("sum")), queries_), table("norm", matrix_of(value("norm")), queries_)},
            {}};
  }

  const ModelRun& run_;
  AttentionKind kind_;
  ModelLessonOptions options_;
  Speaker say_;
  std::string side_, layer_, site_;
  int heads_ = 1;
  const AttentionMap* map_ = nullptr;
  std::vector<std::string> queries_, keys_;  // as they are shown
  AttentionMatrix weights_;
  ChosenPair pair_;
  Fold fold_, pairs_fold_;
};

}  // namespace

Lesson attention_lesson(const ModelRun& run, AttentionKind kind, const ModelLessonOptions& options) {
  return AttentionTeller(run, kind, options).tell();
}

}  // namespace fovea::view
