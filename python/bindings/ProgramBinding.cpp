// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Filling a corten::Program from Python objects: FX nodes, their arguments and
// the fake tensors that describe their results.

#include "Bindings.h"
#include "Errors.h"
#include "KeepAlive.h"
#include "TorchTensors.h"

#include "corten/Program/Calls.h"
#include "corten/Program/Functionalize.h"
#include "corten/Program/MemoryLayout.h"
#include "corten/Program/Outline.h"
#include "corten/Program/Program.h"
#include "corten/Program/Signature.h"

#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/set.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <map>
#include <set>
#include <tuple>
#include <unordered_map>

namespace nb = nanobind;
using namespace corten;
using llvm::SmallVector;
using llvm::StringRef;

static StringRef textOf(PyObject *object) {
  Py_ssize_t length = 0;
  const char *data = PyUnicode_AsUTF8AndSize(object, &length);
  if (!data)
    throw nb::python_error();
  return {data, static_cast<size_t>(length)};
}

static StringRef textOf(const std::string_view &text) {
  return {text.data(), text.size()};
}

static constexpr StringRef kHigherOrder = "higher_order";

static void raise(llvm::Error error) {
  if (error)
    throw nb::value_error(llvm::toString(std::move(error)).c_str());
}

namespace {
/// The builder as Python sees it. FX nodes, dtypes and graphs are known by
/// object identity; the walker keeps them alive while it runs.
class PyProgramBuilder {
public:
  PyProgramBuilder(nb::object tensorType, nb::object dtypeType,
                   nb::object symInt, nb::object symFloat, nb::object symBool,
                   const NamedWeights *folder)
      : tensorType(std::move(tensorType)), dtypeType(std::move(dtypeType)),
        symInt(std::move(symInt)), symFloat(std::move(symFloat)),
        symBool(std::move(symBool)),
        named(folder ? std::optional(*folder) : std::nullopt),
        weights(named ? &*named : nullptr), signature(builder, weights) {
    graphs.push_back(&builder.mainGraph());
  }
  PyProgramBuilder(const PyProgramBuilder &) = delete;
  PyProgramBuilder &operator=(const PyProgramBuilder &) = delete;

  /// A function of the Python module `module`.
  size_t addFunction(std::string_view module, std::string_view name) {
    StringRef nameSpace = functionNamespace(textOf(module));
    operators.push_back(addCallee(builder, nameSpace, textOf(name)));
    return operators.size() - 1;
  }

  /// `schema` is the text that torch prints, `defaults` its own values of them,
  /// `wrapper` the operator that calls this one, if one does.
  size_t addOverload(std::string_view nameSpace, std::string_view name,
                     std::string_view schema, const nb::list &defaults,
                     std::string_view wrapper) {
    SmallVector<Argument> values;
    for (nb::handle value : defaults)
      values.push_back(decode(value.ptr()));
    operators.push_back(addCallee(builder, textOf(nameSpace), textOf(name),
                                  parseSchema(textOf(schema), values, builder),
                                  wrapperOf(kHigherOrder, textOf(wrapper))));
    return operators.size() - 1;
  }

  void addPlaceholder(nb::handle key, std::string_view name, nb::handle value) {
    Node &node =
        builder.addNode(*graphs.back(), Node::Kind::Placeholder, textOf(name));
    setValue(node, value);
    nodes[key.ptr()] = &node;
  }

  void addCall(nb::handle key, std::string_view name, size_t op,
               nb::handle args, nb::handle kwargs, nb::handle value,
               nb::handle stackTrace, nb::handle moduleStack) {
    SmallVector<GivenArgument> given;
    decodeArguments(args.ptr(), kwargs.ptr(), given);
    Node &node = *bindings::unwrap(
        calls.add(*graphs.back(), textOf(name), operators[op], given));
    bool isTuple = false;
    SmallVector<ValueInfo> results = decodeInfos(value.ptr(), isTuple);
    raise(calls.setResults(node, operators[op], results, isTuple));
    remember(node, value);
    if (!stackTrace.is_none())
      node.stackTrace = sharedText(stackTrace.ptr());
    if (!moduleStack.is_none())
      node.module = decodeModuleStack(moduleStack.ptr());
    node.origin = key.ptr();
    origins.append(key);
    nodes[key.ptr()] = &node;
    raise(resolveMemory(
        node, [&](const Node &tensor) { return decodeLayout(tensor); }));
  }

