// the same rows added to every sequence of a batch
//   forward   y_bt = x_bt + r_t         x [.., T, d], r [T, d]
//   backward  dx = dy,  dr_t = sum_b dy_bt, in the order of b
#include <fmt/format.h>

#include "fovea/error.hpp"
#include "fovea/ops.hpp"

namespace fovea {

Var add_rows(const Var& x, const Var& rows) {
  if (x.rank() < 2 || rows.rank() != 2 || x.dim(-1) != rows.dim(1) || x.dim(-2) != rows.dim(0)) {
    throw ShapeError(
        fmt::format("add_rows: {} and {}; [.., T, d] and [T, d] are needed", x.shape().text(), rows.shape().text()));
  }
  return add(x, rows);
}

}  // namespace fovea
