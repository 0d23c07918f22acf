#include <algorithm>
#include <istream>
#include <new>
#include <ostream>

#include "cli/command.hpp"
#include "fovea/error.hpp"
#include "kernels/kernels.hpp"

namespace fovea::cli {
namespace {

// One line, whatever the message holds.
int fail(const Streams& streams, std::string message, int code) {
  std::replace(message.begin(), message.end(), '\n', ' ');
  streams.err << "fovea: " << message << '\n';
  return code;
}

}  // namespace

int run(const std::vector<std::string>& arguments, const Streams& streams) {
  try {
    CLI::App app("Attention for C++: train, run, look at and serve attention models on CPUs.", "fovea");
    app.require_subcommand(1);
    app.set_version_flag("--version", FOVEA_VERSION);
    add_attend(app, streams);
    add_bench(app, streams);
    add_dates(app, streams);
    add_evaluate(app, streams);
    add_explain(app, streams);
    add_run(app, streams);
    add_score(app, streams);
    add_train(app, streams);
    add_view(app, streams);
    try {
      (void)kernels::active();  // an unknown FOVEA_KERNELS is an error of usage, whatever the command
      auto reversed = with_config(arguments);
      std::reverse(reversed.begin(), reversed.end());
      app.parse(reversed);
    } catch (const CLI::Success& help) {
      return app.exit(help, streams.out, streams.err);
    } catch (const CLI::ParseError& error) {
      return fail(streams, std::string(error.what()) + " (fovea --help lists what there is)", 2);
    }
    return 0;
  } catch (const UsageError& error) {
    return fail(streams, error.what(), 2);
  } catch (const ShapeError& error) {
    return fail(streams, error.what(), 2);
  } catch (const std::bad_alloc&) {
    return fail(streams, "out of memory", 1);
  } catch (const std::exception& error) {
    return fail(streams, error.what(), 1);
  }
}

}  // namespace fovea::cli