  /// Makes `key` another name of a node that has been added.
  void bind(nb::handle key, nb::handle node) {
    const Node *known = findNode(node);
    if (!known)
      throw nb::value_error("bind: the node has not been added");
    nodes[key.ptr()] = known;
  }

  /// A `get_attr` node that refers to the subgraph built last.
  void bindSubgraph(nb::handle key, std::string_view name) {
    builder.addNode(*graphs.back(), Node::Kind::Attribute, textOf(name));
    attributes[key.ptr()] = lastSubgraph;
  }

  /// A `get_attr` node that refers to a tensor.
  void addConstant(nb::handle key, std::string_view name, nb::handle value,
                   const nb::tuple &tensor) {
    Node &node =
        builder.addNode(*graphs.back(), Node::Kind::Attribute, textOf(name));
    setValue(node, value);
    nodes[key.ptr()] = &node;
    addConstantInput(node, tensor);
  }

  /// A placeholder that stands for a tensor of no signature.
  void addConstantOf(nb::handle key, const nb::tuple &tensor) {
    addConstantInput(*findNode(key), tensor);
  }

  void setOutputs(nb::handle values) {
    Argument decoded = decode(values.ptr());
    calls.setOutputs(*graphs.back(), decoded.isList()
                                         ? decoded.asList()
                                         : llvm::ArrayRef(decoded));
  }

  void beginSubgraph(std::string_view name) {
    graphs.push_back(&builder.addSubgraph(textOf(name)));
  }
  void endSubgraph() {
    lastSubgraph = graphs.back();
    graphs.pop_back();
  }

  void know(std::string_view name, nb::handle tensor, bool hasData) {
    weights.know(textOf(name), bindings::identityOf(tensor, hasData));
  }

  void addInput(std::string_view kind, nb::handle node, std::string_view target,
                bool isPersistent, std::optional<nb::tuple> tensor) {
    RecordedInput input;
    input.kind = textOf(kind);
    input.node = findNode(node);
    input.target = textOf(target);
    input.isPersistent = isPersistent;
    if (!tensor)
      return raise(signature.addInput(input));
    withTensor(*tensor, [&](const ProgramTensor &given) {
      input.tensor = &given;
      raise(signature.addInput(input));
    });
  }

  void addOutput(std::string_view kind, nb::handle value,
                 std::string_view target) {
    raise(signature.addOutput(
        {textOf(kind), decode(value.ptr()), textOf(target)}));
  }

  void finishSignature() { raise(signature.finish()); }

  void setRange(std::string_view expression, std::optional<int64_t> min,
                std::optional<int64_t> max) {
    builder.setRange(builder.symbol(textOf(expression)), min, max);
  }

  /// Null, or the name of the node that writes in a way that is not known and
  /// how.
  std::optional<std::pair<std::string, std::string>> makeFunctional() {
    builder.setIsDecomposed(false);
    std::optional<Obstacle> obstacle = functionalize(builder);
    if (!obstacle)
      return std::nullopt;
    return std::pair(obstacle->node->name.str(), obstacle->reason);
  }

  std::shared_ptr<const Program> finish(std::vector<ExternalModule> modules) {
    if (!modules.empty())
      raise(outlineModules(builder, std::move(modules)));
    builder.setOriginOwner(bindings::keepAlive(origins));
    llvm::Expected<std::unique_ptr<Program>> program = builder.finish();
    raise(program.takeError());
    return std::move(*program);
  }

