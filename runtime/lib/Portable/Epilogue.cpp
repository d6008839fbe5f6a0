// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Epilogue.h"

#include "../Tile/TileCode.h"
#include "Portable.h"

using namespace corten::runtime;

/// Only narrows to the type of the output.
static const TileProgram &identity() {
  static const TileProgram program = [] {
    TileProgram result;
    result.numInputs = result.numRegisters = 1;
    result.results = {0};
    return result;
  }();
  return program;
}

Epilogue::Epilogue(const Invocation &call, size_t operands)
    : code(call.program ? call.program : &identity()),
      views(call.inputs.subspan(std::min(operands, call.inputs.size()))),
      target(call.output()) {}

Error Epilogue::check(std::string_view kernel) const {
  if (code->numInputs != views.size() + 1 ||
      code->numInputs > kMaxTileRegisters || code->results.size() != 1)
    return Error(std::string(kernel) + ": the program has " +
                 std::to_string(code->numInputs) + " inputs and " +
                 std::to_string(code->results.size()) + " results, and got " +
                 std::to_string(views.size() + 1));
  if (!tileLane(target.type))
    return portable::unknownType(kernel, target);
  for (const Tensor &view : views) {
    if (!tileLane(view.type))
      return portable::unknownType(kernel, view);
    if (Error error = portable::checkShape(kernel, view, target))
      return error;
  }
  TileLane lane;
  return resolve(lane);
}

Error Epilogue::resolve(TileLane &lane) const {
  std::array<ElementType, kMaxTileRegisters> types = {ElementType::F32};
  for (size_t i = 0; i != views.size(); ++i)
    types[i + 1] = views[i].type;
  return tile::resolveLanes(tile::codeOf(*code),
                            {types.data(), views.size() + 1}, {&lane, 1});
}

bool portable::isFactor(ElementType type) {
  return type == ElementType::F32 || type == ElementType::F16 ||
         type == ElementType::BF16;
}
