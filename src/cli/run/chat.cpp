// fovea chat --model DIR [--beam N] [--sample] [--temperature T] [--top-k K] [--top-p P] [--seed S] …
//
// A conversation: each line of the input is a turn, and the model's reply is written. What was said is kept. /attention
// shows what the last reply attended to, /reset forgets the conversation, /quit or the input's end ends it.
#include <fmt/format.h>

#include <algorithm>
#include <istream>
#include <ostream>

#include "cli/command.hpp"
#include "cli/io/input.hpp"
#include "cli/io/terminal.hpp"
#include "cli/run/run_options.hpp"
#include "fovea/chat.hpp"
#include "fovea/error.hpp"
#include "fovea/threads.hpp"
#include "view/terminal/terminal.hpp"
#include "view/text.hpp"

namespace fovea::cli {
namespace {

struct ChatFlags {
  std::string model;
  GenerateOptions how;
  std::string color = "auto";
  int threads = 0;
};

// The turns with their shares of the whole reply's attention, then the words of the last reply.
void show_attention(const Chat& chat, const view::TerminalStyle& style, std::ostream& out) {
  const AttentionRecord& last = chat.last().attention;
  if (last.target.empty()) {
    out << "there is no reply yet\n";
    return;
  }
  if (!last.has_weights()) {
    out << "the model has no attention to show\n";
    return;
  }
  const AttentionMatrix by_turn = attention_over_turns(last);
  const auto turns = static_cast<std::size_t>(by_turn.columns);
  const std::size_t before = chat.turns().size() - 1;  // the reply itself is the last
  for (std::size_t t = 0; t < turns; ++t) {
    float sum = 0;
    for (std::int64_t r = 0; r < by_turn.rows; ++r) sum += by_turn.at(r, static_cast<std::int64_t>(t));
    const std::string& text = chat.turns()[before - turns + t];
    out << fmt::format("{:4.0f}%  {}\n", 100 * sum / static_cast<float>(by_turn.rows), view::label(text, 60));
  }
  out << view::draw_heat_map(last, last.weights, style);
}

void talk(const ChatFlags& o, const Streams& streams) {
  Chat chat(o.model, o.how);
  const view::TerminalStyle style = terminal_style(streams.out, o.color);
  if (streams.err_is_terminal) {
    streams.err << "/attention shows what the last reply attended to, /reset forgets, /quit ends\n";
  }
  std::int64_t read = 0;
  for (std::string line;;) {
    if (streams.err_is_terminal) streams.err << "> " << std::flush;
    if (!next_line(streams.in, line, read)) break;
    if (line == "/quit") break;
    if (line == "/reset") {
      chat.reset();
    } else if (line == "/attention") {
      show_attention(chat, style, streams.out);
    } else if (line.starts_with("/")) {
      streams.err << fmt::format("\"{}\" is not one of /attention, /reset, /quit\n", view::label(line, 40));
    } else {
      streams.out << chat.reply(line) << '\n';
    }
    if (!streams.out.flush()) throw Error("standard output: cannot write");
  }
}

}  // namespace

void add_chat(CLI::App& app, const Streams& streams) {
  auto* sub = app.add_subcommand("chat", "talk with a model in the terminal");
  const auto o = std::make_shared<ChatFlags>();
  sub->add_option("--model", o->model, "the model folder, of the task chat")->required();
  add_generate_options(*sub, o->how,
                       {"n_best", "coverage_penalty", "scores", "attention", "layer", "head", "top_weights",
                        "merge_words", "replace_unknown", "skip_unreadable", "batch_tokens"});
  add_color_option(*sub, o->color);
  sub->add_option("--threads", o->threads, "default: all cores");
  sub->callback([o, &streams] {
    if (o->threads != 0) set_threads(o->threads);
    talk(*o, streams);
  });
}

}  // namespace fovea::cli
