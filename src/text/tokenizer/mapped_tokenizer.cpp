#include "text/tokenizer/mapped_tokenizer.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/json.hpp"
#include "base/whole_file.hpp"
#include "fovea/error.hpp"
#include "text/unicode.hpp"

namespace fovea::text {
namespace {

constexpr std::string_view pieces_format = "fovea-pieces";

}  // namespace

void MappedTokenizer::encode(std::string_view line, std::vector<std::int32_t>& ids,
                             std::vector<std::string>* pieces) const {
  std::vector<std::string> languages;
  for (line = trim(line); line.starts_with(">>"); line = trim(line)) {
    const std::size_t end = line.find("<<");
    if (end == std::string_view::npos) break;
    const std::string_view token = line.substr(0, end + 2);
    if (vocabulary_.id(token) == unk_id) break;
    languages.emplace_back(token);
    line.remove_prefix(token.size());
  }
  std::vector<std::string> cut;
  cutter_->encode(line, ids, &cut);
  cut.insert(cut.begin(), languages.begin(), languages.end());
  ids.clear();
  for (const std::string& piece : cut) ids.push_back(vocabulary_.id(piece));
  if (pieces != nullptr) *pieces = std::move(cut);
}

std::string MappedTokenizer::decode(std::span<const std::int32_t> ids) const {
  std::vector<std::string> pieces;
  for (const std::int32_t id : ids) {
    if (id == pad_id || id == bos_id || id == eos_id) continue;
    pieces.push_back(id == unk_id ? " \u2047 " : piece(id));  // as SentencePiece writes what it does not know
  }
  const std::string text = join(pieces);  // the words are views of it
  std::string line;
  for (const std::string_view word : split_words(text)) (line += line.empty() ? "" : " ") += word;
  return line;
}

void MappedTokenizer::save(const std::filesystem::path& folder, const std::string& name) const {
  cutter_->save(folder, name);
  const nlohmann::ordered_json out{{"format", pieces_format}, {"version", 1}, {"tokens", vocabulary_.tokens()}};
  write_whole_file(folder / (name + ".pieces.json"), out.dump(0) + "\n");
}

Vocabulary parse_pieces(std::string_view bytes, const std::string& where) {
  const auto fail = [&where](const std::string& what) { throw FileError(where + ": " + what); };
  const auto json = parse_json(bytes, where);
  if (!json.is_object() || json.value("format", nlohmann::json()) != pieces_format ||
      json.value("version", nlohmann::json()) != 1) {
    fail("not a list of pieces: \"format\" is not \"" + std::string(pieces_format) + "\" with \"version\" 1");
  }
  return vocabulary_of(json.value("tokens", nlohmann::json()), where);
}

}  // namespace fovea::text
