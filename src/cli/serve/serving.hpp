// A server that runs until it is told to stop: what fovea serve and fovea learn share.
#pragma once

#include "cli/run.hpp"
#include "server/server.hpp"

namespace fovea::cli {

/// `threads`: 0 for all cores. Says what it serves and where, and answers until SIGTERM or SIGINT; SIGHUP loads models
/// and keys again.
void run_server(const server::ServerOptions& options, int threads, const Streams& streams);

}  // namespace fovea::cli
