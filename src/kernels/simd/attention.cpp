#include "kernels/attention.hpp"

namespace fovea::kernels {
namespace generic {
extern const AttentionKernels attention;
}
namespace FOVEA_ISA {

extern const AttentionKernels attention;
const AttentionKernels attention = generic::attention;

}  // namespace FOVEA_ISA
}  // namespace fovea::kernels
