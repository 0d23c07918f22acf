#include "interop/marian/file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "fovea/error.hpp"
#include "interop/marian/shortlist.hpp"
#include "interop/yaml.hpp"
#include "text/lines.hpp"
#include "text/tokenizer/listed_tokenizer.hpp"
#include "text/tokenizer/mapped_tokenizer.hpp"

namespace fovea::interop {

namespace fs = std::filesystem;

namespace {

// Marian's amun type writes the names that Nematus had for the same weights.
constexpr std::pair<const char*, const char*> kNematusNames[] = {
    {"decoder_U", "decoder_cell1_U"},
    {"decoder_Ux", "decoder_cell1_Ux"},
    {"decoder_W", "decoder_cell1_W"},
    {"decoder_Wx", "decoder_cell1_Wx"},
    {"decoder_b", "decoder_cell1_b"},
    {"decoder_bx", "decoder_cell1_bx"},
    {"decoder_U_nl", "decoder_cell2_U"},
    {"decoder_Ux_nl", "decoder_cell2_Ux"},
    {"decoder_Wc", "decoder_cell2_W"},
    {"decoder_Wcx", "decoder_cell2_Wx"},
    {"decoder_b_nl", "decoder_cell2_b"},
    {"decoder_bx_nl", "decoder_cell2_bx"},
    {"ff_logit_prev_W", "decoder_ff_logit_l1_W0"},
    {"ff_logit_lstm_W", "decoder_ff_logit_l1_W1"},
    {"ff_logit_ctx_W", "decoder_ff_logit_l1_W2"},
    {"ff_logit_prev_b", "decoder_ff_logit_l1_b0"},
    {"ff_logit_lstm_b", "decoder_ff_logit_l1_b1"},
    {"ff_logit_ctx_b", "decoder_ff_logit_l1_b2"},
    {"ff_logit_W", "decoder_ff_logit_l2_W"},
    {"ff_logit_b", "decoder_ff_logit_l2_b"},
    {"ff_state_W", "decoder_ff_state_W"},
    {"ff_state_b", "decoder_ff_state_b"},
    {"Wemb_dec", "decoder_Wemb"},
    {"encoder_U", "encoder_bi_U"},
    {"encoder_Ux", "encoder_bi_Ux"},
    {"encoder_W", "encoder_bi_W"},
    {"encoder_Wx", "encoder_bi_Wx"},
    {"encoder_b", "encoder_bi_b"},
    {"encoder_bx", "encoder_bi_bx"},
    {"encoder_r_U", "encoder_bi_r_U"},
    {"encoder_r_Ux", "encoder_bi_r_Ux"},
    {"encoder_r_W", "encoder_bi_r_W"},
    {"encoder_r_Wx", "encoder_bi_r_Wx"},
    {"encoder_r_b", "encoder_bi_r_b"},
    {"encoder_r_bx", "encoder_bi_r_bx"},
};

}  // namespace

MarianFile::MarianFile(const fs::path& file)
    : tensors(file.extension() == ".npz" ? read_npz(FileBytes::map(file)) : read_marian_bin(FileBytes::map(file))),
      folder_(file.has_parent_path() ? file.parent_path() : fs::path(".")) {
  constexpr const char* name = "special:model.yml";
  if (!tensors.has(name)) tensors.fail("special:model.yml is missing; Marian's models hold their options there");
  const auto bytes = tensors.item(name).bytes;
  std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  text.resize(std::min(text.size(), std::strlen(text.c_str())));
  tensors.ignore(name);
  options_ = parse_flat_yaml(text, tensors.file() + ": special:model.yml");
  if (option("type", "") == "amun") {
    for (const auto& [theirs, ours] : kNematusNames) {
      if (tensors.has(theirs)) tensors.alias(ours, theirs);
    }
    tensors.ignore("decoder_c_tt");  // an empty array, for Nematus
  }
}

std::string MarianFile::option(const std::string& name, const std::string& otherwise) const {
  const auto found = options_.find(name);
  return found == options_.end() ? otherwise : found->second;
}

int MarianFile::integer(const std::string& name, int otherwise) const {
  const std::string text = option(name, std::to_string(otherwise));
  int value = 0;
  for (const char c : text) {
    if (c < '0' || c > '9' || value > 100'000'000) tensors.fail(fmt::format("option {}: {} is no number", name, text));
    value = value * 10 + (c - '0');
  }
  return value;
}

void MarianFile::need(const std::string& name, const std::string& otherwise,
                      std::initializer_list<const char*> possible) const {
  const std::string given = option(name, otherwise);
  if (std::any_of(possible.begin(), possible.end(), [&](const char* p) { return given == p; })) return;
  tensors.fail(fmt::format("option {}: {} is not supported", name, given.empty() ? "\"\"" : given));
}

// The vocabulary files in the model's folder.
std::vector<fs::path> MarianFile::vocabulary_files() const {
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(folder_)) {
    const std::string name = entry.path().filename().string();
    const bool options = name.find(".npz") != std::string::npos || name.find(".bin") != std::string::npos ||
                         name.find("decoder") != std::string::npos || name.find("config") != std::string::npos;
    if ((name.ends_with(".yml") || name.ends_with(".yaml")) && !options) found.push_back(entry.path());
  }
  if (found.empty()) {
    for (const auto& entry : fs::directory_iterator(folder_)) {
      if (entry.path().extension() == ".spm") found.push_back(entry.path());
    }
  }
  const auto is_target = [](const fs::path& p) {
    const std::string name = p.filename().string();
    return name.find("trg") != std::string::npos || name.find("tgt") != std::string::npos ||
           name.find("target") != std::string::npos;
  };
  std::sort(found.begin(), found.end(),
            [&](const fs::path& a, const fs::path& b) { return is_target(a) != is_target(b) ? is_target(b) : a < b; });
  if (found.empty() || found.size() > 2 || (found.size() == 2 && is_target(found[0]) == is_target(found[1]))) {
    throw FileError(
        fmt::format("{}: the folder must hold one vocabulary, or two with src and trg in their names "
                    "(.yml or .spm), it holds {}",
                    folder_.string(), found.size()));
  }
  return found;
}

