#include "interop/vocabulary_map.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "fovea/error.hpp"
#include "fovea/text/tokens.hpp"

namespace fovea::interop {

VocabularyMap::VocabularyMap(const std::vector<std::string>& tokens, const ForeignSpecials& special,
                             const std::string& where)
    : theirs_(special_ids, -1), never_(special_ids, false), ours_(tokens.size(), -1) {
  const auto count = static_cast<std::int64_t>(tokens.size());
  const auto assign = [&](std::int32_t id, std::int64_t their) {
    if (their >= count) {
      throw FileError(fmt::format("{}: a special token has the id {}, there are {}", where, their, count));
    }
    theirs_[static_cast<std::size_t>(id)] = their;
    const bool taken = their < 0 || ours_[static_cast<std::size_t>(their)] >= 0;
    never_[static_cast<std::size_t>(id)] = taken;
    if (!taken) ours_[static_cast<std::size_t>(their)] = id;
  };
  assign(eos_id, special.end);
  assign(bos_id, special.start_is_zero ? -1 : special.start);
  assign(unk_id, special.unknown);
  assign(pad_id, special.pad);
  for (std::int64_t their = 0; their < count; ++their) {
    if (ours_[static_cast<std::size_t>(their)] >= 0) continue;
    const std::string& token = tokens[static_cast<std::size_t>(their)];
    ours_[static_cast<std::size_t>(their)] = vocabulary_.size();
    theirs_.push_back(their);
    never_.push_back(false);
    // Spelled as a special token, empty, or as another one: it has its place but can only be written, not read.
    if (token.empty() || token.find('\0') != std::string::npos || !vocabulary_.add(token)) {
      const std::string numbered = fmt::format("{}#{}", token.substr(0, token.find('\0')), their);
      if (!vocabulary_.add(numbered)) throw FileError(fmt::format("{}: duplicate token {}", where, token));
    }
  }
}

Tensor VocabularyMap::rows(const Tensor& table) const {
  const std::int64_t width = table.dim(1);
  const Tensor out = Tensor::zeros({size(), width});
  for (std::size_t id = 0; id < theirs_.size(); ++id) {
    if (theirs_[id] < 0) continue;
    std::copy_n(table.data() + theirs_[id] * width, width, out.data() + static_cast<std::int64_t>(id) * width);
  }
  return out;
}

Tensor VocabularyMap::bias(const Tensor& bias) const {
  const Tensor out = Tensor::zeros({size()});
  for (std::size_t id = 0; id < theirs_.size(); ++id) {
    out.data()[id] = never_[id] ? kNeverBias : bias ? bias.data()[theirs_[id]] : 0.0F;
  }
  return out;
}

}  // namespace fovea::interop
