// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Places of tensors, writes to them, and the nodes that new values take.

#include "Functionalizer.h"
#include "Views.h"

#include "corten/Program/Axis.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace corten;
using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::StringRef;
using llvm::Twine;

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

/// The place of a tensor; the first question for one makes it memory of its
/// own.
unsigned Functionalizer::placeOf(const Node *node) {
  auto [entry, isNew] = placeOfNode.try_emplace(node, places.size());
  if (isNew) {
    Memory memory;
    memory.value = node;
    if (node->kind == Node::Kind::Placeholder)
      memory.placeholder = node;
    Place place;
    place.memory = memories.size();
    place.value = node;
    memories.push_back(memory);
    places.push_back(place);
  }
  return entry->second;
}

unsigned Functionalizer::addView(unsigned base, const Node *view, size_t piece,
                                 const Node *value) {
  Place place;
  place.memory = places[base].memory;
  place.base = base;
  place.view = view;
  place.piece = piece;
  place.value = value;
  place.version = memories[place.memory].version;
  places.push_back(place);
  return places.size() - 1;
}

/// The value of a place after all writes so far.
const Node *Functionalizer::current(unsigned index) {
  const Memory &memory = memories[places[index].memory];
  // From the view down to what is known; a loop, since there may be many.
  SmallVector<unsigned> outdated;
  std::optional<unsigned> place = index;
  for (; place && places[*place].version != memory.version;
       place = places[*place].base)
    outdated.push_back(*place);
  const Node *value = place ? places[*place].value : memory.value;
  for (unsigned each : llvm::reverse(outdated)) {
    if (places[each].base)
      value = &applyAgain(places[each], value);
    places[each].value = value;
    places[each].version = memory.version;
  }
  return value;
}

/// Writes `value` to the place of `target`.
bool Functionalizer::write(const Node *by, const Node *target,
                           const Node *value) {
  unsigned index = placeOf(target);
  Memory &memory = memories[places[index].memory];
  if (memory.unknownView)
    return fail(*by, "writes to memory that '" + memory.unknownView->name +
                         "' (" + memory.unknownView->callee->printedName() +
                         ") also refers to");
  unsigned version = memory.version + 1;
  // The wholes are read before the version changes.
  SmallVector<std::pair<unsigned, const Node *>> written = {{index, value}};
  while (places[index].base) {
    unsigned base = *places[index].base;
    Place part = places[index];
    value = replacePart(by, part, current(base), value);
    if (!value)
      return false;
    index = base;
    written.push_back({index, value});
  }
  memory.value = value;
  memory.version = version;
  for (auto [place, newValue] : written) {
    places[place].value = newValue;
    places[place].version = version;
  }
  return true;
}

/// The value of `part`'s base, `whole`, with the part replaced by `value`; null
/// with the obstacle set if that cannot be expressed.
const Node *Functionalizer::replacePart(const Node *by, const Place &part,
                                        const Node *whole, const Node *value) {
  const Node &view = *part.view;
  const ValueInfo &info = whole->info();
  int64_t rank = info.sizes.size();
  Argument self = Argument::node(whole), source = Argument::node(value);
  auto number = [](int64_t value) { return Argument::integer(value); };
  auto scatterSlice = [&](Argument dim, Argument start, Argument end,
                          Argument step) -> const Node * {
    return &create(*by, "slice_scatter.default",
                   {{"self", self},
                    {"src", source},
                    {"dim", dim},
                    {"start", start},
                    {"end", end},
                    {"step", step}},
                   info);
  };
  auto scatterSelected = [&](Argument index) -> const Node * {
    return &create(*by, "select_scatter.default",
                   {{"self", self},
                    {"src", source},
                    {"dim", view.argument("dim")},
                    {"index", index}},
                   info);
  };
  auto refuse = [&](const Twine &reason) -> const Node * {
    fail(*by, "writes through '" + view.name + "' (" +
                  view.callee->printedName() + ")" + reason);
    return nullptr;
  };

  switch (viewKindOf(*view.callee)) {
  case ViewKind::Whole:
    return value;
  case ViewKind::Reshape:
    return &create(*by, "reshape_as.default",
                   {{"self", source}, {"other", self}}, info);
  case ViewKind::Permute: {
    std::optional<SmallVector<int64_t>> order = permutationOf(view, rank);
    if (!order)
      return refuse(", which permutes no tensor of rank " + Twine(rank));
    SmallVector<int64_t> inverse(rank);
    for (auto [to, from] : llvm::enumerate(*order))
      inverse[from] = static_cast<int64_t>(to);
    return &create(
        *by, "permute.default",
        {{"self", source}, {"dims", Argument::list(integers(inverse))}}, info);
  }
  case ViewKind::Slice:
    return scatterSlice(view.argument("dim"), view.argument("start"),
                        view.argument("end"), view.argument("step"));
  case ViewKind::Narrow: {
    const Argument &start = view.argument("start");
    const Argument &length = view.argument("length");
    if (!start.isInt() || !length.isInt() || start.asInt() < 0)
      return refuse(" at a symbolic place");
    int64_t end = 0;
    if (llvm::AddOverflow(start.asInt(), length.asInt(), end))
      return refuse(" beyond all memory");
    return scatterSlice(view.argument("dim"), start, number(end), number(1));
  }
  case ViewKind::Select:
    return scatterSelected(view.argument("index"));
  case ViewKind::Unbind:
    return scatterSelected(number(static_cast<int64_t>(part.piece)));
  case ViewKind::Split: {
    const Argument &dim = view.argument("dim");
    if (!dim.isInt())
      return refuse(" along a symbolic axis");
    std::optional<size_t> axis = positionOf(dim.asInt(), info.sizes.size());
    int64_t start = 0, end = 0;
    for (const ValueInfo &piece : view.results.take_front(part.piece + 1)) {
      if (!axis || piece.sizes.size() != info.sizes.size())
        return refuse(" into parts of another rank");
      if (piece.sizes[*axis].isDynamic())
        return refuse(" into parts of symbolic size");
      start = end;
      if (llvm::AddOverflow(start, piece.sizes[*axis].get(), end))
        return refuse(" beyond all memory");
    }
    return scatterSlice(number(static_cast<int64_t>(*axis)), number(start),
                        number(end), number(1));
  }
  case ViewKind::Diagonal:
    return &create(*by, "diagonal_scatter.default",
                   {{"self", self},
                    {"src", source},
                    {"offset", view.argument("offset")},
                    {"dim1", view.argument("dim1")},
                    {"dim2", view.argument("dim2")}},
                   info);
  case ViewKind::RealPairs:
    return &create(*by, "view_as_complex.default", {{"self", source}}, info);
  case ViewKind::ComplexPairs:
    return &create(*by, "view_as_real.default", {{"self", source}}, info);
  case ViewKind::ReadOnly:
  case ViewKind::None:
    break;
  }
  return refuse("");
}

