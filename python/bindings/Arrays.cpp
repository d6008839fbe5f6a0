// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Arrays.h"

#include <nanobind/stl/string.h>

#include <memory>

namespace nb = nanobind;
using namespace corten;
using namespace corten::runtime;
using nb::dlpack::dtype_code;

namespace {
struct DType {
  ElementType type;
  const char *name;
  /// What DLPack calls it; in memory every element has whole bytes.
  dtype_code code;
  uint8_t bits;
  /// What the buffer protocol calls it, or its bits.
  const char *format;
  /// Whether only DLPack has it.
  bool isRaw;
};
} // namespace

/// In the order of the enumeration.
static constexpr DType kDTypes[] = {
    {ElementType::Bool, "bool", dtype_code::Bool, 8, "?", false},
    {ElementType::SI8, "int8", dtype_code::Int, 8, "b", false},
    {ElementType::SI16, "int16", dtype_code::Int, 16, "h", false},
    {ElementType::SI32, "int32", dtype_code::Int, 32, "i", false},
    {ElementType::SI64, "int64", dtype_code::Int, 64, "q", false},
    {ElementType::UI8, "uint8", dtype_code::UInt, 8, "B", false},
    {ElementType::UI16, "uint16", dtype_code::UInt, 16, "H", false},
    {ElementType::UI32, "uint32", dtype_code::UInt, 32, "I", false},
    {ElementType::UI64, "uint64", dtype_code::UInt, 64, "Q", false},
    {ElementType::F16, "float16", dtype_code::Float, 16, "e", false},
    {ElementType::BF16, "bfloat16", dtype_code::Bfloat, 16, "H", true},
    {ElementType::F32, "float32", dtype_code::Float, 32, "f", false},
    {ElementType::F64, "float64", dtype_code::Float, 64, "d", false},
    {ElementType::C64, "complex64", dtype_code::Complex, 64, "Zf", false},
    {ElementType::F8E4M3FN, "float8_e4m3fn", dtype_code::Float8_E4M3FN, 8, "B",
     true},
    {ElementType::F8E5M2, "float8_e5m2", dtype_code::Float8_E5M2, 8, "B", true},
    {ElementType::F8E8M0FNU, "float8_e8m0fnu", dtype_code::Float8_E8M0FNU, 8,
     "B", true},
    {ElementType::F4E2M1FN, "float4_e2m1fn", dtype_code::UInt, 8, "B", true},
    {ElementType::SI2, "int2", dtype_code::UInt, 8, "B", true},
    {ElementType::SI4, "int4", dtype_code::UInt, 8, "B", true},
    {ElementType::UI1, "uint1", dtype_code::UInt, 8, "B", true},
    {ElementType::UI2, "uint2", dtype_code::UInt, 8, "B", true},
    {ElementType::UI3, "uint3", dtype_code::UInt, 8, "B", true},
    {ElementType::UI4, "uint4", dtype_code::UInt, 8, "B", true},
    {ElementType::UI6, "uint6", dtype_code::UInt, 8, "B", true},
};

static const DType &dtypeOf(ElementType type) {
  return kDTypes[static_cast<size_t>(type)];
}

const char *bindings::dtypeName(ElementType type) { return dtypeOf(type).name; }

std::string bindings::describe(const Tensor &tensor) {
  std::string text = std::string(dtypeName(tensor.type)) + "[";
  for (size_t i = 0; i != tensor.rank; ++i)
    text += (i ? ", " : "") + std::to_string(tensor.extents[i]);
  return text + "]";
}

//===----------------------------------------------------------------------===//
// Arrays that come in
//===----------------------------------------------------------------------===//

static std::string typeName(nb::handle object) {
  return nb::cast<std::string>(nb::object(object.type().attr("__name__")));
}

/// Elements of numpy's that its protocols do not know, as bits of their width.
static nb::object asBits(nb::handle object, ElementType wanted) {
  nb::object dtype = nb::getattr(object, "dtype", nb::none());
  nb::object name = nb::getattr(dtype, "name", nb::none());
  if (!nb::isinstance<nb::str>(name) || !nb::hasattr(object, "view") ||
      std::string_view(nb::str(name).c_str()) != bindings::dtypeName(wanted))
    return nb::object();
  return object.attr("view")(byteSize(wanted) == 2 ? "uint16" : "uint8");
}

/// Whether elements are a number of bytes apart that is no multiple of their
/// own, as those of a field of packed records are: no protocol can say that.
static bool isPacked(nb::handle object) {
  nb::object strides = nb::getattr(object, "strides", nb::none());
  nb::object width = nb::getattr(object, "itemsize", nb::none());
  if (!nb::isinstance<nb::tuple>(strides) || !nb::isinstance<nb::int_>(width))
    return false;
  for (nb::handle stride : strides)
    if (nb::cast<int64_t>(stride) % nb::cast<int64_t>(width) != 0)
      return true;
  return false;
}

/// Why an object was not taken, from its own mouth where it says so.
[[noreturn]] static void refuse(nb::handle object, bool isWritable,
                                const std::string &what) {
  std::string message = what + " cannot be of type " + typeName(object) +
                        ": give an array of numpy's or torch's, or another "
                        "object with DLPack or the buffer protocol";
  if (nb::hasattr(object, "__dlpack__") || PyObject_CheckBuffer(object.ptr())) {
    message = what + " is an array that cannot be ";
    message += isWritable ? "written to" : "read";
    try {
      if (isPacked(object))
        message += ": its elements are apart by no multiple of their size; "
                   "give a copy without gaps";
      else if (nb::hasattr(object, "__dlpack__"))
        object.attr("__dlpack__")();
    } catch (nb::python_error &error) {
      message += ": ";
      message += nb::cast<std::string>(nb::str(error.value()));
    }
  }
  throw nb::type_error(message.c_str());
}

