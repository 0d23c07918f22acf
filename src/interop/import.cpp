#include <fmt/format.h>

#include <algorithm>

#include "fovea/error.hpp"
#include "fovea/interop.hpp"
#include "interop/hugging_face.hpp"
#include "interop/imported_model.hpp"
#include "tasks/generation/shortlist_file.hpp"
#include "text/languages.hpp"

namespace fovea {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> files_with(const fs::path& folder, const std::string& ending) {
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().filename().string().ends_with(ending)) found.push_back(entry.path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

interop::ImportedModel import_hugging_face(const fs::path& folder) {
  const interop::HuggingFaceConfig config(folder / "config.json");
  const std::string type = config.text("model_type", "");
  if (type == "marian") return interop::import_marianmt(folder);
  if (type == "gpt2") return interop::import_gpt2(folder);
  if (type.empty()) config.fail("model_type", "is missing; a model of Hugging Face's Transformers has it");
  config.fail("model_type", fmt::format("{} models are not supported; marian and gpt2 are", type));
}

interop::ImportedModel read(const fs::path& source) {
  if (!fs::exists(source)) throw FileError(source.string() + ": there is no such file or folder");
  if (!fs::is_directory(source)) {
    const std::string ending = source.extension().string();
    if (ending == ".npz" || ending == ".bin") return interop::import_marian(source);
    throw FileError(
        source.string() +
        ": not a model that can be imported; a file must be Marian's .npz or .bin (checkpoints of fairseq and "
        "OpenNMT-py are not supported)");
  }
  const auto has = [&](const char* name) { return fs::exists(source / name); };
  for (const char* vocabulary : {"source_vocabulary.txt", "source_vocabulary.json", "shared_vocabulary.txt",
                                 "shared_vocabulary.json", "vocabulary.txt", "vocabulary.json"}) {
    if (has("model.bin") && has(vocabulary)) return interop::import_ctranslate2(source);
  }
  if (has("model.safetensors") && has("config.json") &&
      interop::HuggingFaceConfig(source / "config.json").has("format")) {
    throw FileError(source.string() + ": is a model of Fovea already");
  }
  if (has("config.json")) return import_hugging_face(source);
  auto files = files_with(source, ".npz");
  if (files.empty()) files = files_with(source, ".bin");
  // Marian's lexical shortlists, as lex.50.50.ende.s2t.bin, are no models.
  std::erase_if(files, [](const fs::path& file) { return file.filename().string().starts_with("lex."); });
  if (files.size() == 1) return read(files[0]);
  if (files.size() > 1) {
    throw FileError(fmt::format("{}: holds {} and {}; name the one to import", source.string(),
                                files[0].filename().string(), files[1].filename().string()));
  }
  throw FileError(source.string() + ": no model of CTranslate2, Hugging Face's Transformers or Marian");
}

// The pair of languages that a name ends in, as "opus-mt-en-de" does; otherwise empty.
std::string languages_in(const std::string& name) {
  const std::size_t last = name.rfind('-');
  if (last == std::string::npos || last == 0) return {};
  const std::size_t before = name.find_last_of("-_/", last - 1);
  const std::string source = name.substr(before == std::string::npos ? 0 : before + 1, last - (before + 1));
  const std::string target = name.substr(last + 1);
  return text::is_language(source) && text::is_language(target) ? source + "-" + target : std::string();
}

// What the model translates: as its tokenizer_config.json or config.json says, or else the name of its folder.
std::string languages_of(const fs::path& source) {
  const fs::path folder = fs::is_directory(source) ? source : source.parent_path();
  if (fs::exists(folder / "tokenizer_config.json")) {
    const interop::HuggingFaceConfig config(folder / "tokenizer_config.json");
    const std::string pair = config.text("source_lang", "") + "-" + config.text("target_lang", "");
    if (!languages_in(pair).empty()) return pair;
  }
  if (fs::exists(folder / "config.json")) {
    const std::string name = interop::HuggingFaceConfig(folder / "config.json").text("_name_or_path", "");
    if (!languages_in(name).empty()) return languages_in(name);
  }
  return languages_in(fs::weakly_canonical(folder).filename().string());
}

std::string described(const ModelConfig& config, std::int64_t weights) {
  const GeneratorConfig& g = config.generator();
  const auto* decoder = std::get_if<TransformerConfig>(&g.decoder);
  const std::string layers = config.task() == Task::complete
                                 ? fmt::format("language model, {}", layers_of(g.decoder))
                                 : fmt::format("{} + {}", layers_of(config.encoder), layers_of(g.decoder));
  std::string text = fmt::format("{}, {} layers, width {}", kind_of(g.decoder), layers, dim_of(g.decoder));
  if (decoder != nullptr) {
    text += fmt::format(", {} heads, {}-norm, {}", decoder->heads, enum_text(decoder->norm),
                        enum_text(decoder->activation));
  }
  if (!config.languages.empty()) text = config.languages + ", " + text;
  return fmt::format("{}, {} target tokens, {} weights", text, g.vocabulary, weights);
}

}  // namespace

ImportReport import_model(const fs::path& source, const fs::path& folder) {
  const bool there = fs::exists(folder) && !(fs::is_directory(folder) && fs::is_empty(folder));
  if (there && !unfinished_model(folder)) {
    throw UsageError("model", fmt::format("{} is there already; a new folder is needed", folder.string()));
  }
  interop::ImportedModel model = read(source);
  if (model.config.task() == Task::generate && model.config.languages.empty()) {
    model.config.languages = languages_of(source);
  }
  model.parameters.seal();
  try {
    build_weights(model.config, model.parameters);
  } catch (const Error& error) {
    throw FileError(fmt::format("{}: {}", source.string(), error.what()));
  }
  for (const auto& entry : model.parameters.entries()) {
    if (entry.use == Parameters::Use::none)
      throw FileError(fmt::format("{}: weight {} is not part of the model", source.string(), entry.name));
  }
  write_model(folder, model.config, model.tokenizers, model.parameters);
  if (model.shortlist) model.shortlist->save(shortlist_file(folder));
  const std::int64_t weights = model.parameters.count();
  return {model.found, described(model.config, weights), weights};
}

}  // namespace fovea
