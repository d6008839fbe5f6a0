// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Converts programs that contradict themselves. The input is the JSON of a
// program, as it stands in a `.pt2` archive; whatever weights it names exist.
// What can be read is lowered, verified and written as an asset into memory.
// The last byte, which is white space to JSON, says what comes before that: a
// blank that the program is optimized, a newline that it is compiled for the
// engine, a tab both.
//
// Mutations keep the form of the file, so that most of what they make gets as
// far as a lowering: they change numbers and types, move and exchange parts of
// one kind, and make up calls of other operators from their schemas.

#include "corten/Asset/Asset.h"
#include "corten/Asset/Translation.h"
#include "corten/Compiler/Compiler.h"
#include "corten/Conversion/AtenToCoreAI/Attach.h"
#include "corten/Transforms/Simplification.h"

#include "GraphReader.h"
#include "SchemaTable.h"

#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdint>
#include <limits>
#include <random>
#include <string>

using namespace corten;
using namespace corten::pt2;
using llvm::StringRef;
namespace json = llvm::json;

extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t maxSize);

//===----------------------------------------------------------------------===//
// A conversion
//===----------------------------------------------------------------------===//

/// No weight of a seed is larger.
static constexpr size_t kMaxWeightBytes = 1 << 16;

/// Each of them at the end of a program asks for another way on.
static constexpr StringRef kWays = "} \n\t";

/// As `corten optimize` does; false where that fails.
static bool optimize(mlir::ModuleOp module) {
  SimplificationOptions options;
  options.keepMarked = true;
  mlir::PassManager passes(module.getContext());
  buildSimplificationPipeline(passes, options);
  return mlir::succeeded(passes.run(module));
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  std::string text(reinterpret_cast<const char *>(bytes), size);
  llvm::Expected<std::unique_ptr<Program>> program =
      readGraph(text, kMaxWeightBytes, [](const Operator &op) {
        return hasLowering(op.nameSpace, op.name);
      });
  if (!program) {
    llvm::consumeError(program.takeError());
    return 0;
  }
  if (!findUnsupported(**program).empty())
    return 0;
  EntryPoint entryPoint;
  entryPoint.program = program->get();
  llvm::Expected<std::unique_ptr<ConvertedModule>> result =
      convert(entryPoint, ConversionOptions());
  if (!result) {
    // Whatever is wrong with a program has a message.
    if (llvm::toString(result.takeError()).empty())
      std::abort();
    return 0;
  }
  std::unique_ptr<ConvertedModule> converted = std::move(*result);
  attachLocations(*converted);
  attachWeights(*converted);
  mlir::DialectRegistry registry;
  registerAssetDialects(registry);
  registerCompilerDialects(registry);
  converted->context->appendDialectRegistry(registry);
  converted->context->loadAllAvailableDialects();
  mlir::ScopedDiagnosticHandler silence(converted->context.get());
  char way = text.back();
  if ((way == ' ' || way == '\t') && !optimize(*converted->module))
    return 0;
  if (way == '\n' || way == '\t')
    llvm::consumeError(compileProgram(*converted->module).takeError());
  auto code = exportProgram(*converted->module);
  if (mlir::succeeded(code)) {
    llvm::raw_null_ostream nowhere;
    llvm::consumeError(writeCode(**code, nowhere));
  }
  return 0;
}

//===----------------------------------------------------------------------===//
// Mutations
//===----------------------------------------------------------------------===//

namespace {
/// Changes a program at random places.
class Mutator {
public:
  Mutator(json::Value &program, unsigned seed)
      : program(program), random(seed) {}

  void mutate() {
    for (unsigned count = 1 + below(3); count > 0; --count) {
      collect();
      if (places.empty())
        return;
      mutateOnce();
    }
  }

private:
  /// A value with the name that it stands under; elements of an array have the
  /// name of the array.
  struct Place {
    json::Value *value;
    std::string name;
  };

  unsigned below(size_t bound) {
    return bound == 0 ? 0 : static_cast<unsigned>(random() % bound);
  }
  template <typename Range> const auto &pick(const Range &range) {
    return range[below(std::size(range))];
  }

  void collect();
  void collect(json::Value &value, StringRef name);
  void mutateOnce();
  void changeNumber();
  void changeList();
  void exchange();
  void replaceArgument();
  void changeType();
  void changeShape();
  void changeCall();
  int64_t number(int64_t old);
  json::Value argument();
  json::Value argumentFor(const ParameterType &type);
  json::Object tensor();

  /// All places of one name; null if there is none.
  json::Value *any(StringRef name) {
    llvm::SmallVector<json::Value *> found;
    for (const Place &place : places)
      if (place.name == name)
        found.push_back(place.value);
    return found.empty() ? nullptr : pick(found);
  }

