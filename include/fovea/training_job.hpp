// A whole training, from files of text to a model folder: what `fovea train` does.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "fovea/export.hpp"
#include "fovea/model/config.hpp"
#include "fovea/text.hpp"
#include "fovea/train/options.hpp"
#include "fovea/train/trainer.hpp"

namespace FOVEA_API fovea {

/// What decides which checkpoint is best.
enum class ValidateBy { loss, bleu, rouge, accuracy };

/// Settings that are chosen to suit the text, in place of what the job says; `train` reports what it chose.
struct Automatic {
  bool size = false;          // of the model: layers and widths of `config`, which must be a transformer
  bool vocabulary = false;    // of subwords, to generate; words, characters and classifiers keep the job's
  bool batch_tokens = false;  // per step
};

/// The fields of a training of text to text: translation, or conversation where the config reads turns.
struct TextTraining {
  bool shared_vocab = false;  // one vocabulary for both sides
  // Where to keep the training text, encoded, when it is too large for memory: a folder that all processes see, with
  // room for 4 bytes a token and 24 a line. Empty: the text is held in memory.
  std::filesystem::path stream{};
  int stream_memory = 1024;  // MiB of it that are mapped at a time

  /// Calls visit(value, field) for each field.
  template <class Self, class Visit>
  static void fields(Self& c, const Visit& visit, const ModelConfig& /*config*/) {
    visit(c.shared_vocab,
          {.name = "shared-vocab", .group = "Vocabulary", .help = "one vocabulary for source and target"});
    visit(c.stream,
          {.name = "stream",
           .group = "Data",
           .help = "folder for the encoded training text when it does not fit in memory; it is then read from "
                   "there in parts",
           .value = "DIR"});
    visit(c.stream_memory, {.name = "stream-memory",
                            .range = at_least(1),
                            .uses = {!c.stream.empty(), "stream"},
                            .group = "Data",
                            .help = "MiB of the stream folder that are in memory at a time"});
  }
};

/// The fields of a training of text to a label.
struct ClassifyTraining {
  // Vectors that words start with, text (GloVe, fastText .vec) or binary (word2vec); as wide as the embeddings.
  std::string vectors{};

  /// Calls visit(value, field) for each field.
  template <class Self, class Visit>
  static void fields(Self& c, const Visit& visit, const ModelConfig& /*config*/) {
    visit(c.vectors, {.name = "vectors",
                      .group = "Classifiers",
                      .help = "word vectors to start from: text as of GloVe and fastText, or word2vec's binary format",
                      .value = "FILE"});
  }
};

/// The fields of a training of pictures to captions.
struct CaptionTraining {
  std::filesystem::path picture_weights{};  // trained weights of the picture encoder squeezenet
  bool freeze = false;                      // do not train the picture encoder

