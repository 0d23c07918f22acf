// A whole training on pictures and their captions.
#pragma once

#include "fovea/training_job.hpp"

namespace fovea {

/// train() for Task::caption: a line of the source is a picture's place as PictureFiles takes it, a line of the target
/// its caption.
Trainer::End train_captions(const TrainingJob& job, TrainingObserver& observer);

}  // namespace fovea