  json::Value &program;
  std::minstd_rand random;
  std::vector<Place> places;
  /// Names of tensors.
  std::vector<std::string> tensors;
};
} // namespace

void Mutator::collect(json::Value &value, StringRef name) {
  places.push_back({&value, name.str()});
  if (json::Array *array = value.getAsArray())
    for (json::Value &element : *array)
      collect(element, name);
  if (json::Object *object = value.getAsObject())
    for (auto &[key, member] : *object) {
      if (name == "tensor_values")
        tensors.push_back(key.str());
      collect(member, name == "tensor_values" ? "meta" : StringRef(key));
    }
}

void Mutator::collect() {
  places.clear();
  tensors.clear();
  collect(program, "");
}

int64_t Mutator::number(int64_t old) {
  static constexpr int64_t kNumbers[] = {0,
                                         1,
                                         -1,
                                         2,
                                         -2,
                                         3,
                                         4,
                                         7,
                                         16,
                                         -7,
                                         1000,
                                         65536,
                                         1 << 30,
                                         std::numeric_limits<int32_t>::max(),
                                         std::numeric_limits<int32_t>::min(),
                                         int64_t{1} << 32,
                                         int64_t{1} << 62,
                                         std::numeric_limits<int64_t>::max(),
                                         std::numeric_limits<int64_t>::min()};
  switch (below(4)) {
  case 0:
    return static_cast<int64_t>(static_cast<uint64_t>(old) + 1);
  case 1:
    return static_cast<int64_t>(static_cast<uint64_t>(old) - 1);
  default:
    return pick(kNumbers);
  }
}

void Mutator::changeNumber() {
  llvm::SmallVector<json::Value *> numbers;
  for (const Place &place : places)
    if (place.value->kind() == json::Value::Number ||
        place.value->kind() == json::Value::Boolean)
      numbers.push_back(place.value);
  if (numbers.empty())
    return;
  json::Value &value = *pick(numbers);
  if (std::optional<bool> flag = value.getAsBoolean())
    value = !*flag;
  else if (std::optional<int64_t> integer = value.getAsInteger())
    value = number(*integer);
  else
    value = static_cast<double>(number(0)) * 0.5;
}

/// Removes, repeats or exchanges elements.
void Mutator::changeList() {
  llvm::SmallVector<json::Array *> arrays;
  for (const Place &place : places)
    if (json::Array *array = place.value->getAsArray();
        array && !array->empty())
      arrays.push_back(array);
  if (arrays.empty())
    return;
  json::Array &array = *pick(arrays);
  size_t at = below(array.size());
  switch (below(3)) {
  case 0:
    array.erase(array.begin() + at);
    break;
  case 1: {
    json::Value copy = array[at];
    array.insert(array.begin() + below(array.size() + 1), std::move(copy));
    break;
  }
  default:
    std::swap(array[at], array[below(array.size())]);
  }
}

/// Puts a copy of one part into the place of another of its kind.
void Mutator::exchange() {
  const Place &place = pick(places);
  if (json::Value *other = any(place.name); other && other != place.value) {
    json::Value copy = *other;
    *place.value = std::move(copy);
  }
}

json::Object Mutator::tensor() {
  return json::Object{{"name", tensors.empty() ? "x" : pick(tensors)}};
}

json::Value Mutator::argument() {
  switch (below(9)) {
  case 0:
    return json::Object{{"as_none", true}};
  case 1:
    return json::Object{{"as_int", number(0)}};
  case 2:
    return json::Object{{"as_float", static_cast<double>(number(0)) * 0.5}};
  case 3:
    return json::Object{{"as_bool", below(2) == 0}};
  case 4: {
    json::Array list;
    for (unsigned count = below(5); count > 0; --count)
      list.push_back(below(3) ? int64_t{below(3)} : number(0));
    return json::Object{{"as_ints", std::move(list)}};
  }
  case 5: {
    json::Array list;
    for (unsigned count = below(4); count > 0; --count)
      list.push_back(tensor());
    return json::Object{{"as_tensors", std::move(list)}};
  }
  case 6:
    return json::Object{{"as_scalar_type", int64_t{below(40)}}};
  case 7:
    if (json::Value *symbol = any("as_sym_int"))
      return json::Object{{"as_sym_int", *symbol}};
    [[fallthrough]];
  default:
    return json::Object{{"as_tensor", tensor()}};
  }
}

void Mutator::replaceArgument() {
  if (json::Value *place = any("arg"))
    *place = argument();
}

void Mutator::changeType() {
  if (json::Value *place = any("dtype"))
    *place = int64_t{below(40)};
}

