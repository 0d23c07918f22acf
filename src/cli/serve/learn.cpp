// fovea learn [--host H] [--port P]     the course in the browser, with models that train in some seconds
// fovea learn --html FILE               the course as one file without a server, with recorded answers of the models
#include <fmt/format.h>

#include <memory>
#include <ostream>

#include "base/whole_file.hpp"
#include "cli/command.hpp"
#include "cli/options/not_empty.hpp"
#include "cli/serve/serving.hpp"
#include "fovea/error.hpp"
#include "tasks/learning/course.hpp"
#include "view/page/course_page.hpp"

namespace fovea::cli {
namespace {

struct LearnFlags {
  server::ServerOptions server;
  std::string html;
};

void learn(LearnFlags& o, const CLI::App& sub, const Streams& streams) {
  if (o.html.empty()) {
    o.server.api.learn = true;
    return run_server(o.server, 0, streams);
  }
  for (const char* name : {"--host", "--port"}) {
    if (sub.count(name) > 0)
      throw UsageError(fmt::format("{}: cannot be combined with --html, which serves nothing", name));
  }
  learning::Course course;
  std::string before;
  learning::Watch watch;
  watch.progress = [&](const learning::Progress& now) {
    if (now.model == before) return;
    before = now.model;
    streams.err << fmt::format("training {}\n", now.model) << std::flush;
  };
  write_whole_file(o.html, view::course_page(course.record(watch).dump()));
}

}  // namespace

void add_learn(CLI::App& app, const Streams& streams) {
  auto o = std::make_shared<LearnFlags>();
  auto* sub = app.add_subcommand("learn", "a course on attention, in the browser, with models that train in seconds");
  sub->add_option("--host", o->server.http.host, "address to listen on");
  sub->add_option("--port", o->server.http.port, "port; 0: a free one");
  sub->add_option("--html", o->html, "write the course as one file that needs no server");
  refuse_empty_values(*sub);
  sub->callback([o, sub, streams] { learn(*o, *sub, streams); });
}

}  // namespace fovea::cli
