// The module _fovea: exceptions, threads, arrays; each part binds itself.
#include "arrays.hpp"
#include "fovea/error.hpp"
#include "fovea/threads.hpp"

namespace fovea::python {

Tensor tensor_of(const py::handle& array, const char* name) {
  using Floats = py::array_t<float, py::array::c_style | py::array::forcecast>;
  if (!py::isinstance<py::array>(array) && !py::isinstance<py::sequence>(array) && !py::isinstance<py::float_>(array) &&
      !py::isinstance<py::int_>(array)) {
    throw py::type_error(std::string(name) + ": an array of numbers is needed");
  }
  Floats floats = Floats::ensure(array);
  if (!floats) {
    PyErr_Clear();
    throw py::type_error(std::string(name) + ": an array of numbers is needed");
  }
  if (floats.ndim() > Shape::kMaxRank) throw ShapeError(std::string(name) + ": too many axes");
  Shape shape;
  for (py::ssize_t axis = 0; axis < floats.ndim(); ++axis) shape.push_back(floats.shape(axis));
  auto* data = const_cast<float*>(floats.data());
  auto* owner = new py::object(std::move(floats));
  return Tensor::share(data, shape, std::shared_ptr<void>(owner, [](void* p) {
                         const py::gil_scoped_acquire lock;
                         delete static_cast<py::object*>(p);
                       }));
}

py::array array_of(const Tensor& tensor) {
  if (!tensor) return py::array_t<float>(0);
  auto* kept = new Tensor(tensor.contiguous());
  const py::capsule owner(kept, [](void* p) { delete static_cast<Tensor*>(p); });
  std::vector<py::ssize_t> shape;
  for (int axis = 0; axis < kept->rank(); ++axis) shape.push_back(kept->dim(axis));
  return py::array_t<float>(shape, kept->data(), owner);
}

std::vector<std::int64_t> integers_of(const py::handle& array, const char* name) {
  const auto values = py::array_t<std::int64_t, py::array::c_style | py::array::forcecast>::ensure(array);
  if (!values) {
    PyErr_Clear();
    throw py::type_error(std::string(name) + ": an array of whole numbers is needed");
  }
  return {values.data(), values.data() + values.size()};
}

Mask mask_of(const py::handle& array) {
  if (array.is_none()) return {};
  const auto values = py::array_t<bool, py::array::c_style | py::array::forcecast>::ensure(array);
  if (!values) {
    PyErr_Clear();
    throw py::type_error("mask: an array of bool is needed");
  }
  Shape shape;
  for (py::ssize_t axis = 0; axis < values.ndim(); ++axis) shape.push_back(values.shape(axis));
  const std::vector<std::uint8_t> allowed(values.data(), values.data() + values.size());
  return Mask::of(shape, allowed);
}

Var var_of(const py::handle& value, const char* name) {
  if (py::isinstance<Var>(value)) return value.cast<Var>();
  return Var(tensor_of(value, name));
}

}  // namespace fovea::python

PYBIND11_MODULE(_fovea, m) {
  namespace py = pybind11;
  using namespace fovea;
  m.attr("__version__") = FOVEA_VERSION;
  static py::exception<Error> error(m, "Error", PyExc_RuntimeError);
  static py::exception<FileError> file_error(m, "FileError", error.ptr());
  const auto two_bases = [&](const char* name, PyObject* python) {
    return py::reinterpret_steal<py::object>(PyErr_NewException(
        (std::string("fovea.") + name).c_str(), py::make_tuple(error, py::handle(python)).ptr(), nullptr));
  };
  // A wrong value is a ValueError too, as users of NumPy expect.
  static const py::object* usage_error = new py::object(two_bases("UsageError", PyExc_ValueError));
  static const py::object* shape_error = new py::object(two_bases("ShapeError", PyExc_ValueError));
  m.attr("UsageError") = *usage_error;
  m.attr("ShapeError") = *shape_error;
  py::register_exception_translator([](std::exception_ptr p) {
    try {
      if (p) std::rethrow_exception(p);
    } catch (const FileError& e) {
      PyErr_SetString(file_error.ptr(), e.what());
    } catch (const ShapeError& e) {
      PyErr_SetString(shape_error->ptr(), e.what());
    } catch (const UsageError& e) {
      PyErr_SetString(usage_error->ptr(), e.what());
    } catch (const Error& e) {
      PyErr_SetString(error.ptr(), e.what());
    }
  });
  m.def("set_threads", &set_threads, py::arg("threads"), "How many threads work; 0: all cores.");
  m.def("threads", &threads, "How many threads work.");
  python::bind_arrays(m);
  python::bind_attention(m);
  python::bind_layers(m);
  python::bind_mechanisms(m);
  python::bind_attentional_rnn(m);
  python::bind_metrics(m);
  python::bind_generation(m);
  python::bind_tasks(m);
  python::bind_training(m);
}
