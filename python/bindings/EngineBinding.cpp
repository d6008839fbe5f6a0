// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Models that run: what Python sees of them.

#include "Arrays.h"
#include "Bindings.h"
#include "EngineCalls.h"
#include "Errors.h"
#include "Weights.h"
#include "WithoutGil.h"

#include "corten/Handover/Receive.h"
#include "corten/Model/Engine.h"

#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;
using namespace corten;
using namespace corten::runtime;
using namespace corten::bindings;

static nb::object shapeOf(const Tensor &tensor) {
  nb::list shape;
  for (int64_t extent : tensor.shape())
    shape.append(extent);
  return nb::tuple(shape);
}

static nb::object shapeOf(const Parameter &parameter) {
  nb::list shape;
  for (const Axis &axis : parameter.axes)
    shape.append(axis.isFixed() ? nb::cast(axis.low) : nb::cast(axis));
  return nb::tuple(shape);
}

template <typename T> static const Tensor &tensorOf(nb::handle self) {
  return nb::inst_ptr<T>(self)->tensor();
}

/// What arrays and states have in common: they can be viewed.
template <typename T, bool IsReadOnly> struct Viewed {
  static int getBuffer(PyObject *self, Py_buffer *view, int flags) {
    return bindings::getBuffer(tensorOf<T>(self), IsReadOnly, self, view,
                               flags);
  }

  static inline PyType_Slot slots[] = {
      {Py_bf_getbuffer, reinterpret_cast<void *>(&getBuffer)},
      {Py_bf_releasebuffer, reinterpret_cast<void *>(&bindings::releaseBuffer)},
      {0, nullptr}};

  static void bind(nb::class_<T> &type) {
    type.def_prop_ro(
            "shape", [](const T &self) { return shapeOf(self.tensor()); },
            "The extent of each axis.")
        .def_prop_ro(
            "dtype",
            [](const T &self) {
              return bindings::dtypeName(self.tensor().type);
            },
            "The name of the element type, as \"float32\".")
        .def_prop_ro(
            "nbytes",
            [](const T &self) {
              return self.tensor().size() *
                     static_cast<int64_t>(byteSize(self.tensor().type));
            },
            "How many bytes the elements have.")
        .def(
            "numpy",
            [](nb::handle self) {
              return nb::module_::import_("numpy").attr("asarray")(self);
            },
            "A view as an array of numpy's. Types that numpy lacks are "
            "unsigned integers with the same bits.")
        .def(
            "__dlpack__",
            [](nb::handle self, const nb::kwargs &options) {
              return bindings::toDlpack(tensorOf<T>(self), IsReadOnly, self,
                                        options);
            },
            "For torch.from_dlpack() and others.")
        .def("__dlpack_device__", [](const T &) {
          return std::pair(int(nb::device::cpu::value), 0);
        });
  }
};

/// Keeps calls of other threads away; raises RuntimeError if one runs.
static State::Lock lock(const State &state) {
  Expected<State::Lock> held = state.lock();
  if (!held)
    throw std::runtime_error(held.takeError().message());
  return std::move(*held);
}

static std::vector<State::Lock> lock(const States &states) {
  std::vector<State::Lock> held;
  held.reserve(states.list.size());
  for (const SharedState &state : states.list)
    held.push_back(lock(*state));
  return held;
}

static void adopt(State &self, const State &other, std::optional<size_t> axis,
                  int64_t source, int64_t target) {
  std::optional<State::Row> row;
  if (axis)
    row = State::Row{*axis, source, target};
  State::Lock held = lock(self);
  std::optional<State::Lock> otherHeld;
  if (&other != &self)
    otherHeld = lock(other);
  unwrap(self.adopt(other, row));
}

static void reset(const States &states) {
  std::vector<State::Lock> held = lock(states);
  for (const SharedState &state : states.list)
    state->reset();
}