static Tensor tensorOf(const nb::ndarray<nb::ro> &array, ElementType wanted,
                       const std::string &what) {
  if (array.device_type() != nb::device::cpu::value)
    throw nb::type_error(
        (what + " is on another device: give an array in the CPU's memory")
            .c_str());
  if (array.ndim() > kMaxRank)
    throw nb::value_error((what + " has " + std::to_string(array.ndim()) +
                           " axes, which is more than any program has")
                              .c_str());
  Tensor tensor;
  tensor.data = const_cast<void *>(array.data());
  tensor.rank = static_cast<uint8_t>(array.ndim());
  for (size_t i = 0; i != array.ndim(); ++i) {
    tensor.extents[i] = static_cast<int64_t>(array.shape(i));
    tensor.steps[i] = array.stride(i);
  }
  nb::dlpack::dtype came = array.dtype();
  auto is = [&](dtype_code code, unsigned bits) {
    return came.lanes == 1 && came.code == static_cast<uint8_t>(code) &&
           came.bits == bits;
  };
  const DType &expected = dtypeOf(wanted);
  if (is(expected.code, expected.bits) ||
      (expected.isRaw && is(dtype_code::UInt, expected.bits)) ||
      // Small signed integers lie in signed bytes, too.
      (expected.isRaw && isInteger(wanted) && is(dtype_code::Int, 8))) {
    tensor.type = wanted;
    return tensor;
  }
  for (const DType &other : kDTypes)
    if (is(other.code, other.bits)) {
      tensor.type = other.type;
      return tensor;
    }
  throw nb::type_error(
      (what + " has elements of a type that programs do not have").c_str());
}

bindings::Borrowed bindings::borrow(nb::handle object, ElementType wanted,
                                    bool isWritable, const std::string &what) {
  Borrowed result;
  auto takeAsItIs = [&](nb::handle from) {
    if (!isWritable)
      return nb::try_cast(from, result.array, /*convert=*/false);
    nb::ndarray<> writable;
    if (!nb::try_cast(from, writable, /*convert=*/false))
      return false;
    result.array = nb::ndarray<nb::ro>(writable);
    return true;
  };
  auto take = [&](nb::handle from) {
    if (takeAsItIs(from))
      return true;
    nb::object bits =
        dtypeOf(wanted).isRaw ? asBits(from, wanted) : nb::object();
    return bits.is_valid() && takeAsItIs(bits);
  };
  if (!take(object)) {
    bool canBeCopied =
        !isWritable && isPacked(object) && nb::hasattr(object, "copy");
    if (!canBeCopied || !take(object.attr("copy")()))
      refuse(object, isWritable, what);
  }
  result.tensor = tensorOf(result.array, wanted, what);
  return result;
}

//===----------------------------------------------------------------------===//
// Arrays that go out
//===----------------------------------------------------------------------===//

nb::object bindings::toDlpack(const Tensor &tensor, bool isReadOnly,
                              nb::handle owner, const nb::kwargs &options) {
  size_t shape[kMaxRank];
  for (size_t i = 0; i != tensor.rank; ++i)
    shape[i] = static_cast<size_t>(tensor.extents[i]);
  const DType &type = dtypeOf(tensor.type);
  nb::dlpack::dtype dtype = {static_cast<uint8_t>(type.code), type.bits, 1};
  nb::object array;
  if (isReadOnly)
    array = nb::cast(nb::ndarray<nb::array_api, nb::ro>(
        tensor.data, tensor.rank, shape, owner, tensor.steps.data(), dtype));
  else
    array = nb::cast(nb::ndarray<nb::array_api>(
        tensor.data, tensor.rank, shape, owner, tensor.steps.data(), dtype));
  return array.attr("__dlpack__")(**options);
}

int bindings::getBuffer(const Tensor &tensor, bool isReadOnly, PyObject *owner,
                        Py_buffer *view, int flags) {
  view->obj = nullptr;
  if (isReadOnly && (flags & PyBUF_WRITABLE) == PyBUF_WRITABLE) {
    PyErr_SetString(PyExc_BufferError, "the array can only be read");
    return -1;
  }
  if ((flags & PyBUF_STRIDES) != PyBUF_STRIDES && !tensor.isContiguous()) {
    PyErr_SetString(PyExc_BufferError, "the elements are not in one piece");
    return -1;
  }
  auto sizes = std::make_unique<Py_ssize_t[]>(2 * size_t(kMaxRank));
  auto width = static_cast<Py_ssize_t>(byteSize(tensor.type));
  for (size_t i = 0; i != tensor.rank; ++i) {
    sizes[i] = tensor.extents[i];
    sizes[kMaxRank + i] = tensor.steps[i] * width;
  }
  view->buf = tensor.data;
  view->len = tensor.size() * width;
  view->itemsize = width;
  view->readonly = isReadOnly;
  view->ndim = tensor.rank;
  view->format = (flags & PyBUF_FORMAT) == PyBUF_FORMAT
                     ? const_cast<char *>(dtypeOf(tensor.type).format)
                     : nullptr;
  view->shape = (flags & PyBUF_ND) == PyBUF_ND ? sizes.get() : nullptr;
  view->strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES
                      ? sizes.get() + kMaxRank
                      : nullptr;
  view->suboffsets = nullptr;
  view->internal = sizes.release();
  Py_INCREF(owner);
  view->obj = owner;
  return 0;
}

void bindings::releaseBuffer(PyObject *, Py_buffer *view) {
  delete[] static_cast<Py_ssize_t *>(view->internal);
}
