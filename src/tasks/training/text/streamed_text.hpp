// Training text that is too large for memory: encoded once into files. A training maps some of them at a time.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/folder_lock.hpp"
#include "fovea/training_job.hpp"
#include "text/corpus.hpp"

namespace fovea {

/// Throws UsageError naming the field when the job asks for what streaming does not have.
void check_stream_fields(const TrainingJob& job);

/// The text of a job that has a `stream` folder. All processes read the lines; each encodes its share of the shards.
class StreamedText {
 public:
  /// A file of the folder.
  struct Shard {
    std::filesystem::path file{};
    std::int64_t bytes = 0;
    text::PairsSummary summary{};
    text::CorpusReport report{};
  };

  /// Locks the folder. The job must outlive it.
  explicit StreamedText(const TrainingJob& job);

  /// Lines to make vocabularies of: all, or so many as an eighth of `stream_memory` holds, chosen by the seed. Throws
  /// what text::read_parallel() throws.
  [[nodiscard]] text::ParallelText sample(std::vector<std::string>& notes) const;
  /// Encodes the lines into shards, unless a resumed training finds those of the same text.
  void encode(const text::SourceReader& source, const Tokenizer& target, const text::CopyTable* copying, bool resumes);

  /// Those that hold pairs, in the order of the text.
  [[nodiscard]] const std::vector<Shard>& shards() const { return shards_; }
  [[nodiscard]] text::CorpusReport report() const;
  [[nodiscard]] text::PairsSummary summary() const;
  /// What a training maps at a time.
  [[nodiscard]] std::int64_t window_bytes() const { return std::int64_t{task_.stream_memory} << 20; }

 private:
  [[nodiscard]] std::string index() const;
  [[nodiscard]] std::string made_from(const Tokenizer& source, const Tokenizer& target) const;
  [[nodiscard]] std::filesystem::path file(std::size_t number) const;
  bool read_index(const std::string& made_from);

  const TrainingJob& job_;
  const TextTraining& task_;
  std::optional<FolderLock> lock_;  // of rank 0
  std::vector<Shard> shards_;
};

}  // namespace fovea
