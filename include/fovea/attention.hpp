// Attention, all of it: docs/attention.md is the guide.
#pragma once

#include "fovea/attention/attend.hpp"
#include "fovea/attention/attentional_rnn.hpp"
#include "fovea/attention/cache.hpp"
#include "fovea/attention/co_attention.hpp"
#include "fovea/attention/coverage.hpp"
#include "fovea/attention/graph.hpp"
#include "fovea/attention/hierarchical.hpp"
#include "fovea/attention/memory_network.hpp"
#include "fovea/attention/multi_dimensional.hpp"
#include "fovea/attention/multi_head.hpp"
#include "fovea/attention/multi_representational.hpp"
#include "fovea/attention/normalizers.hpp"
#include "fovea/attention/pointer.hpp"
#include "fovea/attention/pooling.hpp"
#include "fovea/attention/scores.hpp"
#include "fovea/attention/sight.hpp"