static void bindViews(nb::module_ &module) {
  nb::class_<Axis>(module, "Axis", "An extent that calls decide.")
      .def_ro("symbol", &Axis::symbol,
              "What the program calls it; equal ones are equal in a call.")
      .def_ro("low", &Axis::low, "The least that it can be.")
      .def_prop_ro(
          "high",
          [](const Axis &self) {
            return self.high == INT64_MAX ? std::nullopt
                                          : std::optional(self.high);
          },
          "The most that it can be; None if there is no bound.")
      .def("__repr__", [](const Axis &self) { return self.symbol; });

  nb::class_<Parameter>(module, "Parameter", "What a function takes or gives.")
      .def_ro("name", &Parameter::name, "What calls name it by.")
      .def_prop_ro(
          "dtype",
          [](const Parameter &self) { return bindings::dtypeName(self.type); },
          "The name of the element type, as \"float32\".")
      .def_prop_ro(
          "shape", [](const Parameter &self) { return shapeOf(self); },
          "A number for each axis, or an Axis where calls decide.")
      .def("__repr__", [](const Parameter &self) {
        nb::object shape = nb::repr(nb::list(shapeOf(self)));
        return self.name + ": " + bindings::dtypeName(self.type) +
               nb::cast<std::string>(shape);
      });

  using ArrayView = Viewed<Array, /*IsReadOnly=*/false>;
  nb::class_<Array> array(
      module, "Array", nb::type_slots(ArrayView::slots),
      "A result. numpy.asarray() and torch.from_dlpack() give views of it, "
      "which keep the memory.");
  ArrayView::bind(array);
  array.def("__repr__", [](const Array &self) {
    return "corten.Array(" + bindings::describe(self.tensor()) + ")";
  });

  using StateView = Viewed<State, /*IsReadOnly=*/true>;
  nb::class_<State> state(
      module, "State", nb::type_slots(StateView::slots),
      "What a function remembers. Views of it show what calls write; they "
      "can only be read. One call at a time uses it.");
  StateView::bind(state);
  state
      .def_prop_ro(
          "name", [](const State &self) { return self.name(); },
          "What functions call it.")
      .def(
          "reset",
          [](State &self) {
            State::Lock held = lock(self);
            self.reset();
          },
          "Makes all elements zero. Raises RuntimeError while a call uses it.")
      .def(
          "write",
          [](State &self, nb::handle array) {
            Borrowed from = bindings::borrow(array, self.tensor().type, false,
                                             "state '" + self.name() + "'");
            State::Lock held = lock(self);
            unwrap(self.write(from.tensor));
          },
          nb::arg("array"),
          "Takes over the elements of an array of the same type and shape. "
          "Raises ValueError, and RuntimeError while a call uses the state.")
      .def(
          "copy",
          [](const State &self) {
            State::Lock held = lock(self);
            return std::make_shared<State>(unwrap(self.copy()));
          },
          "Another state with the same elements; large ones share memory "
          "until one of them is written to. Raises RuntimeError while a call "
          "uses it.")
      .def("adopt", adopt, nb::arg("other"), nb::kw_only(),
           nb::arg("axis") = nb::none(), nb::arg("source") = 0,
           nb::arg("target") = 0,
           "Takes over another state's elements, to where the axes begin; of "
           "an axis, only the row `source`, which becomes `target`. Memory "
           "that the other shares with forks is shared. Raises ValueError, and "
           "RuntimeError while a call uses one of them.")
      .def("__repr__", [](const State &self) {
        return "corten.State('" + self.name() + "', " +
               bindings::describe(self.tensor()) + ")";
      });
}

static void bindStates(nb::module_ &module) {
  auto names = [](const States &self) {
    std::vector<std::string> names;
    names.reserve(self.list.size());
    for (const SharedState &state : self.list)
      names.push_back(state->name());
    return names;
  };
  nb::class_<States>(module, "States", "States by name.")
      .def("__len__", [](const States &self) { return self.list.size(); })
      .def("__contains__",
           [](const States &self, std::string_view name) {
             return self.find(name) != nullptr;
           })
      .def("__iter__",
           [names](const States &self) {
             return nb::iter(nb::cast(names(self)));
           })
      .def("keys", names, "The names.")
      .def(
          "__getitem__",
          [](const States &self, const std::string &name) {
            if (SharedState state = self.find(name))
              return state;
            throw nb::key_error(("there is no state '" + name + "'").c_str());
          },
          nb::arg("name"), "The state of this name. Raises KeyError.")
      .def(
          "reset", [](States &self) { reset(self); },
          "Makes all elements of all states zero, or of none: raises "
          "RuntimeError while a call uses one.")
      .def(
          "copy",
          [](const States &self) {
            std::vector<State::Lock> held = lock(self);
            States copies;
            for (const SharedState &state : self.list)
              copies.list.push_back(
                  std::make_shared<State>(unwrap(state->copy())));
            return copies;
          },
          "Others with the same elements: what comes after differs, as in a "
          "beam search. Raises RuntimeError while a call uses one.")
      .def("__repr__", [names](const States &self) {
        return "corten.States(" +
               nb::cast<std::string>(nb::repr(nb::cast(names(self)))) + ")";
      });
}