  bool hasCopies() const { return isSomeCopied || signature.hasCopies(); }

private:
  /// Calls `use` with what the walker says of a tensor: (memory, type, shape,
  /// whether there is data).
  void withTensor(const nb::tuple &given,
                  llvm::function_ref<void(const ProgramTensor &)> use) {
    std::optional<bindings::TensorMemory> memory;
    auto read = [&]() -> llvm::Expected<StridedMemory> {
      try {
        memory.emplace(nb::object(given[0]));
        isSomeCopied |= memory->isBroughtHere();
        return memory->get();
      } catch (nb::python_error &error) {
        return llvm::createStringError(error.what());
      }
    };
    auto shape = nb::cast<std::vector<int64_t>>(given[2]);
    nb::object dtype = given[1];
    use({dtypeOf(dtype.ptr()), shape, nb::cast<bool>(given[3]), read});
  }

  /// A tensor that the graph has and the signature does not know.
  void addConstantInput(const Node &node, const nb::tuple &tensor) {
    InputSpec spec;
    spec.kind = InputSpec::Kind::Constant;
    spec.node = &node;
    spec.target = node.name;
    withTensor(tensor, [&](const ProgramTensor &given) {
      AddedWeight added =
          bindings::unwrap(weights.addOwn(builder, node.name, given));
      spec.weight = added.index;
      isSomeCopied |= added.isCopy;
    });
    builder.addInput(spec);
  }

  void setValue(Node &node, nb::handle value) {
    node.results = builder.save(decodeInfos(value.ptr(), node.returnsTuple));
    remember(node, value);
  }

  /// What torch says of a node's result may be asked for later.
  void remember(const Node &node, nb::handle value) {
    values.resize(node.index + 1);
    values[node.index] = nb::borrow(value);
  }

  const Node *findNode(nb::handle key) const {
    auto found = nodes.find(key.ptr());
    return found == nodes.end() ? nullptr : found->second;
  }

  ScalarType dtypeOf(PyObject *dtype) {
    auto found = dtypes.find(dtype);
    if (found == dtypes.end())
      found = dtypes.emplace(dtype, bindings::scalarTypeOf(dtype)).first;
    return found->second;
  }

  /// Stack traces are shared between the nodes of one decomposed operator.
  StringRef sharedText(PyObject *object) {
    auto [entry, isNew] = texts.try_emplace(object);
    if (isNew)
      entry->second = builder.save(textOf(object));
    return entry->second;
  }

  /// {instance: (path, class)}, outermost first. Copies of one entry share
  /// their objects, so most are known by identity.
  const ModuleFrame *decodeModuleStack(PyObject *stack) {
    if (!PyDict_Check(stack))
      return nullptr;
    const ModuleFrame *frame = nullptr;
    Py_ssize_t position = 0;
    PyObject *key = nullptr, *value = nullptr;
    while (PyDict_Next(stack, &position, &key, &value)) {
      auto [known, isNew] = modules.try_emplace({frame, key, value});
      if (isNew)
        known->second = decodeModule(frame, key, value);
      frame = known->second;
    }
    return frame;
  }

  /// The caller for what is no module.
  const ModuleFrame *decodeModule(const ModuleFrame *caller, PyObject *key,
                                  PyObject *value) {
    if (!PyUnicode_Check(key) || !PyTuple_Check(value) ||
        PyTuple_Size(value) < 2)
      return caller;
    PyObject *path = PyTuple_GetItem(value, 0);
    nb::object type = nb::borrow(PyTuple_GetItem(value, 1));
    if (!PyUnicode_Check(path))
      return caller;
    if (!PyUnicode_Check(type.ptr()))
      type = type.attr("__qualname__");
    return builder.addModule(caller, textOf(key), textOf(path),
                             textOf(type.ptr()));
  }

  void decodeArguments(PyObject *args, PyObject *kwargs,
                       SmallVector<GivenArgument> &given) {
    Py_ssize_t positional = PyTuple_Size(args);
    for (Py_ssize_t i = 0; i < positional; ++i)
      given.push_back({{}, decode(PyTuple_GetItem(args, i))});
    Py_ssize_t position = 0;
    PyObject *key = nullptr, *value = nullptr;
    while (PyDict_Next(kwargs, &position, &key, &value))
      given.push_back({textOf(key), decode(value)});
  }

