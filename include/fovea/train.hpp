// Training: Adam, learning rate schedules, the training loop, and a whole training as a job.
#pragma once

#include "fovea/train/adam.hpp"
#include "fovea/train/learner.hpp"
#include "fovea/train/options.hpp"
#include "fovea/train/schedule.hpp"
#include "fovea/train/trainer.hpp"
#include "fovea/training_job.hpp"