static std::vector<Parameter> list(std::span<const Parameter> parameters) {
  return {parameters.begin(), parameters.end()};
}

static std::vector<std::string> namesOf(std::span<const Parameter> states) {
  std::vector<std::string> names;
  for (const Parameter &state : states)
    names.push_back(state.name);
  return names;
}

static void bindFunction(nb::module_ &module) {
  nb::class_<EngineFunction>(module, "Function",
                             "A function of a model. It can be called by any "
                             "number of threads at once.")
      .def_prop_ro(
          "name",
          [](const EngineFunction &self) { return self.function().name(); },
          "What the model calls it.")
      .def_prop_ro(
          "inputs",
          [](const EngineFunction &self) {
            return list(self.function().inputs());
          },
          "What a call is given, in order.")
      .def_prop_ro(
          "outputs",
          [](const EngineFunction &self) {
            return list(self.function().outputs());
          },
          "What a call returns, in order.")
      .def_prop_ro(
          "states",
          [](const EngineFunction &self) {
            return list(self.function().states());
          },
          "What it remembers from call to call.")
      .def(
          "create_states",
          [](const EngineFunction &self, const Shapes &shapes) {
            return createStates(*self.engine->model, self.function().states(),
                                shapes);
          },
          nb::arg("shapes") = Shapes(),
          "New states, all zeros. Those whose shape calls decide need one, by "
          "name. Raises ValueError.")
      .def(
          "__call__", &callFunction, nb::arg("args"), nb::kw_only(),
          nb::arg("out").none() = nb::none(),
          nb::arg("states").none() = nb::none(), nb::arg("kwargs"),
          "Runs it. Inputs are arrays in order or by name, or one mapping from "
          "names. Returns a dictionary from names of outputs to arrays; those "
          "that `out` gives are written to. Without `states` the model's own "
          "are used. Raises TypeError or ValueError for what cannot be taken, "
          "and RuntimeError for what fails on the way.")
      .def(
          "async_",
          [](nb::handle self, const nb::args &args, const nb::kwargs &kwargs) {
            return nb::module_::import_("corten._async")
                .attr("call")(self, args, kwargs);
          },
          nb::arg("args"), nb::arg("kwargs"),
          "The same, in a thread of its own: `await` it. A task that is "
          "cancelled ends the call, which leaves states as they were.")
      .def(
          "_pending",
          [](const EngineFunction &self, const nb::args &args, nb::handle out,
             nb::handle states, const nb::kwargs &kwargs) {
            return PendingCall(self, args, out, states, kwargs);
          },
          nb::arg("args"), nb::kw_only(), nb::arg("out").none() = nb::none(),
          nb::arg("states").none() = nb::none(), nb::arg("kwargs"),
          "A call that is to be run. Raises what a call does.")
      .def("profile", &profileFunction, nb::arg("args"), nb::kw_only(),
           nb::arg("states").none() = nb::none(), nb::arg("kwargs"),
           "Runs it, and returns the steps that it took, in their order. "
           "Takes and raises what a call does.")
      .def("__repr__", [](const EngineFunction &self) {
        return "corten.Function('" + self.function().name() + "')";
      });
}

static void bindPendingCall(nb::module_ &module) {
  nb::class_<PendingCall>(module, "PendingCall", "A call that is to be run.")
      .def("run", &PendingCall::run,
           "Runs it, but for the last writes to states.")
      .def("cancel", &PendingCall::cancel,
           "Ends run() before its next step: it raises RuntimeError.")
      .def("finish", &PendingCall::finish,
           "After run(): writes to states, and returns the results.")
      .def("abandon", &PendingCall::abandon, "Leaves states as they were.");
}

