// fovea attend --query FILE --key FILE [--value FILE] [--score NAME [--params FILE] [--scale S]] [--normalize NAME]
//              [--alpha A] [--temperature T] [--softcap C] [--sink FILE | --off-by-one] [--causal] [--prefix N]
//              [--window W] [--dilation D] [--global N] [--documents FILE] [--rotary BASE] [--rotary-dims N]
//              [--lengths FILE] [--mask FILE] [--bias FILE] [--alibi]
//              [--out FILE] [--weights FILE] [--top N --top-out FILE] [--grad FILE --grads FILE] [--threads N]
//
// Any attention on any arrays: .npy in and out, parameters and gradients as .safetensors. Everything is computed before
// the first file is written; then all outputs appear, or none.
#include <fmt/format.h>

#include <deque>
#include <filesystem>

#include "base/whole_file.hpp"
#include "cli/command.hpp"
#include "cli/inspect/attend_options.hpp"
#include "cli/io/outputs.hpp"
#include "cli/options/whole_number.hpp"
#include "fovea/error.hpp"
#include "fovea/safetensors.hpp"
#include "fovea/threads.hpp"
#include "tensor/write.hpp"

namespace fovea::cli {
namespace {

void check_outputs(const AttendArguments& a) {
  check_outputs_differ(
      {{"--out", &a.out}, {"--weights", &a.weights}, {"--top-out", &a.top_out}, {"--grads", &a.grads}});
  if (a.out.empty() && a.weights.empty() && a.top_out.empty() && a.grads.empty()) {
    throw UsageError("nothing to write: give --out, --weights, --top-out or --grads");
  }
}

void run_attend(const AttendArguments& arguments) {
  check_outputs(arguments);
  if (arguments.threads) set_threads(*arguments.threads);
  AttendCall call;
  read_call(arguments, call);

  Attended result;
  {
    const NoGrad quiet;
    result = attend(call.query, call.key, call.value, call.options);
  }
  SafetensorsWriter top, grads;
  if (arguments.top) {
    top.add("weight", result.top.weight);
    top.add("index", result.top.weight.shape(), result.top.index);
  }
  if (call.grad) {
    if (!(call.grad.shape() == result.context.shape())) {
      throw ShapeError(fmt::format("--grad: {} is {}; expected {}, the shape of the output", arguments.grad,
                                   call.grad.shape().text(), result.context.shape().text()));
    }
    call.options.want = {};
    backward(attend(call.query, call.key, call.value, call.options).context, call.grad);
    grads.add("query", call.query.grad());
    grads.add("key", call.key.grad());
    if (call.own_value) grads.add("value", call.value.grad());
    for (const auto& [name, parameter] : call.parameters) grads.add(name, parameter.grad());
  }

  std::deque<WholeFile> files;
  if (!arguments.out.empty()) write_npy(files.emplace_back(arguments.out), result.context.value());
  if (!arguments.weights.empty()) write_npy(files.emplace_back(arguments.weights), result.weights.value());
  if (!arguments.top_out.empty()) write_safetensors(files.emplace_back(arguments.top_out), top);
  if (!arguments.grads.empty()) write_safetensors(files.emplace_back(arguments.grads), grads);
  for (WholeFile& file : files) file.prepare();
  for (WholeFile& file : files) file.commit();
}

}  // namespace

void add_attend(CLI::App& app, const Streams&) {
  auto* command = app.add_subcommand("attend", "any attention on any arrays, with weights and gradients");
  auto a = std::make_shared<AttendArguments>();
  command->add_option("--query", a->query, ".npy, [B,Tq,dq] or [B,H,Tq,dq]")->required();
  command->add_option("--key", a->key, ".npy, [B,Tk,dk] or [B,Hk,Tk,dk], Hk dividing H")->required();
  command->add_option("--value", a->value, ".npy, as the key, of any width; without it the keys are the values");
  command->add_option("--score", a->score, "how well a key answers a query")
      ->check(CLI::IsMember({"dot", "scaled-dot", "general", "cosine", "additive", "concat", "location"}));
  command->add_option("--params", a->params, ".safetensors, the parameters of --score by name");
  command->add_option("--scale", a->scale, "the factor on dot, scaled-dot and cosine");
  command->add_option("--normalize", a->normalize, "from scores to weights")
      ->check(CLI::IsMember({"softmax", "sparsemax", "entmax", "sigmoid", "hard"}));
  command->add_option("--alpha", a->alpha, "of entmax: above 1, at most 2 (sparsemax); default 1.5");
  command->add_option("--temperature", a->temperature, "divides the scores; default 1");
  command->add_option("--softcap", a->softcap, "C tanh(score / C), after the scale and before biases (Gemma 2)");
  command->add_option("--sink", a->sink, ".npy, [H]: a logit of each head that is in softmax's sum and has no value");
  command->add_flag("--off-by-one", a->off_by_one, "--sink with logit 0: weights sum to less than 1");
  command->add_flag("--causal", a->causal, "query i sees keys j <= i + (Tk - Tq)");
  command->add_option("--window", a->window, "query i sees only keys with |i + (Tk - Tq) - j| <= N")
      ->check(whole_number(std::numeric_limits<std::int64_t>::max()));
  const auto positive = whole_number(std::numeric_limits<std::int64_t>::max());
  command->add_option("--dilation", a->dilation, "with --window: only keys whose distance is a multiple of D")
      ->check(positive);
  command
      ->add_option("--global", a->global,
                   "with --window: every query sees the first N keys, and the first N queries see every key")
      ->check(positive);
  command->add_option("--prefix", a->prefix, "with --causal: every query sees the first N keys")->check(positive);
  command->add_option("--documents", a->documents,
                      ".npy, int64 [B,T], for self-attention: a query sees only keys of its own document");
  command->add_option("--rotary", a->rotary,
                      "rotary positions of queries and keys with this base, 10000 for most models");
  command->add_option("--rotary-dims", a->rotary_dims, "rotate the first N features only")->check(positive);
  command->add_option("--lengths", a->lengths, ".npy, int64 [B]: keys from there on are padding");
  command->add_option("--mask", a->mask, ".npy, bool, broadcastable to [B,H,Tq,Tk]: true may be attended to");
  command->add_option("--bias", a->bias, ".npy, added to the scores, broadcastable to [B,H,Tq,Tk]");
  command->add_flag("--alibi", a->alibi, "ALiBi's bias per head");
  command->add_option("--out", a->out, "the context, .npy");
  command->add_option("--weights", a->weights, "the weights, .npy");
  command->add_option("--top", a->top,
                      "how many of each query's largest weights --top-out shall hold, at most the number of keys");
  command->add_option("--top-out", a->top_out, ".safetensors: index, weight");
  command->add_option("--grad", a->grad, ".npy, dL/d(out)");
  command->add_option("--grads", a->grads, ".safetensors: dL/d of query, key, value and each parameter");
  command->add_option("--threads", a->threads, "default: all cores");
  command->callback([a] { run_attend(*a); });
}

}  // namespace fovea::cli
