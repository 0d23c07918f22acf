#include "text/tokenizer/turn_tokenizer.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "text/tokenizer/vocabulary.hpp"
#include "text/unicode.hpp"

namespace fovea::text {
namespace {

std::vector<std::string_view> turns_of(std::string_view line, int most) {
  std::vector<std::string_view> turns;
  for (;;) {
    const std::size_t end = line.find('\t');
    const std::string_view turn = line.substr(0, end);
    if (!trim(turn).empty()) turns.push_back(turn);
    if (end == line.npos) break;
    line.remove_prefix(end + 1);
  }
  const auto over = static_cast<std::ptrdiff_t>(turns.size()) - most;
  if (over > 0) turns.erase(turns.begin(), turns.begin() + over);
  return turns;
}

class TurnTokenizer final : public Tokenizer {
 public:
  TurnTokenizer(std::shared_ptr<const Tokenizer> inner, int most) : inner_(std::move(inner)), most_(most) {}

  [[nodiscard]] TokenizerKind kind() const override { return inner_->kind(); }
  [[nodiscard]] std::int32_t size() const override { return inner_->size(); }

  void encode(std::string_view line, std::vector<std::int32_t>& ids, std::vector<std::string>* pieces) const override {
    ids.clear();
    if (pieces != nullptr) pieces->clear();
    std::vector<std::int32_t> part;
    std::vector<std::string> part_pieces;
    for (const std::string_view turn : turns_of(line, most_)) {
      inner_->encode(turn, part, pieces != nullptr ? &part_pieces : nullptr);
      if (part.empty()) continue;
      if (!ids.empty()) {
        ids.push_back(bos_id);
        if (pieces != nullptr) pieces->push_back(special_token(bos_id));
      }
      ids.insert(ids.end(), part.begin(), part.end());
      if (pieces != nullptr) pieces->insert(pieces->end(), part_pieces.begin(), part_pieces.end());
    }
  }

  [[nodiscard]] std::vector<std::vector<std::int32_t>> sample(std::span<const std::string> lines, double amount,
                                                              std::uint64_t seed) const override {
    std::vector<std::string> turns;
    std::vector<std::size_t> ends;
    for (const std::string& line : lines) {
      for (const std::string_view turn : turns_of(line, most_)) turns.emplace_back(turn);
      ends.push_back(turns.size());
    }
    const auto sampled = inner_->sample(turns, amount, seed);
    std::vector<std::vector<std::int32_t>> out;
    std::size_t at = 0;
    for (const std::size_t end : ends) {
      auto& ids = out.emplace_back();
      for (; at < end; ++at) {
        if (sampled[at].empty()) continue;
        if (!ids.empty()) ids.push_back(bos_id);
        ids.insert(ids.end(), sampled[at].begin(), sampled[at].end());
      }
    }
    return out;
  }

  [[nodiscard]] std::string decode(std::span<const std::int32_t> ids) const override { return inner_->decode(ids); }
  [[nodiscard]] std::string join(std::span<const std::string> pieces) const override { return inner_->join(pieces); }
  [[nodiscard]] const std::string& piece(std::int32_t id) const override { return inner_->piece(id); }
  void save(const std::filesystem::path& folder, const std::string& name) const override { inner_->save(folder, name); }

 private:
  std::shared_ptr<const Tokenizer> inner_;
  int most_;
};

}  // namespace

std::shared_ptr<const Tokenizer> turn_tokenizer(std::shared_ptr<const Tokenizer> inner, int most) {
  return std::make_shared<TurnTokenizer>(std::move(inner), most);
}

}  // namespace fovea::text