static void bindStep(nb::module_ &module) {
  nb::class_<Step>(module, "Step", "A step of a call.")
      .def_ro("kernel", &Step::kernel, "The kernel, or what else it is.")
      .def_ro("variant", &Step::variant,
              "Which variant of the kernel; empty: the portable one.")
      .def_ro("location", &Step::location,
              "The line of the program that it comes from.")
      .def_ro("module", &Step::module, "The path of the module, too.")
      .def_ro("operations", &Step::operations,
              "The numbers of the operations that it was made of.")
      .def_ro("is_kernel", &Step::isKernel, "Whether it is not control flow.")
      .def_ro("nanoseconds", &Step::nanoseconds,
              "How long it took; control flow has what it runs in it.")
      .def_ro("bytes", &Step::bytes,
              "How many bytes it read and wrote; what repeats counts once.")
      .def_ro("flops", &Step::flops,
              "How many operations on numbers it did; a multiplication with an "
              "addition is two.")
      .def_ro("depth", &Step::depth, "How many steps it is inside of.")
      .def_ro("outputs", &Step::outputs,
              "The types and shapes of what it made.")
      .def("__repr__", [](const Step &self) {
        return "corten.Step('" + self.kernel + "', " +
               std::to_string(self.nanoseconds) + " ns)";
      });
}

static EngineFunction functionOf(const std::shared_ptr<Engine> &engine,
                                 const std::string &name) {
  std::span<const Function> functions = engine->model->functions();
  auto found = std::ranges::find(functions, name, &Function::name);
  if (found != functions.end())
    return {engine, static_cast<size_t>(found - functions.begin())};
  std::string why = "there is no function '" + name + "'";
  for (const Function &function : functions)
    why += (&function == functions.data() ? "; there is '" : ", '") +
           function.name() + "'";
  throw nb::key_error(why.c_str());
}

static void bindModel(nb::module_ &module) {
  nb::class_<Engine>(module, "CompiledModel", "A model that runs.")
      .def_ro("path", &Engine::path,
              "Where it was loaded from; empty if it was in no file.")
      .def_prop_ro(
          "functions",
          [](const std::shared_ptr<Engine> &self) {
            nb::dict functions;
            for (size_t i = 0; i != self->model->functions().size(); ++i)
              functions[self->model->functions()[i].name().c_str()] =
                  nb::cast(EngineFunction{self, i});
            return functions;
          },
          "All functions by name.")
      .def("__getitem__", &functionOf, nb::arg("name"),
           "The function of this name. Raises KeyError.")
      .def("__len__",
           [](const Engine &self) { return self.model->functions().size(); })
      .def("__contains__",
           [](const Engine &self, std::string_view name) {
             return self.model->function(name) != nullptr;
           })
      .def("__iter__",
           [](const Engine &self) {
             nb::list names;
             for (const Function &function : self.model->functions())
               names.append(function.name());
             return nb::iter(names);
           })
      .def_prop_ro(
          "states",
          [](Engine &self) {
            std::lock_guard lock(self.mutex);
            return self.kept;
          },
          "The states of calls that bring none, once there was such a call.")
      .def(
          "create_states",
          [](const Engine &self, const Shapes &shapes) {
            std::vector<std::string> names;
            for (const Function &function : self.model->functions())
              for (std::string &name : namesOf(function.states()))
                if (std::ranges::find(names, name) == names.end())
                  names.push_back(std::move(name));
            return createStates(*self.model,
                                std::span<const std::string>(names), shapes);
          },
          nb::arg("shapes") = Shapes(),
          "New states for all functions, all zeros. Raises ValueError.")
      .def(
          "reset",
          [](Engine &self) {
            std::lock_guard guard(self.mutex);
            reset(self.kept);
          },
          "Makes the states of calls that bring none zero. Raises RuntimeError "
          "while a call uses one.")
      .def(
          "trim", [](const Engine &self) { self.model->trim(); },
          "Gives idle memory back to the system.")
      .def("__repr__", [](const Engine &self) {
        return "corten.CompiledModel('" + self.path + "')";
      });
}

