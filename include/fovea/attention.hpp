// Attention, all of it: docs/attention.md is the guide.
#pragma once

#include "fovea/attention/attend.hpp"
#include "fovea/attention/attentional_rnn.hpp"
#include "fovea/attention/normalizers.hpp"
#include "fovea/attention/scores.hpp"
#include "fovea/attention/sight.hpp"
