// Two ONNX graphs of a model (opset 17). encoder.onnx: source [batch, length] and lengths [batch] to memory, and what
// else the decoder reads. decoder.onnx: target [batch, time], which starts with <s>, and all of that to the logits of
// every place.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/whole_file.hpp"
#include "fovea/error.hpp"
#include "interop/exported_model.hpp"
#include "interop/onnx/layers.hpp"

namespace fovea::interop {
namespace {

using Type = OnnxGraph::Type;

// Whether the decoder reads more of the encoder than its states.
bool reads_values(const ModelConfig& config) {
  return std::holds_alternative<CnnConfig>(config.encoder) &&
         std::holds_alternative<CnnConfig>(config.generator().decoder);
}
bool reads_summary(const ModelConfig& config) {
  const auto* decoder = std::get_if<RnnDecoderConfig>(&config.generator().decoder);
  return std::holds_alternative<RnnEncoderConfig>(config.encoder) && decoder != nullptr && !decoder->mean_start;
}

std::string list_of_tokens(const Tokenizer& tokenizer) {
  nlohmann::json tokens = nlohmann::json::array();
  for (std::int32_t id = 0; id < tokenizer.size(); ++id) tokens.push_back(tokenizer.piece(id));
  return tokens.dump(0) + "\n";
}

std::string width_of_memory(const ModelConfig& config) {
  const auto* rnn = std::get_if<RnnEncoderConfig>(&config.encoder);
  if (rnn != nullptr) return std::to_string(rnn->dim * (rnn->bidirectional ? 2 : 1));
  return std::to_string(config.tokens().embedding);  // the other kinds' too
}

// An RNN's last states are as wide as its memory, or there is one of each layer, and of an LSTM's cells.
std::string width_of_summary(const ModelConfig& config) {
  const auto* decoder = std::get_if<RnnDecoderConfig>(&config.generator().decoder);
  if (decoder == nullptr || !decoder->layers_start) return width_of_memory(config);
  return std::to_string(decoder->dim * decoder->layers * (decoder->cell == Cell::lstm ? 2 : 1));
}

}  // namespace

void export_onnx(const LoadedModel& model, const std::filesystem::path& out) {
  const ModelConfig& config = model.config;
  check_text_to_text(config, "ONNX export");
  const GeneratorConfig& generator = config.generator();
  const TableNames names = tables_of(model);
  const std::string width = width_of_memory(config);
  const std::vector<std::string> memory_axes{"batch", "length", width};
  {
    OnnxGraph graph("encoder");
    OnnxLayers layers(model, graph);
    const std::string source = graph.input("source", Type::int64, {"batch", "length"});
    const std::string lengths = graph.input("lengths", Type::int64, {"batch"});
    const TokenSourceConfig& tokens = config.tokens();
    const std::string x = layers.embedded(source, names.source, tokens.embedding, tokens.scaled_embeddings);
    const OnnxMemory memory = std::visit([&](const auto& c) { return encode(layers, c, x, lengths); }, config.encoder);
    graph.output(memory.states, "memory", memory_axes);
    if (reads_values(config)) graph.output(memory.values, "values", memory_axes);
    if (reads_summary(config)) graph.output(memory.summary, "summary", {"batch", width_of_summary(config)});
    graph.write(out / "encoder.onnx");
  }
  OnnxGraph graph("decoder");
  OnnxLayers layers(model, graph);
  const std::string target = graph.input("target", Type::int64, {"batch", "time"});
  OnnxMemory memory;
  memory.states = graph.input("memory", Type::float32, memory_axes);
  if (reads_values(config)) memory.values = graph.input("values", Type::float32, memory_axes);
  if (reads_summary(config)) {
    memory.summary = graph.input("summary", Type::float32, {"batch", width_of_summary(config)});
  }
  memory.lengths = graph.input("lengths", Type::int64, {"batch"});
  const std::string x = layers.embedded(target, names.target, generator.embedding, generator.scaled_embeddings);
  std::string states = std::visit([&](const auto& c) { return decode(layers, c, x, memory); }, generator.decoder);
  if (model.parameters.find("output.bottleneck.weight") != nullptr) states = layers.linear("output.bottleneck", states);
  const std::string rows = layers.transpose(layers.weight(names.output), {1, 0});
  graph.output(layers.add(layers.product(states, rows), layers.weight("output.bias")), "logits",
               {"batch", "time", std::to_string(generator.vocabulary)});
  graph.write(out / "decoder.onnx");
  write_whole_file(out / "source_vocabulary.json", list_of_tokens(*model.tokenizers.source));
  write_whole_file(out / "target_vocabulary.json", list_of_tokens(*model.tokenizers.target));
  write_spm(*model.tokenizers.source, out, "source");
  write_spm(*model.tokenizers.target, out, "target");
}

}  // namespace fovea::interop
