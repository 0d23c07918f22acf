#include "interop/opennmt/checkpoint.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "fovea/error.hpp"

namespace fovea::interop {
namespace {

using Kind = PickleValue::Kind;

// The field or vocabulary of a side: a dictionary's value, or in a list of pairs the one whose name it is.
const PickleValue* side_of(const Pickle& pickle, const PickleValue& vocabularies, std::string_view side) {
  if (vocabularies.kind != Kind::list) return pickle.find(vocabularies, side);
  for (const std::uint32_t i : vocabularies.items) {
    const PickleValue& pair = pickle[i];
    if (pair.kind != Kind::list || pair.items.size() != 2) continue;
    if (pickle[pair.items[0]].text == side) return &pickle[pair.items[1]];
  }
  return nullptr;
}

}  // namespace

OpenNmtCheckpoint::OpenNmtCheckpoint(const FileBytes& file) : tensors(file.name), file_(file) {
  const Pickle& pickle = file_.pickle();
  const auto has = [&](const char* name) { return pickle.find(file_.top(), name) != nullptr; };
  if (!has("vocab") && (has("args") || has("cfg"))) tensors.fail("checkpoints of fairseq are not supported");
  if (!has("vocab") || !has("opt")) tensors.fail("not a checkpoint of OpenNMT-py, which has vocab and opt");
  file_.add(tensors, part("model"));
  file_.add(tensors, part("generator"), "generator.");
  if (part("opt").kind != Kind::object) tensors.fail("its options (opt) are no argparse.Namespace");
  source = tokens("src");
  target = tokens("tgt");
  const PickleValue* first = pickle.find(part("vocab"), "decoder_start_token");
  if (first != nullptr && first->kind == Kind::text) start = first->text;
}

const PickleValue& OpenNmtCheckpoint::part(const char* name) const {
  const PickleValue* found = file_.pickle().find(file_.top(), name);
  if (found == nullptr || found->kind == Kind::none) tensors.fail(fmt::format("\"{}\" is missing", name));
  return *found;
}

// A list of tokens; a vocabulary with the list itos; a field with a vocabulary; or a field of several fields, of which
// the first are the words and others features.
std::vector<std::string> OpenNmtCheckpoint::tokens(const char* side) const {
  const Pickle& pickle = file_.pickle();
  const PickleValue* at = side_of(pickle, part("vocab"), side);
  const auto follow = [&](const char* name) {
    const PickleValue* next = at != nullptr ? pickle.find(*at, name) : nullptr;
    if (next != nullptr) at = next;
    return next != nullptr;
  };
  if (follow("fields")) {
    const PickleValue* pair = at->kind == Kind::list && !at->items.empty() ? &pickle[at->items[0]] : nullptr;
    if (at->items.size() > 1) tensors.fail(fmt::format("vocab: {} has features, which are not supported", side));
    at = pair != nullptr && pair->kind == Kind::list && pair->items.size() == 2 ? &pickle[pair->items[1]] : nullptr;
  }
  (void)follow("vocab");
  (void)follow("itos");
  if (at == nullptr || at->kind != Kind::list) tensors.fail(fmt::format("vocab: there is no list of {} tokens", side));
  std::vector<std::string> all;
  for (const std::uint32_t i : at->items) {
    if (pickle[i].kind != Kind::text) tensors.fail(fmt::format("vocab: a {} token is no text", side));
    all.push_back(pickle[i].text);
  }
  return all;
}

std::string OpenNmtCheckpoint::option(const char* name, const std::string& otherwise) const {
  const PickleValue* found = file_.pickle().find(part("opt"), name);
  if (found == nullptr) return otherwise;
  switch (found->kind) {
    case Kind::text:
      return found->text;
    case Kind::integer:
      return std::to_string(found->integer);
    case Kind::boolean:
      return found->integer != 0 ? "true" : "false";
    default:
      return otherwise;
  }
}

void OpenNmtCheckpoint::need(const char* name, const std::string& otherwise,
                             std::initializer_list<const char*> possible) const {
  const std::string given = option(name, otherwise);
  if (std::any_of(possible.begin(), possible.end(), [&](const char* p) { return given == p; })) return;
  tensors.fail(fmt::format("option {}: {} is not supported", name, given.empty() ? "\"\"" : given));
}

}  // namespace fovea::interop
