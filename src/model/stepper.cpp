#include "fovea/model/stepper.hpp"

#include "fovea/error.hpp"

namespace fovea {

void Stepper::restrict_to(std::vector<std::vector<std::int32_t>> /*candidates*/) {
  throw UsageError("shortlist", "not supported by this model");
}

}  // namespace fovea
