#include "text/shard.hpp"

#include <algorithm>
#include <cstring>

#include "base/whole_file.hpp"
#include "fovea/error.hpp"

namespace fovea::text {
namespace {

// The pairs follow, then the ids. Numbers are as this machine has them: a shard is a cache of a text, made anew
// wherever it does not fit.
struct Header {
  std::uint64_t magic, pairs, ids, copies;
};
constexpr std::uint64_t kMagic = 0x3130647261687366;  // "fshard01"

std::span<const std::byte> bytes_of(std::span<const std::int32_t> ids) {
  return std::as_bytes(ids);
}

}  // namespace

void write_shard(const std::filesystem::path& file, const Corpus& corpus, std::int64_t first_line) {
  Header header{kMagic, static_cast<std::uint64_t>(corpus.size()), 0, 0};
  for (std::int64_t i = 0; i < corpus.size(); ++i) {
    header.ids += corpus.source(i).size() + corpus.target(i).size() + corpus.copies(i).size();
    if (!corpus.copies(i).empty()) header.copies = 1;
  }
  WholeFile out(file);
  out.write(std::as_bytes(std::span(&header, 1)));
  std::uint64_t begin = 0;
  for (std::int64_t i = 0; i < corpus.size(); ++i) {
    const Shard::Pair pair{begin, static_cast<std::uint64_t>(first_line + corpus.line(i) - 1),
                           static_cast<std::uint32_t>(corpus.source(i).size()),
                           static_cast<std::uint32_t>(corpus.target(i).size())};
    out.write(std::as_bytes(std::span(&pair, 1)));
    begin += corpus.source(i).size() + corpus.target(i).size() + corpus.copies(i).size();
  }
  for (std::int64_t i = 0; i < corpus.size(); ++i) {
    for (const auto ids : {corpus.source(i), corpus.target(i), corpus.copies(i)}) out.write(bytes_of(ids));
  }
  out.commit();
}

Shard::Shard(const std::filesystem::path& file) : file_(MappedFile::open(file)) {
  const std::span<const std::byte> bytes = file_->bytes();
  const auto check = [&file](bool fine) {
    if (!fine) throw FileError(file.string() + ": damaged; without it the text is encoded anew");
  };
  Header header{};
  check(bytes.size() >= sizeof header);
  std::memcpy(&header, bytes.data(), sizeof header);
  check(header.magic == kMagic && header.copies <= 1);
  check(header.pairs <= bytes.size() / sizeof(Pair) && header.ids <= bytes.size() / sizeof(std::int32_t));
  const std::size_t pairs = header.pairs * sizeof(Pair);
  check(sizeof header + pairs + header.ids * sizeof(std::int32_t) == bytes.size());
  pairs_ = {reinterpret_cast<const Pair*>(bytes.data() + sizeof header), header.pairs};
  ids_ = {reinterpret_cast<const std::int32_t*>(bytes.data() + sizeof header + pairs), header.ids};
  copies_ = header.copies == 1;
  for (const Pair& p : pairs_) {
    const std::uint64_t used = std::uint64_t{p.source} * (copies_ ? 2 : 1) + p.target;
    check(p.source > 0 && p.target > 0 && p.begin <= header.ids && used <= header.ids - p.begin);
  }
}

void ShardWindow::open(const std::vector<std::filesystem::path>& files) {
  shards_.clear();
  starts_.assign(1, 0);
  for (const auto& file : files) {
    shards_.push_back(std::make_unique<Shard>(file));
    starts_.push_back(starts_.back() + shards_.back()->size());
  }
}

ShardWindow::Place ShardWindow::place(std::int64_t i) const {
  const auto after = std::upper_bound(starts_.begin(), starts_.end(), i);
  const auto shard = static_cast<std::size_t>(after - starts_.begin()) - 1;
  return {shards_[shard].get(), i - starts_[shard]};
}

}  // namespace fovea::text