  Argument decode(PyObject *object) {
    if (object == Py_None)
      return {};
    if (auto found = nodes.find(object); found != nodes.end())
      return Argument::node(found->second);
    if (PyBool_Check(object))
      return Argument::boolean(object == Py_True);
    if (PyLong_Check(object)) {
      int64_t number = PyLong_AsLongLong(object);
      if (number == -1 && PyErr_Occurred())
        throw nb::python_error();
      return Argument::integer(number);
    }
    if (PyFloat_Check(object))
      return Argument::floating(PyFloat_AsDouble(object));
    if (PyUnicode_Check(object))
      return Argument::string(builder.save(textOf(object)));
    if (PyList_Check(object) || PyTuple_Check(object))
      return decodeList(object);
    if (reinterpret_cast<PyObject *>(Py_TYPE(object)) == dtypeType.ptr())
      return Argument::dtype(dtypeOf(object));
    if (auto found = attributes.find(object); found != attributes.end())
      return Argument::graph(found->second);
    if (PyComplex_Check(object))
      return Argument::complex(builder.save(std::complex<double>(
          PyComplex_RealAsDouble(object), PyComplex_ImagAsDouble(object))));
    return Argument::opaque(
        builder.save(nb::cast<std::string>(nb::str(nb::handle(object)))));
  }

  Argument decodeList(PyObject *sequence) {
    SmallVector<Argument> elements;
    bool isList = PyList_Check(sequence);
    Py_ssize_t length = isList ? PyList_Size(sequence) : PyTuple_Size(sequence);
    for (Py_ssize_t i = 0; i < length; ++i)
      elements.push_back(decode(isList ? PyList_GetItem(sequence, i)
                                       : PyTuple_GetItem(sequence, i)));
    return Argument::list(builder.save(elements));
  }

  bool isInstance(PyObject *object, const nb::object &type) const {
    int result = PyObject_IsInstance(object, type.ptr());
    if (result < 0)
      throw nb::python_error();
    return result != 0;
  }

  Size decodeSize(PyObject *object) {
    if (PyLong_Check(object)) {
      return Size(PyLong_AsLongLong(object));
    }
    nb::object expression = nb::handle(object).attr("node").attr("expr");
    // Printing a symbolic expression is slow; hashing one is not.
    if (nb::object known = symbols.get(expression, nb::none());
        !known.is_none())
      return Size::symbolic(nb::cast<unsigned>(known));
    unsigned symbol =
        builder.symbol(nb::cast<std::string>(nb::str(expression)));
    symbols[expression] = symbol;
    return Size::symbolic(symbol);
  }

  static SizeExpression decodeExpression(nb::handle size) {
    if (PyLong_Check(size.ptr()))
      return {nb::cast<int64_t>(size)};
    nb::object text = nb::module_::import_("sympy").attr("srepr")(
        size.attr("node").attr("expr"));
    return SizeExpression::parse(textOf(text.ptr()));
  }

  MemoryLayout decodeLayout(const Node &node) const {
    const nb::object &tensor = values[node.index];
    MemoryLayout layout;
    nb::object device = tensor.attr("device"), shape = tensor.attr("shape");
    layout.device = nb::cast<std::string>(nb::str(device));
    for (nb::handle size : shape)
      layout.shape.push_back(decodeExpression(size));
    for (nb::handle stride : tensor.attr("stride")())
      layout.strides.push_back(decodeExpression(stride));
    layout.offset = decodeExpression(tensor.attr("storage_offset")());
    return layout;
  }

