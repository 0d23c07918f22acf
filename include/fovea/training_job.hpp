// A whole training, from files of text to a model folder: what `fovea train` does.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

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

/// A whole training: texts, model, options.
struct TrainingJob {
  Task task = Task::generate;     // classify: config has a classifier as its head
  std::filesystem::path model{};  // the folder to make or to go on in
  // Plain text or .gz, line by line translations of each other; or texts and labels. To classify, target may be empty:
  // then a line of the source is "__label__X text", and the same for validation.
  std::string source{}, target{};  // files
  // To validate on; with none, some lines of the training text are held out, chosen by options.seed.
  std::string valid_source{}, valid_target{};  // files
  // Instead of two files, one with tab-separated columns (.tsv, plain or .gz), for training and for validation.
  std::string pairs{}, valid_pairs{};  // files
  std::array<int, 2> columns{0, 0};    // of source and target, counted from 1; {0, 0}: there are exactly two
  // Where to keep the training text, encoded, when it is too large for memory: a folder that all processes see, with
  // room for 4 bytes a token and 24 a line. Empty: the text is held in memory.
  std::filesystem::path stream{};
  int stream_memory = 1024;                                // MiB of it that are mapped at a time
  ModelConfig config = preset("transformer-tiny");         // vocabularies are filled in
  TrainOptions options{};                                  // a learning rate of 0 is the usual one for the model
  TokenizerKind tokenizer = TokenizerKind::sentencepiece;  // what a token is
  std::string tokenizer_model{};                           // a trained SentencePiece .model; empty: train one
  bool bpe = false;                         // SentencePiece: byte-pair encoding instead of a unigram model
  int vocabulary = 8000;                    // of each side, or of both when shared
  int min_count = 1;                        // words and characters that occur less often are unknown
  bool shared_vocabulary = false;           // one for both sides
  double subword_sampling = 0;              // Tokenizer::sample's amount, each epoch anew; 0: one segmentation for all
  int max_length = 256;                     // tokens; longer pairs are left out
  std::filesystem::path picture_weights{};  // caption: trained weights of the picture encoder squeezenet
  bool freeze = false;                      // caption: do not train the picture encoder
  float doubly_stochastic = 0;              // caption: see LossOptions
  float attention_entropy = 0.002F;         // caption with hard attention: see LossOptions::entropy
  float hops_penalty = 0;                   // of a classifier that pools with several hops (Lin et al. 2017)
  // Of a classifier: vectors that its words start with, text (GloVe, fastText .vec) or binary (word2vec); as wide as
  // the embeddings.
  std::string vectors{};
  ValidateBy validate_by = ValidateBy::loss;  // which checkpoint is best
  Automatic automatic{};                      // what is chosen by the text; by default nothing
  int keep_checkpoints = 0;  // models kept along the way, in checkpoints/ of the folder, spread over the training
  bool resume = false;       // go on from the checkpoint in the folder, if there is one
  bool overwrite = false;    // start anew in a folder that holds a model
};

/// What people want to see of a validation.
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
/// Throws UsageError naming the field that cannot be, FileError naming the file.
Trainer::End train(const TrainingJob& job, TrainingObserver& observer);
/// The same without an observer.
Trainer::End train(const TrainingJob& job);

}  // namespace fovea