std::unique_ptr<VocabularyMap> MarianFile::map_of(const fs::path& file, std::int64_t rows, const char* cutter_name,
                                                  std::shared_ptr<const Tokenizer>& tokenizer) const {
  std::vector<std::string> tokens;
  ForeignSpecials special{.unknown = 1, .end = 0, .start_is_zero = true};
  const bool spm = file.extension() == ".spm";
  if (spm) {
    // Marian trains them with </s> as 0, <unk> as 1 and no other special token.
    tokenizer = load_sentencepiece(file);
    tokens = {"</s>", "<unk>"};
    for (std::int32_t id = special_ids; id < tokenizer->size(); ++id) tokens.push_back(tokenizer->piece(id));
  } else {
    tokens = parse_yaml_ids(FileBytes::map(file).text(), file.string());
    const auto id = [&](const char* token) {
      const auto found = std::find(tokens.begin(), tokens.end(), token);
      if (found == tokens.end()) throw FileError(fmt::format("{}: there is no {}", file.string(), token));
      return found - tokens.begin();
    };
    special.end = id("</s>");
    special.unknown = id("<unk>");
  }
  if (static_cast<std::int64_t>(tokens.size()) != rows) {
    throw FileError(fmt::format("{}: {} tokens, but the embeddings have {} rows", file.string(), tokens.size(), rows));
  }
  auto map = std::make_unique<VocabularyMap>(tokens, special, file.string());
  if (!spm && fs::exists(folder_ / cutter_name)) {
    tokenizer = std::make_shared<text::MappedTokenizer>(load_sentencepiece(folder_ / cutter_name), map->vocabulary());
  } else if (!spm) {
    tokenizer =
        std::make_shared<text::ListedTokenizer>(text::ListedTokens{.kind = TokenizerKind::word}, map->vocabulary());
  }
  return map;
}