/// Of a tensor: another rank or extent, also where a signature or a weight says
/// the same.
void Mutator::changeShape() {
  json::Value *meta = any("meta");
  json::Object *object = meta ? meta->getAsObject() : nullptr;
  json::Array *sizes = object ? object->getArray("sizes") : nullptr;
  json::Array *strides = object ? object->getArray("strides") : nullptr;
  if (!sizes || !strides)
    return;
  json::Value extent = json::Object{
      {"as_int", below(4) ? int64_t{below(6)} : std::abs(number(1) / 2)}};
  if (json::Value *symbol = any("as_expr"); symbol && below(4) == 0)
    extent = json::Object{{"as_expr", *symbol}};
  unsigned at = below(sizes->size() + 1);
  switch (below(3)) {
  case 0:
    sizes->insert(sizes->begin() + at, std::move(extent));
    strides->push_back(json::Object{{"as_int", 1}});
    break;
  case 1:
    if (at < sizes->size())
      sizes->erase(sizes->begin() + at);
    if (!strides->empty())
      strides->pop_back();
    break;
  default:
    if (at < sizes->size())
      (*sizes)[at] = std::move(extent);
  }
}

json::Value Mutator::argumentFor(const ParameterType &type) {
  using Base = ParameterType::Base;
  auto one = [&]() -> json::Value {
    switch (type.base) {
    case Base::Tensor:
      return json::Object{{"as_tensor", tensor()}};
    case Base::Int:
      return json::Object{{"as_int", below(4) ? int64_t{below(4)} : number(0)}};
    case Base::Float:
    case Base::Scalar:
      return json::Object{{"as_float", 0.5 * below(5)}};
    case Base::Bool:
      return json::Object{{"as_bool", below(2) == 0}};
    case Base::DType:
      return json::Object{{"as_scalar_type", int64_t{below(14)}}};
    case Base::String:
      return json::Object{{"as_string", "none"}};
    case Base::Opaque:
    case Base::Any:
      return json::Object{{"as_none", true}};
    }
    llvm_unreachable("covered switch");
  };
  if (!type.isList)
    return one();
  StringRef list = type.base == Base::Tensor  ? "as_tensors"
                   : type.base == Base::Int   ? "as_ints"
                   : type.base == Base::Float ? "as_floats"
                                              : "as_bools";
  json::Array elements;
  for (unsigned count = below(4); count > 0; --count)
    elements.push_back(std::move(one().getAsObject()->begin()->second));
  return json::Object{{list, std::move(elements)}};
}

/// Makes up a call of another operator.
void Mutator::changeCall() {
  static const std::vector<SupportedOperator> operators =
      supportedOperators(OperatorSet::All);
  const SupportedOperator &chosen = pick(operators);
  auto [nameSpace, name] = chosen.name.contains("::")
                               ? chosen.name.split("::")
                               : std::pair(StringRef("aten"), chosen.name);
  StringRef text = findSchema(nameSpace, name);
  json::Value *place = any("target");
  if (!place || text.empty())
    return;
  *place = ("torch.ops." + nameSpace + "." + name).str();
  ProgramBuilder builder;
  OperatorSchema schema = parseSchema(text, builder);
  json::Array inputs;
  for (auto [parameter, type] : llvm::zip(schema.parameters, schema.types))
    if (!parameter.hasDefault || below(2) == 0)
      inputs.push_back(
          json::Object{{"name", parameter.name}, {"arg", argumentFor(type)}});
  // The call that the target belongs to.
  for (const Place &call : places)
    if (json::Object *object = call.value->getAsObject();
        object && object->get("target") == place) {
      (*object)["inputs"] = std::move(inputs);
      return;
    }
}

void Mutator::mutateOnce() {
  switch (below(10)) {
  case 0:
  case 1:
    return changeNumber();
  case 2:
    return changeList();
  case 3:
    return exchange();
  case 4:
    return replaceArgument();
  case 5:
    return changeType();
  case 6:
  case 7:
    return changeShape();
  default:
    return changeCall();
  }
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size,
                                          size_t maxSize, unsigned seed) {
  constexpr unsigned kPlainMutations = 20;
  llvm::Expected<json::Value> program =
      json::parse({reinterpret_cast<const char *>(data), size});
  if (!program || seed % kPlainMutations == 0) {
    if (!program)
      llvm::consumeError(program.takeError());
    return LLVMFuzzerMutate(data, size, maxSize);
  }
  Mutator(*program, seed).mutate();
  std::string text;
  llvm::raw_string_ostream(text) << *program;
  if (char way = kWays[seed % kWays.size()]; way != '}')
    text += way;
  if (text.size() > maxSize)
    return LLVMFuzzerMutate(data, size, maxSize);
  llvm::copy(text, data);
  return text.size();
}
