// Everything Fovea offers.
#pragma once

#include "fovea/attention.hpp"
#include "fovea/convolution.hpp"
#include "fovea/error.hpp"
#include "fovea/metrics.hpp"
#include "fovea/npy.hpp"
#include "fovea/ops.hpp"
#include "fovea/precision.hpp"
#include "fovea/recurrent.hpp"
#include "fovea/safetensors.hpp"
#include "fovea/shape.hpp"
#include "fovea/tensor.hpp"
#include "fovea/text.hpp"
#include "fovea/threads.hpp"
#include "fovea/var.hpp"
#include "fovea/version.hpp"
