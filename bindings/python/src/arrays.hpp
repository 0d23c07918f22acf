// NumPy arrays and tensors, without copying wherever the numbers are float32 in C order.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <memory>
#include <string>
#include <vector>

#include "fovea/attention/mask.hpp"
#include "fovea/tensor.hpp"
#include "fovea/var.hpp"

namespace fovea::python {

namespace py = pybind11;

/// Shares the array's memory, which lives as long as the tensor; converts what is not float32 or not contiguous.
[[nodiscard]] Tensor tensor_of(const py::handle& array, const char* name);
/// Shares the tensor's memory.
[[nodiscard]] py::array array_of(const Tensor& tensor);
/// Of int64.
[[nodiscard]] std::vector<std::int64_t> integers_of(const py::handle& array, const char* name);
/// Of bool: which pairs are visible; None: all.
[[nodiscard]] Mask mask_of(const py::handle& array);
/// A Var as it is, an array as a constant.
[[nodiscard]] Var var_of(const py::handle& value, const char* name);

/// Runs without Python's lock, and raises KeyboardInterrupt afterwards if there was one.
template <class Work>
auto unlocked(const Work& work) {
  struct Checked {
    ~Checked() noexcept(false) {
      if (std::uncaught_exceptions() == 0 && PyErr_CheckSignals() != 0) throw py::error_already_set();
    }
  };
  const Checked checked;
  const py::gil_scoped_release released;
  return work();
}

void bind_arrays(py::module_& m);
void bind_attention(py::module_& m);
void bind_attentional_rnn(py::module_& m);
void bind_layers(py::module_& m);
void bind_mechanisms(py::module_& m);
void bind_metrics(py::module_& m);
void bind_tasks(py::module_& m);
void bind_training(py::module_& m);
void bind_generation(py::module_& m);

}  // namespace fovea::python