  /// Calls visit(value, field) for each field.
  template <class Self, class Visit>
  static void fields(Self& c, const Visit& visit, const ModelConfig& config) {
    const auto* pictures = std::get_if<PictureSourceConfig>(&config.source);
    const bool squeezenet = pictures != nullptr && pictures->picture_encoder == PictureEncoder::squeezenet;
    visit(c.picture_weights, {.name = "picture-weights",
                              .uses = {squeezenet, "the picture encoder squeezenet"},
                              .group = "Pictures",
                              .help = "trained weights of squeezenet: a folder of .npy files or a .safetensors file"});
    visit(c.freeze, {.name = "freeze",
                     .uses = {!c.picture_weights.empty(), "picture-weights"},
                     .group = "Pictures",
                     .help = "do not train the picture encoder; its features are computed once"});
  }
};

/// A whole training: texts, model, options.
struct TrainingJob {
  std::filesystem::path model{};  // the folder to make or to continue in
  // Plain text or .gz, line by line translations of each other; or texts and labels; or pictures and captions. To
  // classify, target may be empty: then a line of the source is "__label__X text", and the same for validation.
  std::string source{}, target{};  // files
  // To validate on; with none, some lines of the training text are held out, chosen by options.seed.
  std::string valid_source{}, valid_target{};  // files
  // Instead of two files of text, one with tab-separated columns (.tsv, plain or .gz).
  std::string pairs{}, valid_pairs{};                      // files
  std::array<int, 2> columns{0, 0};                        // of source and target, counted from 1; 0: exactly two
  ModelConfig config = preset("transformer-tiny");         // vocabularies are filled in
  TrainOptions options{};                                  // a learning rate of 0 is the usual one for the model
  TokenizerKind tokenizer = TokenizerKind::sentencepiece;  // what a token is
  std::string tokenizer_model{};                           // a trained SentencePiece .model; empty: train one
  bool bpe = false;                                        // byte-pair encoding instead of a unigram model
  int vocab = 8000;                        // size of the vocabulary of each side, or of both when shared
  int min_count = 1;                       // words and characters that occur less often are unknown
  double subword_sampling = 0;             // Tokenizer::sample's amount, drawn again each epoch; 0: one segmentation
  int max_length = 256;                    // tokens; longer pairs are left out
  ValidateBy validate = ValidateBy::loss;  // which checkpoint is best
  Automatic automatic{};                   // what is chosen by the text; by default nothing
  int keep_checkpoints = 0;  // models kept along the way, in checkpoints/ of the folder, spread over the training
  bool resume = false;       // continue from the checkpoint in the folder, if there is one
  bool overwrite = false;    // start again in a folder that holds a model
  std::variant<TextTraining, ClassifyTraining, CaptionTraining> task{};  // the fields of one task, that of `config`

  /// Whether the text is kept in a folder.
  [[nodiscard]] bool streams() const {
    const auto* text = std::get_if<TextTraining>(&task);
    return text != nullptr && !text->stream.empty();
  }
  /// Whether there is one vocabulary for both sides.
  [[nodiscard]] bool shares_vocab() const {
    const auto* text = std::get_if<TextTraining>(&task);
    return text != nullptr && text->shared_vocab;
  }