//===----------------------------------------------------------------------===//
// Nodes
//===----------------------------------------------------------------------===//

/// A call of an ATen operator on behalf of `like`.
Node &Functionalizer::create(const Node &like, StringRef name,
                             ArrayRef<std::pair<StringRef, Argument>> arguments,
                             ArrayRef<ValueInfo> results) {
  const Operator *&callee = operators[name];
  SmallVector<Argument> values;
  SmallVector<Parameter> parameters;
  for (const auto &[parameter, value] : arguments) {
    values.push_back(value);
    if (!callee)
      parameters.push_back({builder.save(parameter), false, {}});
  }
  if (!callee)
    callee = builder.addOperator("aten", name, parameters);
  Node &node = builder.addNode(graph, Node::Kind::Call,
                               uniqueName(name.split('.').first));
  node.callee = callee;
  node.arguments = builder.save(values);
  node.results = builder.save(results);
  node.stackTrace = like.stackTrace;
  node.module = like.module;
  rewritten.push_back(&node);
  return node;
}

Node &Functionalizer::createGetitem(const Node &like, const Node &tuple,
                                    size_t piece) {
  const Operator *&callee = operators["getitem"];
  if (!callee)
    callee = builder.addOperator("_operator", "getitem", {});
  Node &node = builder.addNode(graph, Node::Kind::Call, uniqueName("getitem"));
  node.callee = callee;
  node.arguments = builder.save(
      {Argument::node(&tuple), Argument::integer(static_cast<int64_t>(piece))});
  node.results = builder.save(tuple.results[piece]);
  node.stackTrace = like.stackTrace;
  node.module = like.module;
  rewritten.push_back(&node);
  return node;
}

/// The view operator of `place` on a new value of what it is a view of.
Node &Functionalizer::applyAgain(const Place &place, const Node *operand) {
  const Node &view = *place.view;
  SmallVector<Argument> arguments(view.arguments);
  arguments[0] = Argument::node(operand);
  Node &again = builder.addNode(graph, Node::Kind::Call,
                                uniqueName(view.callee->name.split('.').first));
  again.callee = view.callee;
  again.arguments = builder.save(arguments);
  again.results = view.results;
  again.returnsTuple = view.returnsTuple;
  again.stackTrace = view.stackTrace;
  again.module = view.module;
  rewritten.push_back(&again);
  return view.returnsTuple ? createGetitem(view, again, place.piece) : again;
}

ArrayRef<Argument> Functionalizer::integers(ArrayRef<int64_t> values) {
  SmallVector<Argument> arguments;
  for (int64_t value : values)
    arguments.push_back(Argument::integer(value));
  return builder.save(arguments);
}

StringRef Functionalizer::uniqueName(StringRef base) {
  // Names are never given back, so that none before the last is free.
  unsigned &suffix = lastSuffix[base];
  std::string name = base.str();
  while (!names.insert(name).second)
    name = (base + "_" + Twine(++suffix)).str();
  return builder.save(StringRef(name));
}
