// Models: configurations, encoders, decoders, the encoder-decoder, and model folders.
#pragma once

#include "fovea/model/classifier_head.hpp"
#include "fovea/model/config.hpp"
#include "fovea/model/decoder.hpp"
#include "fovea/model/encoder.hpp"
#include "fovea/model/folder.hpp"
#include "fovea/model/generator.hpp"
#include "fovea/model/language_model.hpp"
#include "fovea/model/picture_model.hpp"
#include "fovea/model/picture_source.hpp"
#include "fovea/model/seq2seq.hpp"
#include "fovea/model/stepper.hpp"
#include "fovea/model/text_classifier.hpp"
