// Layers, and the system of named parameters they and the attention mechanisms are built from.
#pragma once

#include "fovea/nn/convolution.hpp"
#include "fovea/nn/embedding.hpp"
#include "fovea/nn/feed_forward.hpp"
#include "fovea/nn/layer_norm.hpp"
#include "fovea/nn/linear.hpp"
#include "fovea/nn/parameters.hpp"
#include "fovea/nn/parameters_file.hpp"
#include "fovea/nn/pass.hpp"
#include "fovea/nn/positions.hpp"
#include "fovea/nn/recurrent.hpp"
#include "fovea/nn/row_gradient.hpp"
#include "fovea/nn/row_table.hpp"
#include "fovea/nn/ssru.hpp"
#include "fovea/nn/trace.hpp"
#include "fovea/nn/weight.hpp"