  ValueInfo decodeInfo(PyObject *object) {
    ValueInfo info;
    if (object == Py_None)
      return info;
    nb::handle value(object);
    if (isInstance(object, tensorType)) {
      info.kind = ValueInfo::Kind::Tensor;
      info.dtype = dtypeOf(nb::object(value.attr("dtype")).ptr());
      nb::object shape = value.attr("shape");
      SmallVector<Size> sizes;
      Py_ssize_t rank = PyTuple_Size(shape.ptr());
      for (Py_ssize_t i = 0; i < rank; ++i)
        sizes.push_back(decodeSize(PyTuple_GetItem(shape.ptr(), i)));
      info.sizes = builder.save(sizes);
    } else if (PyBool_Check(object) || isInstance(object, symBool)) {
      info.kind = ValueInfo::Kind::SymBool;
    } else if (PyLong_Check(object) || isInstance(object, symInt)) {
      info.kind = ValueInfo::Kind::SymInt;
      if (!PyLong_Check(object)) {
        Size size = decodeSize(object);
        info.sizes = builder.save(llvm::ArrayRef(size));
      }
    } else if (PyFloat_Check(object) || isInstance(object, symFloat)) {
      info.kind = ValueInfo::Kind::SymFloat;
    } else {
      info.kind = ValueInfo::Kind::Other;
    }
    return info;
  }

  SmallVector<ValueInfo> decodeInfos(PyObject *value, bool &isTuple) {
    SmallVector<ValueInfo> infos;
    isTuple = PyTuple_Check(value) || PyList_Check(value);
    if (!isTuple) {
      infos.push_back(decodeInfo(value));
      return infos;
    }
    bool isList = PyList_Check(value);
    Py_ssize_t length = isList ? PyList_Size(value) : PyTuple_Size(value);
    for (Py_ssize_t i = 0; i < length; ++i)
      infos.push_back(decodeInfo(isList ? PyList_GetItem(value, i)
                                        : PyTuple_GetItem(value, i)));
    return infos;
  }

  ProgramBuilder builder;
  nb::object tensorType, dtypeType, symInt, symFloat, symBool;
  std::optional<NamedWeights> named;
  ProgramWeights weights;
  CallBuilder calls{builder};
  SignatureBuilder signature;
  bool isSomeCopied = false;
  std::vector<Callee> operators;
  std::vector<Graph *> graphs;
  Graph *lastSubgraph = nullptr;
  std::unordered_map<PyObject *, const Node *> nodes;
  /// What torch says of their results, by index.
  std::vector<nb::object> values;
  /// The nodes of calls, for functions of the user's that are given them.
  nb::list origins;
  std::unordered_map<PyObject *, const Graph *> attributes;
  std::unordered_map<PyObject *, ScalarType> dtypes;
  std::unordered_map<PyObject *, StringRef> texts;
  std::map<std::tuple<const ModuleFrame *, PyObject *, PyObject *>,
           const ModuleFrame *>
      modules;
  nb::dict symbols;
};

} // namespace

