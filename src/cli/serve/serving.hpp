// Runs a server until SIGTERM or SIGINT, for fovea serve and fovea learn.
#pragma once

#include "cli/run.hpp"
#include "server/server.hpp"

namespace fovea::cli {

/// `threads`: 0 for all cores. Prints the models and the address, and answers until SIGTERM or SIGINT; SIGHUP reloads
/// models and keys.
void run_server(const server::ServerOptions& options, int threads, const Streams& streams);

}  // namespace fovea::cli