  /// Calls visit(value, field) for each field, those of the options and of the task included.
  template <class Self, class Visit>
  static void fields(Self& c, const Visit& visit) {
    const Uses text{!std::holds_alternative<CaptionTraining>(c.task), "a task that reads text"};
    visit(
        c.model,
        {.name = "model", .group = "Data", .help = "folder for the model (required)", .value = "DIR", .common = true});
    visit(c.source, {.name = "source",
                     .group = "Data",
                     .help = "training text, plain or .gz, one line per example; for captions paths of pictures, or "
                             "INDEX.tsv#NAME",
                     .value = "FILE",
                     .common = true});
    visit(c.target, {.name = "target",
                     .group = "Data",
                     .help = "translations, replies, labels or captions, line by line; not needed for lines of source "
                             "that begin with __label__X",
                     .value = "FILE",
                     .common = true});
    visit(c.valid_source, {.name = "valid-source",
                           .group = "Data",
                           .help = "text to validate on, as source",
                           .value = "FILE",
                           .usual = "one line of the training text in 20, at most 1000",
                           .common = true});
    visit(c.valid_target, {.name = "valid-target",
                           .group = "Data",
                           .help = "text to validate on, as target",
                           .value = "FILE",
                           .common = true});
    visit(c.pairs, {.name = "pairs",
                    .uses = text,
                    .group = "Data",
                    .help = "source and target in one file, separated by a tab, instead of two files",
                    .value = "FILE"});
    visit(c.valid_pairs, {.name = "valid-pairs",
                          .uses = text,
                          .group = "Data",
                          .help = "pairs to validate on, in the same columns",
                          .value = "FILE"});
    visit(c.columns, {.name = "columns",
                      .range = at_least(0),
                      .uses = {text.here && !(c.pairs.empty() && c.valid_pairs.empty()), "pairs"},
                      .group = "Data",
                      .help = "numbers of the columns of source and target in pairs, as in 1,2",
                      .value = "A,B",
                      .usual = "exactly two columns"});
    visit(c.config.languages, {.name = "languages",
                               .group = "Data",
                               .help = "languages that the model translates, as in en-de",
                               .common = true});
    visit(c.resume, {.name = "resume",
                     .group = "Data",
                     .help = "continue from the checkpoint in the model folder, if there is one",
                     .common = true});
    visit(c.overwrite,
          {.name = "overwrite", .group = "Data", .help = "start again in a folder that holds a model", .common = true});
    visit(c.tokenizer, {.name = "tokenizer",
                        .group = "Vocabulary",
                        .help = "what a token is, or a trained SentencePiece .model file",
                        .common = true});
    visit(c.tokenizer_model, {.name = "tokenizer-model"});
    const Uses subwords{c.tokenizer == TokenizerKind::sentencepiece, "the tokenizer sentencepiece"};
    const bool trained = c.tokenizer_model.empty();
    visit(c.bpe, {.name = "bpe",
                  .uses = {subwords.here && trained, "the tokenizer sentencepiece"},
                  .group = "Vocabulary",
                  .help = "train SentencePiece with byte-pair encoding instead of a unigram model"});
    visit(c.vocab, {.name = "vocab",
                    .range = at_least(5),
                    .uses = {trained, "a tokenizer that is trained"},
                    .group = "Vocabulary",
                    .help = "size of each vocabulary",
                    .usual = "at most 8000, chosen from the corpus size",
                    .common = true});
    visit(c.min_count, {.name = "min-count",
                        .range = at_least(1),
                        .uses = {!subwords.here, "the tokenizer word or char"},
                        .group = "Vocabulary",
                        .help = "words or characters that occur less often than this are unknown"});
    visit(c.subword_sampling, {.name = "subword-sampling",
                               .range = below_one(),
                               .uses = {subwords.here && text.here,
                                        "the tokenizer sentencepiece and a task that reads "
                                        "text"},
                               .group = "Vocabulary",
                               .help = "segment the training text differently in each epoch: dropout of byte-pair "
                                       "merges, or smoothing of a unigram model's probabilities; 0: off"});
    visit(c.max_length, {.name = "max-length",
                         .range = at_least(1),
                         .group = "Data",
                         .help = "leave out pairs with more tokens than this on a side"});
    TrainOptions::fields(c.options, visit, &c.config);
    visit(c.validate, {.name = "validate",
                       .group = "Checkpoints and validation",
                       .help = "figure that chooses the best checkpoint; rouge is ROUGE-L",
                       .common = true});
    visit(c.keep_checkpoints, {.name = "keep-checkpoints",
                               .range = between(0, 10000),
                               .group = "Checkpoints and validation",
                               .help = "number of models to keep along the way, spread over the training"});
    std::visit([&](auto& task) { std::decay_t<decltype(task)>::fields(task, visit, c.config); }, c.task);
  }
};

/// An example of a validation.
struct ValidationSample {
  std::string source, reference, output;  // lines of text
};

/// Sees a training of text to text.
class TrainingObserver : public TrainObserver {
 public:
  /// Before the first step: warnings about the data, sizes, the number of weights.
  virtual void started(const std::vector<std::string>& /*notes*/) {}
  /// Some outputs of the last validation.
  virtual void samples(const std::vector<ValidationSample>& /*samples*/) {}
};

/// Trains and leaves a model folder with config.json, the tokenizer's files, model.safetensors (the best weights so
/// far), checkpoint.safetensors, log.jsonl and report.html.
///
///     TrainingJob job;
///     job.model = "en-de"; job.source = "train.en"; job.target = "train.de"; …
///     train(job);
///
/// `stop` may be empty; it is called after every step, and true ends the training with a checkpoint. Throws UsageError
/// naming the field at fault, FileError naming the file.
Trainer::End train(const TrainingJob& job, TrainingObserver& observer, const StopRequest& stop = {});
/// The same without an observer.
Trainer::End train(const TrainingJob& job);

}  // namespace fovea