void corten::bindings::bindProgram(nb::module_ &module) {
  nb::class_<Program>(module, "Program",
                      "An exported program, read once and immutable.")
      .def_prop_ro("num_nodes",
                   [](const Program &program) {
                     size_t count = program.main.nodes.size();
                     for (const ModuleCall &call : program.moduleCalls)
                       count += call.body->nodes.size();
                     return count;
                   })
      .def_prop_ro(
          "called_modules",
          [](const Program &program) {
            std::set<std::string> paths;
            for (const ModuleCall &call : program.moduleCalls)
              paths.insert(program.modules[call.module].path);
            return paths;
          },
          "Paths of the external modules that the program calls.")
      .def_prop_ro("weight_bytes", [](const Program &program) {
        size_t bytes = 0;
        for (const TensorView &weight : program.weights)
          bytes += weight.bytes;
        return bytes;
      });

  nb::class_<PyProgramBuilder>(module, "ProgramBuilder",
                               "Fills a Program; one walker uses one builder.")
      .def(nb::init<nb::object, nb::object, nb::object, nb::object, nb::object,
                    const NamedWeights *>(),
           nb::arg("tensor_type"), nb::arg("dtype_type"), nb::arg("sym_int"),
           nb::arg("sym_float"), nb::arg("sym_bool"), nb::arg("folder").none())
      .def("function", &PyProgramBuilder::addFunction, nb::arg("module"),
           nb::arg("name"), "A function of Python's or torch's.")
      .def("overload", &PyProgramBuilder::addOverload, nb::arg("namespace"),
           nb::arg("name"), nb::arg("schema"), nb::arg("defaults"),
           nb::arg("wrapper"),
           "An operator with the schema that torch prints. `wrapper` is the "
           "higher-order operator that calls it, if one does.")
      .def("placeholder", &PyProgramBuilder::addPlaceholder, nb::arg("node"),
           nb::arg("name"), nb::arg("value").none())
      .def("call", &PyProgramBuilder::addCall, nb::arg("node"), nb::arg("name"),
           nb::arg("operator"), nb::arg("args"), nb::arg("kwargs"),
           nb::arg("value").none(), nb::arg("stack_trace").none(),
           nb::arg("module_stack").none())
      .def("bind", &PyProgramBuilder::bind, nb::arg("key"), nb::arg("node"))
      .def("bind_subgraph", &PyProgramBuilder::bindSubgraph, nb::arg("node"),
           nb::arg("name"))
      .def("constant", &PyProgramBuilder::addConstant, nb::arg("node"),
           nb::arg("name"), nb::arg("value"), nb::arg("tensor"))
      .def("outputs", &PyProgramBuilder::setOutputs, nb::arg("values").none())
      .def("begin_subgraph", &PyProgramBuilder::beginSubgraph, nb::arg("name"))
      .def("end_subgraph", &PyProgramBuilder::endSubgraph)
      .def("constant_of", &PyProgramBuilder::addConstantOf, nb::arg("node"),
           nb::arg("tensor"), "Has a placeholder stand for a tensor.")
      .def("know", &PyProgramBuilder::know, nb::arg("name"), nb::arg("tensor"),
           nb::arg("has_data"),
           "The program has a tensor of this name. To be said of all before "
           "the first input, where weights come from a folder.")
      .def_prop_ro("has_copies", &PyProgramBuilder::hasCopies,
                   "Whether some weight would not follow a change of the "
                   "original: it was not in one piece, or elsewhere.")
      .def("input", &PyProgramBuilder::addInput, nb::arg("kind"),
           nb::arg("node").none(), nb::arg("target"), nb::arg("is_persistent"),
           nb::arg("tensor").none(),
           "An input, as the signature has it. `tensor` is (memory, type, "
           "shape, whether it has data): a weight is a view of the memory if "
           "that is in one piece. Raises ValueError for a weight that cannot "
           "be had.")
      .def("output", &PyProgramBuilder::addOutput, nb::arg("kind"),
           nb::arg("value").none(), nb::arg("target"),
           "An output, as the signature has it.")
      .def("finish_signature", &PyProgramBuilder::finishSignature,
           "Raises ValueError if something is wrong with the whole of it.")
      .def("range", &PyProgramBuilder::setRange, nb::arg("expression"),
           nb::arg("min").none(), nb::arg("max").none())
      .def("functionalize", &PyProgramBuilder::makeFunctional,
           "Turns writes to tensors into new values, in a program as "
           "torch.export returns it. Returns None, or the node that stands in "
           "the way and why; the builder is then of no more use.")
      .def("finish", &PyProgramBuilder::finish, nb::arg("modules"),
           "Ends the building. Calls of `modules` become graphs of their own. "
           "Raises ValueError when their marks have been tampered with.");

  module.def(
      "wrapper_arguments",
      [](std::string_view name) {
        return wrapperOf(kHigherOrder, textOf(name)).numArguments;
      },
      nb::arg("name"),
      "How many of the first arguments of a higher-order operator are not "
      "those of the operator that it calls, which is the last of them; 0 for "
      "one that calls none.");
  module.def(
      "is_expanded",
      [](std::string_view name) { return isExpanded(textOf(name)); },
      nb::arg("name"),
      "Whether a higher-order operator stands for a graph that torch has to "
      "make.");
  module.def(
      "functional_name",
      [](std::string_view name) { return functionalName(textOf(name)); },
      nb::arg("name"),
      "The operator that computes what an in-place one writes, or None.");
}
