#include "text/copy_table.hpp"

#include <algorithm>

namespace fovea::text {

CopyTable::CopyTable(const Tokenizer& source, const Tokenizer& target) : vocabulary_(target.size()) {
  for (std::int32_t id = special_ids; id < vocabulary_; ++id) of_target_.emplace(target.piece(id), id);
  of_source_.assign(static_cast<std::size_t>(source.size()), unk_id);
  for (std::int32_t id = special_ids; id < source.size(); ++id) {
    const auto found = of_target_.find(source.piece(id));
    if (found != of_target_.end()) of_source_[static_cast<std::size_t>(id)] = found->second;
  }
}

void CopyTable::source(std::span<const std::int32_t> ids, std::span<const std::string> pieces,
                       std::vector<std::int32_t>& copies, std::vector<std::string>& words) const {
  copies.clear();
  words.clear();
  std::unordered_map<std::string_view, std::int32_t> numbers;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    std::int32_t id = of_source_[static_cast<std::size_t>(ids[i])];
    // What is unknown to the source may be known to the target.
    if (const auto found = of_target_.find(pieces[i]); id == unk_id && found != of_target_.end()) id = found->second;
    if (id == unk_id) {
      const auto [at, added] = numbers.try_emplace(pieces[i], vocabulary_ + static_cast<std::int32_t>(words.size()));
      if (added) words.push_back(pieces[i]);
      id = at->second;
    }
    copies.push_back(id);
  }
}

void CopyTable::source(std::span<const std::int32_t> ids, std::vector<std::int32_t>& copies) const {
  copies.clear();
  for (const std::int32_t id : ids) copies.push_back(of_source_[static_cast<std::size_t>(id)]);
}

void CopyTable::target(std::span<std::int32_t> ids, std::span<const std::string> pieces,
                       std::span<const std::string> words) const {
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (ids[i] != unk_id) continue;
    const auto found = std::find(words.begin(), words.end(), pieces[i]);
    if (found != words.end()) ids[i] = vocabulary_ + static_cast<std::int32_t>(found - words.begin());
  }
}

}  // namespace fovea::text
