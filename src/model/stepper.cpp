#include "fovea/model/stepper.hpp"

#include "fovea/error.hpp"

namespace fovea {

void Stepper::restrict_to(std::vector<std::vector<std::int32_t>> /*candidates*/) {
  throw UsageError("shortlist: this model cannot limit what it writes");
}

}  // namespace fovea