std::string MarianFile::table(const char* side) const {
  const std::string own = fmt::format("{}_Wemb", side);
  return tensors.has(own) ? own : "Wemb";
}

void MarianFile::read_vocabularies() {
  const auto files = vocabulary_files();
  source_ = map_of(files.front(), tensors.shape(table("encoder"))[0], "source.spm", out.tokenizers.source);
  target_ = map_of(files.back(), tensors.shape(table("decoder"))[0], "target.spm", out.tokenizers.target);
  out.config.shared_vocabulary = files.size() == 1;
  if (files.size() == 1 && !fs::exists(folder_ / "source.spm")) out.tokenizers.target = out.tokenizers.source;
}

Tensor MarianFile::turned(const std::string& name) {
  const Tensor w = tensors.take(name);
  if (w.rank() != 2) tensors.fail(fmt::format("tensor {} has shape {}, not that of a matrix", name, w.shape().text()));
  return w.transpose(0, 1);
}

Tensor MarianFile::vector(const std::string& name) {
  if (!tensors.has(name)) return {};
  const Tensor v = tensors.take(name);
  return v.reshape({v.size()});
}

void MarianFile::linear(const std::string& to, const std::string& from, const std::string& part) {
  put_linear(out.parameters, to, turned(from + "_W" + part), vector(from + "_b" + part));
}

void MarianFile::put_embeddings(GeneratorConfig& generator, const std::string& prefix) {
  Parameters& p = out.parameters;
  const std::string source = table("encoder");
  const std::string target = table("decoder");
  const std::string output = prefix + "_W";
  const std::string output_rows = prefix + "_Wt";
  const bool tied = !tensors.has(output) && !tensors.has(output_rows);
  const bool all = tied && source == target && out.config.shared_vocabulary;
  generator.tie = all ? Tie::all : tied ? Tie::target : Tie::none;
  const Tensor target_rows = target_->rows(tensors.take(target));
  if (all) {
    p.put("embedding", target_rows);
  } else {
    p.put("source.embedding", source_->rows(tensors.take(source)));
    p.put("target.embedding", target_rows);
  }
  if (!tied) {
    const Tensor rows = tensors.has(output) ? turned(output).contiguous() : tensors.take(output_rows);
    if (rows.dim(0) != tensors.shape(target)[0]) tensors.fail("the output layer has another size than the vocabulary");
    p.put("output.weight", target_->rows(rows));
  }
  const Tensor bias = vector(prefix + "_b");
  if (bias && bias.size() != tensors.shape(target)[0]) tensors.fail(prefix + "_b has the wrong size");
  p.put("output.bias", target_->bias(bias));
}

void MarianFile::read_shortlist() {
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(folder_)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("lex.") && name.ends_with(".bin")) found.push_back(entry.path());
  }
  if (found.empty()) return;
  if (found.size() > 1) {
    throw FileError(
        fmt::format("{}: {} lexical shortlists (lex.*.bin); one can be read", folder_.string(), found.size()));
  }
  const FileBytes file = FileBytes::map(found[0]);
  out.shortlist =
      shortlist_of(read_marian_shortlist(file), *source_, *target_, out.config.shared_vocabulary, file.name);
  out.found += ", lexical shortlist";
}

ImportedModel MarianFile::finish(const EncoderConfig& encoder, const GeneratorConfig& generator, int width) {
  for (const std::string& name : tensors.names()) {
    if (name.ends_with("_QuantMultA")) tensors.ignore(name);  // how int8 activations are rounded there
  }
  tensors.finish();
  read_shortlist();
  set_parts(out, encoder, generator, width, *source_, *target_);
  return std::move(out);
}

ImportedModel import_marian(const fs::path& file) {
  MarianFile read(file);
  read.need("type", "", {"transformer", "s2s", "amun"});
  return read.option("type", "") == "transformer" ? import_marian_transformer(read) : import_marian_rnn(read);
}

}  // namespace fovea::interop
