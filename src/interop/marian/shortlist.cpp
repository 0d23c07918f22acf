#include "interop/marian/shortlist.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "fovea/error.hpp"
#include "interop/byte_reader.hpp"

namespace fovea::interop {
namespace {

constexpr std::uint64_t kMagic = 0xF11A48D5013417F5;

// Of whole words of eight bytes; what is left over does not count.
std::uint64_t checksum(std::span<const std::byte> bytes) {
  std::uint64_t seed = 0;
  for (; bytes.size() >= sizeof(seed); bytes = bytes.subspan(sizeof(seed))) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data(), sizeof(word));
    seed ^= word + 0x9e3779b9 + (seed << 6U) + (seed >> 2U);
  }
  return seed;
}

}  // namespace

MarianShortlist read_marian_shortlist(const FileBytes& file) {
  ByteReader in(file.bytes, file.name);
  const auto fail = [&](const char* what) { throw FileError(fmt::format("{}: {}", file.name, what)); };
  if (in.left() < sizeof(kMagic) || in.number<std::uint64_t>() != kMagic) {
    fail("not a binary lexical shortlist of Marian's");
  }
  const auto expected = in.number<std::uint64_t>();
  const std::size_t counted = in.at();
  MarianShortlist out;
  out.frequent = in.number<std::uint64_t>();
  (void)in.number<std::uint64_t>();  // how many of each source token were kept; the lists say it too
  const auto offsets = in.number<std::uint64_t>();
  const auto count = in.number<std::uint64_t>();
  if (offsets < 1 || offsets > in.left() / 8 || count > in.left() / 4 || offsets * 8 + count * 4 != in.left()) {
    fail("its size is not that of the lists in its header");
  }
  if (checksum(file.bytes.subspan(counted)) != expected) fail("its checksum is another one; the file is damaged");
  std::vector<std::uint64_t> first(offsets);
  std::memcpy(first.data(), in.take(offsets * 8).data(), offsets * 8);
  if (first.front() != 0 || first.back() != count || !std::is_sorted(first.begin(), first.end())) {
    fail("its offsets do not divide its lists");
  }
  const auto ids = in.take(count * 4);
  out.targets.resize(offsets - 1);
  for (std::size_t i = 0; i + 1 < offsets; ++i) {
    out.targets[i].resize(first[i + 1] - first[i]);
    if (out.targets[i].empty()) continue;
    std::memcpy(out.targets[i].data(), ids.data() + first[i] * 4, out.targets[i].size() * 4);
  }
  return out;
}

text::Shortlist shortlist_of(const MarianShortlist& read, const VocabularyMap& source, const VocabularyMap& target,
                             bool shared, const std::string& where) {
  const std::vector<std::int32_t>& ours = target.ours();
  if (read.targets.size() != source.ours().size()) {
    throw FileError(fmt::format("{}: made for {} source tokens, the vocabulary has {}", where, read.targets.size(),
                                source.ours().size()));
  }
  std::vector<std::int64_t> common;
  for (std::size_t id = 0; id < std::min<std::uint64_t>(read.frequent, ours.size()); ++id) common.push_back(ours[id]);
  std::vector<std::vector<std::int64_t>> lists(static_cast<std::size_t>(source.size()));
  for (std::size_t id = 0; id < lists.size(); ++id) {
    const std::int64_t their = source.theirs()[id];
    if (their < 0) continue;
    for (const std::uint32_t t : read.targets[static_cast<std::size_t>(their)]) {
      if (t >= ours.size()) {
        throw FileError(fmt::format("{}: target token {}, the vocabulary has {}", where, t, ours.size()));
      }
      lists[id].push_back(ours[t]);
    }
    if (shared) lists[id].push_back(ours[static_cast<std::size_t>(their)]);
  }
  return {lists, common, target.size()};
}

}  // namespace fovea::interop
