// GET /spec: the description of the API (Swagger 2).
#include <algorithm>
#include <nlohmann/json.hpp>

#include "fovea/version.hpp"
#include "server/api/api.hpp"
#include "server/api/options.hpp"

namespace fovea::server {
namespace {

using Schema = nlohmann::json;

Schema field(const char* name, const char* type, bool required, const char* description) {
  return {{"in", "formData"}, {"name", name}, {"type", type}, {"required", required}, {"description", description}};
}

Schema responses(const char* description, Schema schema) {
  Schema out = {{"200", {{"description", description}, {"schema", std::move(schema)}}}};
  const Schema error = {{"type", "object"}, {"properties", {{"error", {{"type", "string"}}}}}};
  for (const auto& [status, what] : {std::pair{"400", "Invalid request"}, std::pair{"403", "Invalid API key"},
                                     std::pair{"429", "Slow down"}, std::pair{"500", "Translation error"}}) {
    out[status] = {{"description", what}, {"schema", error}};
  }
  return out;
}

Schema object(std::initializer_list<std::pair<const char*, Schema>> properties) {
  Schema out = {{"type", "object"}, {"properties", Schema::object()}};
  for (const auto& [name, schema] : properties) out["properties"][name] = schema;
  return out;
}

Schema array(Schema items) {
  return {{"type", "array"}, {"items", std::move(items)}};
}

Schema get(const char* tag, const char* summary, Schema schema) {
  return {{"get", {{"tags", {tag}}, {"summary", summary}, {"responses", responses(summary, std::move(schema))}}}};
}

Schema post(const char* tag, const char* summary, Schema parameters, Schema schema) {
  return {{"post",
           {{"tags", {tag}},
            {"summary", summary},
            {"consumes", {"application/json", "application/x-www-form-urlencoded", "multipart/form-data"}},
            {"parameters", std::move(parameters)},
            {"responses", responses(summary, std::move(schema))}}}};
}

// Adds the options of the search that a path takes and does not list itself.
void add_options(Schema& path, Task task) {
  Schema& parameters = path["post"]["parameters"];
  for (const OfferedOption& option : offered_options(task)) {
    const bool listed = std::any_of(parameters.begin(), parameters.end(),
                                    [&](const Schema& one) { return one["name"] == option.name; });
    if (!listed) parameters.push_back(field(option.name.c_str(), option.type.c_str(), false, option.help.c_str()));
  }
}

std::string build() {
  const Schema text = {{"type", "string"}};
  const Schema number = {{"type", "number"}};
  const Schema matrix = array(array(number));
  const Schema key = field("api_key", "string", false, "API key");
  const Schema detection = object({{"language", text}, {"confidence", number}});
  const Schema attention = object({{"source", array(text)}, {"target", array(text)}, {"weights", matrix}});
  const Schema q = field("q", "string", true, "Text to translate; in JSON also an array of texts");
  const Schema one = field("q", "string", true, "Text to translate");
  const Schema source = field("source", "string", true, "Source language code, or auto");
  const Schema target = field("target", "string", true, "Target language code");
  const Schema words = field("merge_words", "boolean", false, "Attention between words instead of tokens");
  const Schema node = object({{"id", {{"type", "integer"}}},
                              {"parent", {{"type", "integer"}}},
                              {"step", {{"type", "integer"}}},
                              {"token", text},
                              {"log_probability", number},
                              {"finished", {{"type", "boolean"}}}});
  const Schema integer = {{"type", "integer"}};
  const Schema map = object({{"kind", text},
                             {"layer", integer},
                             {"head", integer},
                             {"queries", array(text)},
                             {"keys", array(text)},
                             {"weights", matrix}});
  const Schema kind = field("kind", "string", false, "Kind of attention: cross (default), encoder, decoder or all");
  Schema paths;
  paths["/translate"] = post("translate", "Translate text from a language to another",
                             {q, source, target, field("format", "string", false, "text (default) or html"),
                              field("alternatives", "integer", false, "Preferred number of alternative translations"),
                              field("attention", "boolean", false, "Also give the attention weights"), words, key},
                             object({{"translatedText", text},
                                     {"alternatives", array(text)},
                                     {"detectedLanguage", detection},
                                     {"attention", attention}}));
  const Schema checkpoint =
      field("checkpoint", "integer", false, "Training step of a checkpoint, as listed by /models");
  paths["/attention"] = post(
      "attention", "Every layer and head of the attention, and the beam",
      {one, source, target, field("beam", "integer", false, "Hypotheses kept, 1 to 32"), kind,
       field("interventions", "string", false, "Interventions in the model, a JSON list"),
       field("output", "string", false,
             "A given translation instead of the model's; in JSON a list with one for each sentence"),
       field("top", "integer", false,
             "Only so many of the largest weights of each query, as largest instead of weights, in memory linear in "
             "the text; 0: all"),
       checkpoint, words, key},
      object({{"translatedText", text},
              {"model", text},
              {"log_probability", number},
              {"source", array(text)},
              {"target", array(text)},
              {"weights", matrix},
              {"attention", array(map)},
              {"sentences",
               array(object({{"output", text}, {"source", {{"type", "integer"}}}, {"target", {{"type", "integer"}}}}))},
              {"beam", object({{"nodes", array(node)}, {"best", array({{"type", "integer"}})}})}}));
  paths["/explain"] =
      post("attention", "The numbers of a model for one sentence of a text, step by step",
           {one, source, target, kind, field("layer", "integer", false, "Counted from 0"),
            field("head", "integer", false, "Counted from 0"),
            field("sentence", "integer", false, "Number of the sentence, counted from 0"),
            field("query", "integer", false, "Query position to explain, counted from 0"),
            field("key", "integer", false, "Key position to explain, counted from 0"),
            field("format", "string", false, "json (default), or html: a self-contained page"),
            field("language", "string", false, "Language of the page: en or zh; default: zh for a Chinese sentence"),
            field("interventions", "string", false, "Interventions in the model, a JSON list"), checkpoint, key},
           object({{"model", text}, {"lesson", {{"type", "object"}}}}));
  const Schema label = object({{"label", text},
                               {"probability", number},
                               {"probabilities", {{"type", "object"}, {"additionalProperties", number}}},
                               {"tokens", array(text)},
                               {"attention", array(number)},
                               {"saliency", {{"type", "object"}, {"additionalProperties", array(number)}}},
                               {"model", text}});
  paths["/classify"] =
      post("classify", "Classify a text, or each text of an array",
           {field("q", "string", true, "Text to classify; in JSON also an array of texts"),
            field("model", "string", false, "Name of the model, as listed by /models; default: the first classifier"),
            field("top", "integer", false, "Number of most probable labels to list; default: all"),
            field("attention", "boolean", false, "Also give each token's attention weight"),
            field("saliency", "boolean", false, "Also give the saliency of each token for the 10 most probable labels"),
            key},
           label);
  paths["/chat"] =
      post("chat", "Reply to the turns of a conversation",
           {field("turns", "array", true, "Turns so far, oldest first; in a form a line per turn"),
            field("model", "string", false, "Name of the model, as listed by /models; default: the first chat model"),
            field("sample", "boolean", false, "Sample a reply instead of searching for the best"),
            field("seed", "integer", false, "Seed of the sampling"),
            field("attention", "boolean", false, "Also give the attention of the reply, by token and by turn"), key},
           object({{"reply", text},
                   {"log_probability", number},
                   {"model", text},
                   {"attention", attention},
                   {"attention_over_turns", matrix}}));
  paths["/caption"] = post(
      "caption", "Describe a picture",
      {field("image", "string", true, "A JPEG or PNG in base64, or as a file of a form (multipart/form-data)"),
       field("model", "string", false, "Name of the model, as listed by /models; default: the first caption model"),
       field("beam", "integer", false, "Hypotheses kept, 1 to 32"),
       field("attention", "boolean", false, "Also give each token's weights over the regions of the picture"), key},
      object({{"caption", text},
              {"score", number},
              {"log_probability", number},
              {"tokens", array(text)},
              {"rows", {{"type", "integer"}}},
              {"columns", {{"type", "integer"}}},
              {"attention", matrix},
              {"model", text}}));
  paths["/models"] = get("server", "The loaded models: name, task, and languages or labels",
                         array(object({{"name", text}, {"task", text}, {"labels", array(text)}})));
  paths["/detect"] = post("translate", "Detect the language of a text",
                          {field("q", "string", true, "Text to detect"), key}, array(detection));
  paths["/languages"] = get("translate", "Retrieve list of supported languages",
                            array(object({{"code", text}, {"name", text}, {"targets", array(text)}})));
  paths["/frontend/settings"] = get("frontend", "Retrieve frontend specific settings", object({}));
  paths["/health"] = get("server", "Whether the server answers", object({{"status", text}}));
  paths["/metrics"] = get("server", "Counters in Prometheus's text format", text);
  for (const char* path : {"/translate", "/attention", "/explain"}) add_options(paths[path], Task::generate);
  add_options(paths["/chat"], Task::chat);
  add_options(paths["/caption"], Task::caption);
  const Schema spec = {
      {"swagger", "2.0"}, {"info", {{"title", "Fovea"}, {"version", version()}}}, {"paths", std::move(paths)}};
  return spec.dump();
}

}  // namespace

std::string spec_text() {
  static const std::string text = build();
  return text;
}

}  // namespace fovea::server