static LoadOptions optionsOf(std::optional<int> threads,
                             std::optional<bool> check,
                             const std::optional<std::string> &precision,
                             std::optional<size_t> memoryLimit = {}) {
  // Nothing is no precision; no choice is.
  if (precision && precision->empty())
    throw nb::value_error("there is no precision ''; there are bf16 and int8");
  LoadOptions options;
  options.threads = threads.value_or(0);
  if (options.threads < 0)
    throw nb::value_error(("threads=" + std::to_string(options.threads) +
                           ": want how many work on a call, or None or 0 for "
                           "as many as may run")
                              .c_str());
  options.check = check;
  options.precision = precision.value_or("");
  options.arenaLimit = memoryLimit.value_or(options.arenaLimit);
  return options;
}

void corten::bindings::bindEngine(nb::module_ &module) {
  bindViews(module);
  bindStates(module);
  bindStep(module);
  bindPendingCall(module);
  bindFunction(module);
  bindModel(module);

  module.def(
      "load_model",
      [](const std::string &path, std::optional<int> threads,
         std::optional<bool> check, const std::optional<std::string> &precision,
         bool withMetalKernels, std::optional<size_t> memoryLimit,
         const std::string &asset, const std::string &weights,
         const TiedPairs &tied) {
        WithoutGil unlock;
        auto options = optionsOf(threads, check, precision, memoryLimit);
        options.assetPath = asset;
        if (withMetalKernels)
          options.foreign = metalKernels();
        LoadedModel loaded = bindings::unwrap(
            loadForEngine(path, options, weightSource(weights, tied)));
        return std::pair(
            std::make_shared<Engine>(std::move(loaded.model), path),
            std::move(loaded.warnings));
      },
      nb::arg("path"), nb::arg("threads").none(), nb::arg("check").none(),
      nb::arg("precision").none() = nb::none(),
      nb::arg("metal_kernels") = false,
      nb::arg("memory_limit").none() = nb::none(), nb::arg("asset") = "",
      nb::arg("weights") = "", nb::arg("tied") = TiedPairs(),
      "A model, and warnings. Raises ValueError.");
  module.def(
      "compile_model",
      [](corten::Model &model, std::optional<int> threads,
         std::optional<bool> check, const std::optional<std::string> &precision,
         std::optional<size_t> memoryLimit) {
        return std::make_shared<Engine>(
            bindings::unwrap(loadForEngine(
                model, optionsOf(threads, check, precision, memoryLimit))),
            model.path());
      },
      nb::arg("model"), nb::arg("threads").none(), nb::arg("check").none(),
      nb::arg("precision").none() = nb::none(),
      nb::arg("memory_limit").none() = nb::none(), nb::call_guard<WithoutGil>(),
      "Raises ValueError.");
  module.def(
      "compile_received",
      [](ReceivedModule &received, std::optional<int> threads,
         std::optional<bool> check, const std::optional<std::string> &precision,
         std::optional<size_t> memoryLimit) {
        return std::make_shared<Engine>(
            bindings::unwrap(loadForEngine(
                *received.module,
                optionsOf(threads, check, precision, memoryLimit))),
            std::string());
      },
      nb::arg("received"), nb::arg("threads").none(), nb::arg("check").none(),
      nb::arg("precision").none() = nb::none(),
      nb::arg("memory_limit").none() = nb::none(), nb::call_guard<WithoutGil>(),
      "Raises ValueError.");
  module.def(
      "compile_watched",
      [](ReceivedModule &received, const std::string &graph,
         const std::vector<uint64_t> &ops, std::optional<int> threads,
         const std::optional<std::string> &precision) {
        WatchedModel watched = bindings::unwrap(
            loadWatched(*received.module, graph, ops,
                        optionsOf(threads, std::nullopt, precision)));
        std::vector<std::tuple<uint64_t, unsigned, std::string>> values;
        values.reserve(watched.values.size());
        for (WatchedValue &value : watched.values)
          values.emplace_back(value.op, value.result, std::move(value.output));
        return std::pair(
            std::make_shared<Engine>(std::move(watched.model), std::string()),
            std::move(values));
      },
      nb::arg("received"), nb::arg("graph"), nb::arg("ops"),
      nb::arg("threads").none(), nb::arg("precision").none() = nb::none(),
      nb::call_guard<WithoutGil>(),
      "A model with results of these ops as further outputs: op, result, name "
      "of the output. Raises ValueError.");
}
