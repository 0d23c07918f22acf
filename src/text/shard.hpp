// A part of a corpus as a file: pairs of id sequences that are read where they lie.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <vector>

#include "base/mapped_file.hpp"
#include "text/corpus.hpp"

namespace fovea::text {

/// Writes the pairs of a corpus, which have no parts; `first_line` is the number of the line that the corpus counts as
/// its first. The file appears whole or not at all.
void write_shard(const std::filesystem::path& file, const Corpus& corpus, std::int64_t first_line);

/// The pairs of such a file. It is mapped: memory holds what was read of it, and the system takes it back when it needs
/// to.
class Shard final : public Pairs {
 public:
  /// Throws FileError when the file is not what write_shard() makes.
  explicit Shard(const std::filesystem::path& file);
  [[nodiscard]] std::int64_t size() const override { return static_cast<std::int64_t>(pairs_.size()); }
  [[nodiscard]] std::span<const std::int32_t> source(std::int64_t i) const override {
    const Pair& p = pairs_[static_cast<std::size_t>(i)];
    return ids_.subspan(p.begin, p.source);
  }
  [[nodiscard]] std::span<const std::int32_t> target(std::int64_t i) const override {
    const Pair& p = pairs_[static_cast<std::size_t>(i)];
    return ids_.subspan(p.begin + p.source, p.target);
  }
  [[nodiscard]] std::span<const std::int32_t> copies(std::int64_t i) const override {
    const Pair& p = pairs_[static_cast<std::size_t>(i)];
    return ids_.subspan(p.begin + p.source + p.target, copies_ ? p.source : 0);
  }
  [[nodiscard]] std::int64_t line(std::int64_t i) const override {
    return static_cast<std::int64_t>(pairs_[static_cast<std::size_t>(i)].line);
  }

  // The layout of the file.
  struct Pair {
    std::uint64_t begin;  // of the source among the ids; the target follows it, and the copies
    std::uint64_t line;
    std::uint32_t source, target;
  };

 private:
  std::shared_ptr<MappedFile> file_;
  std::span<const Pair> pairs_;
  std::span<const std::int32_t> ids_;
  bool copies_ = false;
};

/// Several shards as one corpus: their pairs, one shard after the other.
class ShardWindow final : public Pairs {
 public:
  /// In place of those that were there.
  void open(const std::vector<std::filesystem::path>& files);
  [[nodiscard]] std::int64_t size() const override { return starts_.empty() ? 0 : starts_.back(); }
  [[nodiscard]] std::span<const std::int32_t> source(std::int64_t i) const override {
    const Place p = place(i);
    return p.shard->source(p.pair);
  }
  [[nodiscard]] std::span<const std::int32_t> target(std::int64_t i) const override {
    const Place p = place(i);
    return p.shard->target(p.pair);
  }
  [[nodiscard]] std::span<const std::int32_t> copies(std::int64_t i) const override {
    const Place p = place(i);
    return p.shard->copies(p.pair);
  }
  [[nodiscard]] std::int64_t line(std::int64_t i) const override {
    const Place p = place(i);
    return p.shard->line(p.pair);
  }

 private:
  struct Place {
    const Shard* shard;
    std::int64_t pair;
  };
  [[nodiscard]] Place place(std::int64_t i) const;

  std::vector<std::unique_ptr<Shard>> shards_;
  std::vector<std::int64_t> starts_;  // of each shard's pairs, and the end of the last
};

}  // namespace fovea::text
