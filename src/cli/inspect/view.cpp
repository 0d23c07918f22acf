// fovea view FILE.jsonl [--html FILE] [--svg FILE] [--line N] [--layer L] [--head H] [--draw heatmap|ribbon]
//            [--numbers] [--color auto|always|never]
//
// Draws attention that `fovea run --attention` wrote: in the terminal, or as a page or a picture; for a classifier,
// texts shaded by attention and saliency. FILE may be "-".
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <istream>
#include <limits>
#include <memory>
#include <optional>
#include <ostream>

#include "base/whole_file.hpp"
#include "cli/command.hpp"
#include "cli/io/outputs.hpp"
#include "cli/io/terminal.hpp"
#include "fovea/error.hpp"
#include "view/classification/shaded.hpp"
#include "view/page/page.hpp"
#include "view/picture/picture_view.hpp"
#include "view/record/attention_file.hpp"
#include "view/svg/svg.hpp"
#include "view/terminal/terminal.hpp"
#include "view/text.hpp"

namespace fovea::cli {
namespace {

constexpr std::int64_t kMostPictures = 50;  // of one SVG file; a short line takes 35 kB

struct ViewOptions {
  std::string file;
  std::string html;
  std::string svg;
  std::int64_t line = 0;  // 0: all
  std::optional<int> layer;
  std::optional<int> head;
  std::string draw = "heatmap";
  bool numbers = false;
  std::string color = "auto";
};

// An empty line of text has nothing to draw.
bool is_empty(const AttentionRecord& picture) {
  return picture.source.empty() || picture.target.empty();
}

AttentionMatrix weights_to_draw(const AttentionRecord& picture, const ViewOptions& options) {
  if (is_empty(picture) || !picture.labels.empty()) return picture.weights;
  if ((options.layer || options.head) && picture.maps.empty()) {
    throw UsageError(fmt::format("{}: the file has no single heads; fovea run --all-heads writes them",
                                 options.layer ? "--layer" : "--head"));
  }
  return chosen_weights(picture, options.layer, options.head);
}

void draw_in_terminal(std::int64_t line, const AttentionRecord& picture, const ViewOptions& options,
                      view::TerminalStyle style, std::ostream& out) {
  style.numbers = options.numbers;
  const AttentionMatrix weights = weights_to_draw(picture, options);
  const std::string title = picture.title.empty() ? "" : "  " + view::clean(picture.title);
  out << view::faint(fmt::format("line {}", line), style) << view::bold(title, style) << '\n';
  if (is_empty(picture)) {
    out << view::faint("nothing to draw: no " + std::string(picture.source.empty() ? "source" : "target") + " tokens",
                       style)
        << "\n\n";
    return;
  }
  out << (picture.picture.rows > 0  ? view::draw_picture_grids(picture, weights, style)
          : !picture.labels.empty() ? view::draw_shaded(picture, style)
                                    : view::draw_heat_map(picture, weights, style))
      << '\n';
}

void view_file(const ViewOptions& options, const Streams& streams) {
  const bool from_stdin = options.file == "-";
  const std::string name = from_stdin ? "standard input" : options.file;
  check_outputs_differ({{"--html", &options.html}, {"--svg", &options.svg}});
  const bool to_files = !options.html.empty() || !options.svg.empty();
  const view::TerminalStyle style = terminal_style(streams.out, options.color);
  std::vector<AttentionRecord> pictures;
  std::vector<view::SvgPiece> pieces;
  std::vector<std::pair<AttentionRecord, std::string>> photographs;  // with the address of the picture
  const PictureFiles picture_files;
  std::int64_t drawn = 0;
  std::int64_t classified = 0;  // lines of a classifier, or empty
  bool some_labels = false;
  std::string only_title;  // of the last line drawn
  const auto draw = [&](std::int64_t line, AttentionRecord picture) {
    ++drawn;
    only_title = picture.title;
    classified += picture.labels.empty() && !is_empty(picture) ? 0 : 1;
    some_labels = some_labels || !picture.labels.empty();
    if (!to_files) return draw_in_terminal(line, picture, options, style, streams.out);
    if (picture.picture.rows > 0) {
      const std::string address = view::picture_address(picture_files, picture.picture.place);
      if (!options.svg.empty()) {
        pieces.push_back(view::svg_filmstrip(picture, weights_to_draw(picture, options), address));
      }
      if (!options.html.empty()) photographs.emplace_back(std::move(picture), address);
      return;
    }
    if (!options.svg.empty()) {
      if (drawn > kMostPictures) {
        throw UsageError(fmt::format(
            "--svg: {} has more than {} lines, too many for one picture; --line N draws one of them, --html all", name,
            kMostPictures));
      }
      const AttentionMatrix weights = weights_to_draw(picture, options);
      pieces.push_back(!picture.labels.empty()    ? view::svg_shaded(picture)
                       : options.draw == "ribbon" ? view::svg_ribbon(picture, weights)
                                                  : view::svg_heat_map(picture, weights));
    }
    if (!options.html.empty()) pictures.push_back(std::move(picture));
  };
  const std::int64_t lines = from_stdin ? view::read_attention(streams.in, name, options.line, draw)
                                        : view::read_attention(options.file, options.line, draw);
  if (options.line > lines) throw FileError(fmt::format("{}: has {} lines, no line {}", name, lines, options.line));
  if (drawn == 0)
    throw FileError(fmt::format(
        "{}: {}", name, options.line > 0 ? fmt::format("line {} is blank", options.line) : "has no attention in it"));
  const std::string title = from_stdin ? "Attention" : std::filesystem::path(options.file).filename().string();
  const std::string drawing_title = drawn == 1 && !only_title.empty() ? "Attention: " + only_title : "Attention";
  // A file has the lines of one model; a picture that could not be read has an empty line.
  const bool labels = some_labels && classified == drawn;
  if (!photographs.empty() && !std::all_of(pictures.begin(), pictures.end(), is_empty)) {
    throw FileError(fmt::format("{}: has lines of pictures and of text; --line N draws one of them", name));
  }
  const std::string page = options.html.empty()   ? ""
                           : !photographs.empty() ? view::picture_page(photographs, title)
                           : labels               ? view::shaded_page(pictures, title)
                                                  : view::attention_page(pictures, title);
  const std::string drawing =
      options.svg.empty() ? ""
      : labels            ? view::shaded_document(pieces, drawing_title)
                          : view::svg_document(pieces, drawing_title,
                                               "What each target token attended to in the source, as weights from 0 to 1.");
  write_whole_files({{options.html, page}, {options.svg, drawing}});
}

}  // namespace

void add_view(CLI::App& app, const Streams& streams) {
  auto options = std::make_shared<ViewOptions>();
  auto* command = app.add_subcommand("view", "draw attention that fovea run wrote, in the terminal or as a file");
  command
      ->add_option(
          "FILE", options->file,
          "attention that fovea run --attention wrote, JSON lines or .safetensors; - reads JSON from standard input")
      ->required();
  command->add_option("--html", options->html, "write a self-contained page");
  command->add_option("--svg", options->svg, "write a picture, of at most 50 lines or of one --line");
  command->add_option("--line", options->line, "only this line of FILE, counted from 1")
      ->check(CLI::Range(std::int64_t{1}, std::numeric_limits<std::int64_t>::max()));
  command->add_option(
      "--layer", options->layer,
      "only this layer, counted from 0, of what fovea run --all-heads wrote (terminal and SVG; the page "
      "has a choice)");
  command->add_option("--head", options->head, "only this head, counted from 0");
  command->add_option("--draw", options->draw, "what --svg draws: heatmap (default) or ribbon")
      ->check(CLI::IsMember({"heatmap", "ribbon"}));
  command->add_flag("--numbers", options->numbers, "per cent in the cells, even without colour");
  add_color_option(*command, options->color);
  command->callback([options, &streams] { view_file(*options, streams); });
}

}  // namespace fovea::cli
