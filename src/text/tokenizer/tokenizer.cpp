#include <fmt/format.h>

#include <array>

#include "base/mapped_file.hpp"
#include "fovea/error.hpp"
#include "fovea/text.hpp"
#include "text/tokenizer/listed_tokenizer.hpp"
#include "text/tokenizer/mapped_tokenizer.hpp"
#include "text/tokenizer/sentencepiece.hpp"
#include "text/tokenizer/vocabulary.hpp"

namespace fovea {
namespace {

std::shared_ptr<const Tokenizer> load(const std::filesystem::path& file,
                                      std::shared_ptr<const Tokenizer> (*parse)(std::string_view, const std::string&)) {
  const auto mapped = MappedFile::open(file);
  const auto bytes = mapped->bytes();
  return parse({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, file.string());
}

TrainedTokenizer train(std::span<const std::vector<std::string>* const> lines, const TokenizerOptions& options) {
  if (options.kind == TokenizerKind::byte_pairs) {
    throw UsageError("kind", "byte pairs are read from imported models and not trained; sentencepiece is");
  }
  return options.kind == TokenizerKind::sentencepiece ? text::train_sentencepiece(lines, options)
                                                      : text::train_listed(lines, options);
}

}  // namespace

TokenizerKind tokenizer_kind(std::string_view name) {
  for (const TokenizerKind kind :
       {TokenizerKind::sentencepiece, TokenizerKind::word, TokenizerKind::character, TokenizerKind::label}) {
    if (name == name_of(kind)) return kind;
  }
  throw UsageError("no tokenizer '" + std::string(name) + "'; there are sentencepiece, word, char and label");
}

std::string_view name_of(TokenizerKind kind) {
  switch (kind) {
    case TokenizerKind::sentencepiece:
      return "sentencepiece";
    case TokenizerKind::word:
      return "word";
    case TokenizerKind::character:
      return "char";
    case TokenizerKind::label:
      return "label";
    case TokenizerKind::byte_pairs:
      return "byte-pairs";
  }
  return "";
}

std::vector<std::vector<std::int32_t>> Tokenizer::sample(std::span<const std::string> /*lines*/, double /*amount*/,
                                                         std::uint64_t /*seed*/) const {
  throw UsageError(
      fmt::format("a line of {} tokens can be cut in one way only; subwords can be sampled", name_of(kind())));
}

std::string Tokenizer::join(std::span<const std::string> pieces) const {
  std::string line;
  for (const std::string& piece : pieces) line += piece;
  for (std::size_t at = 0; (at = line.find(text::visible_space, at)) != std::string::npos;) {
    line.replace(at, text::visible_space.size(), 1, ' ');
  }
  line.erase(0, line.find_first_not_of(' '));
  return line;
}

TrainedTokenizer train_tokenizer(const std::vector<std::string>& lines, const TokenizerOptions& options) {
  return train(std::array{&lines}, options);
}

TrainedTokenizer train_shared_tokenizer(const std::vector<std::string>& source, const std::vector<std::string>& target,
                                        const TokenizerOptions& options) {
  return train(std::array{&source, &target}, options);
}

std::shared_ptr<const Tokenizer> load_tokenizer(const std::filesystem::path& folder, const std::string& name) {
  if (std::filesystem::exists(folder / (name + ".model"))) {
    auto cutter = load_sentencepiece(folder / (name + ".model"));
    const auto list = folder / (name + ".pieces.json");
    if (!std::filesystem::exists(list)) return cutter;
    const auto mapped = MappedFile::open(list);
    const std::string_view bytes(reinterpret_cast<const char*>(mapped->bytes().data()), mapped->bytes().size());
    return std::make_shared<text::MappedTokenizer>(std::move(cutter), text::parse_pieces(bytes, list.string()));
  }
  if (std::filesystem::exists(folder / (name + ".json"))) return load(folder / (name + ".json"), &text::parse_listed);
  throw FileError((folder / name).string() + ".model or .json: no such tokenizer");
}

std::shared_ptr<const Tokenizer> load_sentencepiece(const std::filesystem::path& file) {
  return load(file, &text::parse_sentencepiece);
}

}  // namespace fovea
