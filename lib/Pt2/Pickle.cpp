// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Pickle.h"

#include "Archive.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/Endian.h"

#include <deque>

using namespace corten;
using namespace corten::pt2;
using llvm::ArrayRef;
using llvm::StringRef;
using llvm::Twine;

static llvm::Error fail(const Twine &what) {
  return llvm::createStringError("pickle: " + what);
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

namespace {
/// Something on the stack of a pickle.
struct Value {
  enum class Kind : uint8_t {
    None,
    Bool,
    Int,
    Float,
    String,
    /// A tuple or a list.
    Sequence,
    /// Children are key, value, key, value.
    Dict,
    /// A name of Python's, as "module.name".
    Global,
    Storage,
    Tensor,
    /// What nobody asks for: sets, bytes, attributes of containers.
    Other,
  };
  Kind kind = Kind::None;
  int64_t integer = 0;
  double floating = 0;
  /// Of a string or a global.
  std::string text;
  std::vector<Value *> children;
  /// Of a tensor; of a storage only the type and the storage.
  SavedTensor tensor;
  /// Of a storage: it has no type of its own.
  bool isUntyped = false;
};
using Kind = Value::Kind;

/// The machine that a pickle is for.
class Unpickler {
public:
  Unpickler(StringRef code, const TorchArchive &archive)
      : code(code), archive(archive) {}

  llvm::Expected<const Value *> run();

private:
  enum class Step : uint8_t { Next, Stop };
  llvm::Expected<Step> step(unsigned char opcode);

  // Reading code.
  llvm::Expected<StringRef> take(uint64_t size);
  template <typename T> llvm::Expected<T> number();
  template <typename Length> llvm::Error pushText(Kind kind);
  llvm::Expected<StringRef> line();

  // The stack.
  Value &make(Kind kind) {
    values.emplace_back().kind = kind;
    return values.back();
  }
  void push(Value &value) { stack.push_back(&value); }
  llvm::Expected<Value *> pop();
  llvm::Expected<Value *> top();
  /// What lies above the last mark, and the mark, come off.
  llvm::Expected<std::vector<Value *>> popMark();

  llvm::Error pushInteger(int64_t value);
  llvm::Error pushSequence(size_t size);
  llvm::Error pushLong(uint64_t size);
  llvm::Error pushGlobal(StringRef module, StringRef name);
  llvm::Error append(ArrayRef<Value *> items, Kind kind);
  llvm::Error memoize(uint64_t key);
  llvm::Error recall(uint64_t key);
  llvm::Error pushStorage();
  llvm::Error reduce();
  llvm::Error rebuildTensor(const Value &arguments, bool hasType);
  llvm::Error rebuildMetaTensor(const Value &arguments);

  StringRef code;
  const TorchArchive &archive;
  std::deque<Value> values;
  std::vector<Value *> stack;
  std::vector<size_t> marks;
  llvm::DenseMap<uint64_t, Value *> memo;
};
} // namespace

//===----------------------------------------------------------------------===//
// The machine
//===----------------------------------------------------------------------===//

llvm::Expected<StringRef> Unpickler::take(uint64_t size) {
  if (size > code.size())
    return fail("cut off");
  StringRef taken = code.take_front(size);
  code = code.drop_front(size);
  return taken;
}

template <typename T> llvm::Expected<T> Unpickler::number() {
  llvm::Expected<StringRef> bytes = take(sizeof(T));
  if (!bytes)
    return bytes.takeError();
  return llvm::support::endian::read<T, llvm::endianness::little>(
      bytes->data());
}

llvm::Expected<StringRef> Unpickler::line() {
  auto [first, rest] = code.split('\n');
  if (first.size() == code.size())
    return fail("cut off");
  code = rest;
  return first;
}

template <typename Length> llvm::Error Unpickler::pushText(Kind kind) {
  llvm::Expected<Length> length = number<Length>();
  if (!length)
    return length.takeError();
  llvm::Expected<StringRef> text = take(*length);
  if (!text)
    return text.takeError();
  Value &value = make(kind);
  if (kind == Kind::String)
    value.text = text->str();
  push(value);
  return llvm::Error::success();
}

llvm::Expected<Value *> Unpickler::top() {
  size_t floor = marks.empty() ? 0 : marks.back();
  if (stack.size() <= floor)
    return fail("takes more from its stack than is there");
  return stack.back();
}

llvm::Expected<Value *> Unpickler::pop() {
  llvm::Expected<Value *> value = top();
  if (value)
    stack.pop_back();
  return value;
}

llvm::Expected<std::vector<Value *>> Unpickler::popMark() {
  if (marks.empty())
    return fail("has no mark where one is needed");
  std::vector<Value *> items(stack.begin() + marks.back(), stack.end());
  stack.resize(marks.back());
  marks.pop_back();
  return items;
}

llvm::Error Unpickler::pushInteger(int64_t value) {
  Value &made = make(Kind::Int);
  made.integer = value;
  push(made);
  return llvm::Error::success();
}

llvm::Error Unpickler::pushSequence(size_t size) {
  Value &made = make(Kind::Sequence);
  made.children.resize(size);
  for (Value *&child : llvm::reverse(made.children)) {
    llvm::Expected<Value *> item = pop();
    if (!item)
      return item.takeError();
    child = *item;
  }
  push(made);
  return llvm::Error::success();
}

/// A number in two's complement of any length; those of tensors fit.
llvm::Error Unpickler::pushLong(uint64_t size) {
  llvm::Expected<StringRef> bytes = take(size);
  if (!bytes)
    return bytes.takeError();
  if (bytes->size() > 8)
    return fail("a number of more than 64 bits");
  uint64_t bits = !bytes->empty() && (bytes->back() & 0x80) ? ~uint64_t{0} : 0;
  for (char c : llvm::reverse(*bytes))
    bits = bits << 8 | static_cast<unsigned char>(c);
  return pushInteger(static_cast<int64_t>(bits));
}

llvm::Error Unpickler::pushGlobal(StringRef module, StringRef name) {
  // Names that repeat a long string must not add up.
  constexpr size_t kMaxName = 1024;
  if (module.size() + name.size() > kMaxName)
    return fail("a name of more than " + Twine(kMaxName) + " characters");
  Value &made = make(Kind::Global);
  made.text = (module + "." + name).str();
  push(made);
  return llvm::Error::success();
}

/// Adds to the container on top.
llvm::Error Unpickler::append(ArrayRef<Value *> items, Kind kind) {
  llvm::Expected<Value *> container = top();
  if (!container)
    return container.takeError();
  if ((*container)->kind != kind && (*container)->kind != Kind::Other)
    return fail("adds to something that is no container");
  if (kind == Kind::Dict && items.size() % 2 != 0)
    return fail("a key without a value");
  llvm::append_range((*container)->children, items);
  return llvm::Error::success();
}

llvm::Error Unpickler::memoize(uint64_t key) {
  llvm::Expected<Value *> value = top();
  if (!value)
    return value.takeError();
  // The two largest numbers mean something to the map.
  if (key >= llvm::DenseMapInfo<uint64_t>::getTombstoneKey())
    return fail("a number of more than 32 bits in its memo");
  memo[key] = *value;
  return llvm::Error::success();
}

llvm::Error Unpickler::recall(uint64_t key) {
  auto found = memo.find(key);
  if (found == memo.end())
    return fail("recalls what it has not seen");
  stack.push_back(found->second);
  return llvm::Error::success();
}

/// ('storage', type, key, device, number of elements) becomes a storage.
llvm::Error Unpickler::pushStorage() {
  llvm::Expected<Value *> id = pop();
  if (!id)
    return id.takeError();
  ArrayRef<Value *> fields = (*id)->children;
  if ((*id)->kind != Kind::Sequence || fields.size() < 3 ||
      fields[0]->text != "storage" || fields[1]->kind != Kind::Global ||
      fields[2]->kind != Kind::String)
    return fail("a reference to something that is no storage");
  Value &made = make(Kind::Storage);
  StringRef type = fields[1]->text;
  std::optional<ScalarType> dtype =
      llvm::StringSwitch<std::optional<ScalarType>>(type)
          .Case("torch.FloatStorage", ScalarType::Float32)
          .Case("torch.DoubleStorage", ScalarType::Float64)
          .Case("torch.HalfStorage", ScalarType::Float16)
          .Case("torch.BFloat16Storage", ScalarType::BFloat16)
          .Case("torch.LongStorage", ScalarType::Int64)
          .Case("torch.IntStorage", ScalarType::Int32)
          .Case("torch.ShortStorage", ScalarType::Int16)
          .Case("torch.CharStorage", ScalarType::Int8)
          .Case("torch.ByteStorage", ScalarType::UInt8)
          .Case("torch.BoolStorage", ScalarType::Bool)
          .Case("torch.ComplexFloatStorage", ScalarType::Complex64)
          .Case("torch.ComplexDoubleStorage", ScalarType::Complex128)
          .Default(std::nullopt);
  made.isUntyped = type == "torch.storage.UntypedStorage";
  if (!dtype && !made.isUntyped)
    return fail("a storage of the unknown type " + type);
  if (dtype)
    made.tensor.dtype = *dtype;
  llvm::Expected<Bytes> data = archive.read("data/" + fields[2]->text);
  if (!data)
    return data.takeError();
  made.tensor.storage = std::move(*data);
  push(made);
  return llvm::Error::success();
}

/// Of a tensor; torch has the same limit.
static constexpr size_t kMaxRank = 64;

static bool readNumbers(const Value &value, llvm::SmallVector<int64_t> &out) {
  if (value.kind != Kind::Sequence || value.children.size() > kMaxRank)
    return false;
  for (const Value *child : value.children) {
    if (child->kind != Kind::Int)
      return false;
    out.push_back(child->integer);
  }
  return true;
}

/// (storage, offset, size, stride, requires_grad, hooks[, dtype], ...)
llvm::Error Unpickler::rebuildTensor(const Value &arguments, bool hasType) {
  ArrayRef<Value *> fields = arguments.children;
  Value &made = make(Kind::Tensor);
  SavedTensor &tensor = made.tensor;
  if (fields.size() < (hasType ? 7U : 4U) || fields[0]->kind != Kind::Storage ||
      fields[1]->kind != Kind::Int || !readNumbers(*fields[2], tensor.shape) ||
      !readNumbers(*fields[3], tensor.strides))
    return fail("a tensor without storage, shape or strides");
  tensor.dtype = fields[0]->tensor.dtype;
  tensor.storage = fields[0]->tensor.storage;
  tensor.offset = fields[1]->integer;
  if (hasType) {
    std::optional<ScalarType> dtype = scalarTypeFromName(fields[6]->text);
    if (fields[6]->kind != Kind::Global || !dtype)
      return fail("a tensor of the unknown type " + fields[6]->text);
    tensor.dtype = *dtype;
  } else if (fields[0]->isUntyped) {
    return fail("a tensor without a type");
  }
  push(made);
  return llvm::Error::success();
}

/// (dtype, size, stride, requires_grad): a tensor of the meta device.
llvm::Error Unpickler::rebuildMetaTensor(const Value &arguments) {
  ArrayRef<Value *> fields = arguments.children;
  Value &made = make(Kind::Tensor);
  SavedTensor &tensor = made.tensor;
  if (fields.size() < 3 || fields[0]->kind != Kind::Global ||
      !readNumbers(*fields[1], tensor.shape) ||
      !readNumbers(*fields[2], tensor.strides))
    return fail("a tensor without type, shape or strides");
  std::optional<ScalarType> dtype = scalarTypeFromName(fields[0]->text);
  if (!dtype)
    return fail("a tensor of the unknown type " + fields[0]->text);
  tensor.dtype = *dtype;
  tensor.hasData = false;
  push(made);
  return llvm::Error::success();
}

/// The call of a function: only of those that make a tensor or a container.
llvm::Error Unpickler::reduce() {
  llvm::Expected<Value *> arguments = pop();
  if (!arguments)
    return arguments.takeError();
  llvm::Expected<Value *> callee = pop();
  if (!callee)
    return callee.takeError();
  if ((*callee)->kind != Kind::Global || (*arguments)->kind != Kind::Sequence)
    return fail("a call of something that is no function");
  StringRef name = (*callee)->text;
  ArrayRef<Value *> fields = (*arguments)->children;
  if (name == "torch._utils._rebuild_tensor_v2")
    return rebuildTensor(**arguments, /*hasType=*/false);
  if (name == "torch._utils._rebuild_tensor_v3")
    return rebuildTensor(**arguments, /*hasType=*/true);
  if (name == "torch._utils._rebuild_meta_tensor_no_storage")
    return rebuildMetaTensor(**arguments);
  if (name == "torch._utils._rebuild_parameter" ||
      name == "torch._utils._rebuild_parameter_with_state") {
    if (fields.empty() || fields[0]->kind != Kind::Tensor)
      return fail("a parameter without a tensor");
    push(*fields[0]);
    return llvm::Error::success();
  }
  if (name == "collections.OrderedDict" && fields.empty()) {
    push(make(Kind::Dict));
    return llvm::Error::success();
  }
  if (name == "torch.Size" && fields.size() == 1 &&
      fields[0]->kind == Kind::Sequence) {
    push(*fields[0]);
    return llvm::Error::success();
  }
  if (name == "torch.device") {
    push(make(Kind::Other));
    return llvm::Error::success();
  }
  return fail("refers to the Python object " + name +
              ", which is not a plain tensor");
}

llvm::Expected<Unpickler::Step> Unpickler::step(unsigned char opcode) {
  auto done = [](llvm::Error error) -> llvm::Expected<Step> {
    if (error)
      return error;
    return Step::Next;
  };
  /// Continues with a number that is read from the code.
  auto with = [&]<typename T>(T, auto &&use) -> llvm::Expected<Step> {
    llvm::Expected<T> value = number<T>();
    return value ? done(use(*value)) : value.takeError();
  };
  auto constant = [&](Kind kind, int64_t value = 0) {
    Value &made = make(kind);
    made.integer = value;
    push(made);
    return Step::Next;
  };

  switch (opcode) {
  case 0x80: // PROTO
    return done(take(1).takeError());
  case 0x95: // FRAME
    return done(take(8).takeError());
  case '.': // STOP
    return Step::Stop;
  case '(': // MARK
    marks.push_back(stack.size());
    return Step::Next;
  case '0': // POP
    return done(pop().takeError());
  case '1': // POP_MARK
    return done(popMark().takeError());

  case 'N': // NONE
    return constant(Kind::None);
  case 0x88: // NEWTRUE
    return constant(Kind::Bool, 1);
  case 0x89: // NEWFALSE
    return constant(Kind::Bool, 0);
  case 'K': // BININT1
    return with(uint8_t(), [&](uint8_t value) { return pushInteger(value); });
  case 'M': // BININT2
    return with(uint16_t(), [&](uint16_t value) { return pushInteger(value); });
  case 'J': // BININT
    return with(int32_t(), [&](int32_t value) { return pushInteger(value); });
  case 0x8a: // LONG1
    return with(uint8_t(), [&](uint8_t size) { return pushLong(size); });
  case 0x8b: // LONG4
    return with(uint32_t(), [&](uint32_t size) { return pushLong(size); });
  case 'G': // BINFLOAT
    return with(uint64_t(), [&](uint64_t bits) {
      Value &made = make(Kind::Float);
      // The only number that has its first byte first.
      made.floating = llvm::bit_cast<double>(llvm::byteswap(bits));
      push(made);
      return llvm::Error::success();
    });
  case 'X': // BINUNICODE
    return done(pushText<uint32_t>(Kind::String));
  case 0x8c: // SHORT_BINUNICODE
    return done(pushText<uint8_t>(Kind::String));
  case 0x8d: // BINUNICODE8
    return done(pushText<uint64_t>(Kind::String));
  case 'B': // BINBYTES
    return done(pushText<uint32_t>(Kind::Other));
  case 'C': // SHORT_BINBYTES
    return done(pushText<uint8_t>(Kind::Other));

  case '}': // EMPTY_DICT
    return constant(Kind::Dict);
  case ']': // EMPTY_LIST
  case ')': // EMPTY_TUPLE
    return constant(Kind::Sequence);
  case 0x8f: // EMPTY_SET
    return constant(Kind::Other);
  case 0x85: // TUPLE1
  case 0x86: // TUPLE2
  case 0x87: // TUPLE3
    return done(pushSequence(opcode - 0x84));
  case 't':   // TUPLE
  case 'l': { // LIST
    llvm::Expected<std::vector<Value *>> items = popMark();
    if (!items)
      return items.takeError();
    Value &made = make(Kind::Sequence);
    made.children.assign(items->begin(), items->end());
    push(made);
    return Step::Next;
  }
  case 'a': { // APPEND
    llvm::Expected<Value *> item = pop();
    return item ? done(append(*item, Kind::Sequence)) : item.takeError();
  }
  case 's': { // SETITEM
    llvm::Expected<Value *> item = pop();
    if (!item)
      return item.takeError();
    llvm::Expected<Value *> key = pop();
    return key ? done(append({*key, *item}, Kind::Dict)) : key.takeError();
  }
  case 'e':    // APPENDS
  case 'u':    // SETITEMS
  case 0x90: { // ADDITEMS
    llvm::Expected<std::vector<Value *>> items = popMark();
    if (!items)
      return items.takeError();
    Kind kind = opcode == 'e'   ? Kind::Sequence
                : opcode == 'u' ? Kind::Dict
                                : Kind::Other;
    return done(append(*items, kind));
  }

  case 'q': // BINPUT
    return with(uint8_t(), [&](uint8_t key) { return memoize(key); });
  case 'r': // LONG_BINPUT
    return with(uint32_t(), [&](uint32_t key) { return memoize(key); });
  case 0x94: // MEMOIZE
    return done(memoize(memo.size()));
  case 'h': // BINGET
    return with(uint8_t(), [&](uint8_t key) { return recall(key); });
  case 'j': // LONG_BINGET
    return with(uint32_t(), [&](uint32_t key) { return recall(key); });

  case 'c': { // GLOBAL
    llvm::Expected<StringRef> module = line();
    if (!module)
      return module.takeError();
    llvm::Expected<StringRef> name = line();
    return name ? done(pushGlobal(*module, *name)) : name.takeError();
  }
  case 0x93: { // STACK_GLOBAL
    llvm::Expected<Value *> name = pop();
    if (!name)
      return name.takeError();
    llvm::Expected<Value *> module = pop();
    return module ? done(pushGlobal((*module)->text, (*name)->text))
                  : module.takeError();
  }
  case 'Q': // BINPERSID
    return done(pushStorage());
  case 'R': // REDUCE
    return done(reduce());
  case 'b': // BUILD: attributes of a container, such as `_metadata`.
    return done(pop().takeError());
  default:
    return fail("the instruction " + Twine(unsigned{opcode}) +
                ", which no saved tensor needs");
  }
}

llvm::Expected<const Value *> Unpickler::run() {
  for (;;) {
    llvm::Expected<StringRef> opcode = take(1);
    if (!opcode)
      return opcode.takeError();
    llvm::Expected<Step> next =
        step(static_cast<unsigned char>(opcode->front()));
    if (!next)
      return next.takeError();
    if (*next == Step::Stop)
      break;
  }
  llvm::Expected<Value *> result = pop();
  if (!result)
    return result.takeError();
  return *result;
}

//===----------------------------------------------------------------------===//
// Saved files
//===----------------------------------------------------------------------===//

/// Runs the pickle of a saved file and hands its value to `use`, after which it
/// is gone.
static llvm::Error
withSavedValue(const Bytes &file,
               llvm::function_ref<llvm::Error(const Value &)> use) {
  llvm::Expected<TorchArchive> archive = TorchArchive::open(file);
  if (!archive)
    return archive.takeError();
  llvm::Expected<Bytes> code = archive->read("data.pkl");
  if (!code)
    return code.takeError();
  Unpickler unpickler(code->data, *archive);
  llvm::Expected<const Value *> value = unpickler.run();
  return value ? use(**value) : value.takeError();
}

llvm::Expected<SavedTensors> pt2::readSavedTensors(const Bytes &file) {
  SavedTensors tensors;
  if (file.data.empty())
    return tensors;
  if (llvm::Error error =
          withSavedValue(file, [&](const Value &value) -> llvm::Error {
            if (value.kind != Kind::Dict)
              return fail("not a dictionary of tensors");
            for (size_t i = 0; i + 1 < value.children.size(); i += 2) {
              const Value &key = *value.children[i];
              const Value &item = *value.children[i + 1];
              if (key.kind == Kind::String && item.kind == Kind::Tensor)
                tensors.emplace_back(key.text, item.tensor);
            }
            return llvm::Error::success();
          }))
    return error;
  return tensors;
}

llvm::Expected<SavedTensor> pt2::readSavedTensor(const Bytes &file) {
  SavedTensor tensor;
  if (llvm::Error error =
          withSavedValue(file, [&](const Value &value) -> llvm::Error {
            if (value.kind != Kind::Tensor)
              return fail("not a tensor");
            tensor = value.tensor;
            return llvm::Error::success();
          }))
    return error;
  return tensor;
}

namespace {
/// Takes a value apart. Containers may hold themselves, or one another many
/// times over: what comes out is bounded.
class Leaves {
public:
  std::vector<SavedLeaf> found;

  llvm::Error collect(const Value &value) {
    constexpr size_t kMaxDepth = 64, kMaxValues = 4096, kMaxText = 4096;
    // Empty containers count as well: there may be no end of them.
    if (path.size() > kMaxDepth || ++visited > kMaxValues)
      return fail("more than " + Twine(kMaxValues) +
                  " values, or nested more than " + Twine(kMaxDepth) + " deep");
    if (value.text.size() > kMaxText)
      return fail("a text of more than " + Twine(kMaxText) + " characters");
    switch (value.kind) {
    case Kind::Sequence:
      for (auto [index, child] : llvm::enumerate(value.children))
        if (llvm::Error error = step("[" + Twine(index) + "]", *child))
          return error;
      return llvm::Error::success();
    case Kind::Dict:
      for (size_t i = 0; i + 1 < value.children.size(); i += 2)
        if (llvm::Error error =
                step(keyOf(*value.children[i]), *value.children[i + 1]))
          return error;
      return llvm::Error::success();
    case Kind::None:
      return add(std::monostate());
    case Kind::Bool:
      return add(value.integer != 0);
    case Kind::Int:
      return add(value.integer);
    case Kind::Float:
      return add(value.floating);
    case Kind::String:
      return add(value.text);
    case Kind::Tensor:
      return add(value.tensor);
    case Kind::Global:
    case Kind::Storage:
    case Kind::Other:
      return add(SavedObject{value.text});
    }
    llvm_unreachable("all kinds are listed");
  }

private:
  static std::string keyOf(const Value &key) {
    if (key.kind == Kind::Int)
      return ("[" + Twine(key.integer) + "]").str();
    return ("['" + StringRef(key.text).take_front(256) + "']").str();
  }

  llvm::Error step(const Twine &key, const Value &child) {
    path.push_back(key.str());
    llvm::Error error = collect(child);
    path.pop_back();
    return error;
  }

  template <typename T> llvm::Error add(T value) {
    found.push_back({path, std::move(value)});
    return llvm::Error::success();
  }

  std::vector<std::string> path;
  size_t visited = 0;
};
} // namespace

llvm::Expected<std::vector<SavedLeaf>> pt2::readSavedLeaves(const Bytes &file) {
  Leaves leaves;
  if (llvm::Error error = withSavedValue(
          file, [&](const Value &value) { return leaves.collect(value); }))
    return error;
  return std::move(leaves.found);
}
