// Decoding: greedy, beam search and sampling, with one model or several.
#pragma once

#include "fovea/decode/ensemble.hpp"
#include "fovea/decode/search.hpp"
#include "fovea/generate_options.hpp"
