// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Sink.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace corten::runtime;
using namespace corten::runtime::products;

int64_t RowSpace::count() const {
  int64_t result = 1;
  for (int axis = 0; axis != rank; ++axis)
    result *= extents[axis];
  return result;
}

int64_t RowSpace::offset(int64_t row, const Steps &steps) const {
  int64_t result = 0;
  for (int axis = rank; axis-- > 1;) {
    result += row % extents[axis] * steps[axis];
    row /= extents[axis];
  }
  return result + row * steps[0];
}

Tensor PartOfSpace::of(Tensor whole) const {
  if (apart == PartOfSpace().apart)
    return whole;
  int64_t offset = 0;
  for (int axis = 2; axis < whole.rank; ++axis) {
    size_t place = size_t(axis) - 2;
    offset += first[place] * whole.steps[axis];
    whole.extents[axis] = ceilDivide(
        std::max<int64_t>(whole.extents[axis] - first[place], 0), apart[place]);
    whole.steps[axis] *= apart[place];
  }
  whole.data =
      static_cast<char *>(whole.data) + offset * int64_t(byteSize(whole.type));
  return whole;
}

Grid::Grid(const Tensor &tensor, int columnAxis)
    : data(static_cast<char *>(tensor.data)), type(tensor.type),
      columnStep(tensor.extents[columnAxis] == 1 ? 1
                                                 : tensor.steps[columnAxis]) {
  int axis = 0;
  for (int from = 0; from != tensor.rank; ++from)
    if (from != columnAxis)
      rowSteps[axis++] = tensor.steps[from];
}

bool Grid::isRepeated(int rank) const {
  return std::all_of(rowSteps.begin(), rowSteps.begin() + rank,
                     [](int64_t step) { return step == 0; });
}

void products::mergeAxes(RowSpace &space, std::span<Grid *const> grids) {
  int last = 0;
  for (int axis = 1; axis < space.rank; ++axis) {
    bool isOne = space.extents[axis] == 1 || space.extents[last] == 1 ||
                 std::ranges::all_of(grids, [&](const Grid *grid) {
                   return grid->rowSteps[last] ==
                          space.extents[axis] * grid->rowSteps[axis];
                 });
    bool keepsStep = space.extents[axis] == 1;
    if (!isOne)
      ++last;
    for (Grid *grid : grids)
      if (!isOne || !keepsStep)
        grid->rowSteps[last] = grid->rowSteps[axis];
    space.extents[last] =
        isOne ? space.extents[last] * space.extents[axis] : space.extents[axis];
  }
  space.rank = std::min(space.rank, last + 1);
}

//===----------------------------------------------------------------------===//
// Simple programs
//===----------------------------------------------------------------------===//

static std::optional<Activation> activationOf(TileOpcode opcode) {
  switch (opcode) {
  case TileOpcode::Gelu:
    return Activation::Gelu;
  case TileOpcode::GeluSigmoid:
    return Activation::GeluSigmoid;
  case TileOpcode::GeluTanh:
    return Activation::GeluTanh;
  case TileOpcode::Sigmoid:
    return Activation::Sigmoid;
  case TileOpcode::Silu:
    return Activation::Silu;
  case TileOpcode::Tanh:
    return Activation::Tanh;
  default:
    return std::nullopt;
  }
}

namespace {
/// Follows the element through a program.
class SimpleReader {
public:
  SimpleReader(const TileProgram &program, std::span<const Grid> inputs,
               int rank)
      : program(program), inputs(inputs), rank(rank) {
    registers.fill({Kind::Other, 0});
    registers[0] = {Kind::Element, 0};
    for (size_t i = 0; i != inputs.size(); ++i)
      registers[i + 1] = {Kind::Input, double(i)};
  }

  std::optional<SimpleProgram> read() {
    result.low = -std::numeric_limits<float>::infinity();
    result.high = std::numeric_limits<float>::infinity();
    for (const TileInstruction &instruction : program.instructions)
      if (!readInstruction(instruction))
        return std::nullopt;
    if (registers[program.results[0]].kind != Kind::Element)
      return std::nullopt;
    return result;
  }

private:
  enum class Kind { Element, Input, Number, Other };
  struct Register {
    Kind kind;
    double value;
  };

  bool readInstruction(const TileInstruction &instruction) {
    switch (instruction.opcode) {
    case TileOpcode::Immediate:
      return set(instruction.target,
                 {Kind::Number, program.immediates[instruction.a]});
    case TileOpcode::Add:
    case TileOpcode::Maximum:
    case TileOpcode::Minimum: {
      Register a = registers[instruction.a];
      Register b = registers[instruction.b];
      if (b.kind == Kind::Element)
        std::swap(a, b);
      return a.kind == Kind::Element && apply(instruction.opcode, b) &&
             move(instruction.target);
    }
    case TileOpcode::Relu:
      return registers[instruction.a].kind == Kind::Element &&
             apply(TileOpcode::Maximum, {Kind::Number, 0}) &&
             move(instruction.target);
    default:
      return activate(instruction);
    }
  }

  bool activate(const TileInstruction &instruction) {
    result.activation = activationOf(instruction.opcode);
    return result.activation &&
           registers[instruction.a].kind == Kind::Element &&
           move(instruction.target);
  }

  /// Additions come first, then the lower bound, then the upper one.
  bool apply(TileOpcode opcode, Register operand) {
    if (result.activation)
      return false;
    if (opcode == TileOpcode::Add)
      return operand.kind == Kind::Input && !hasLow && !hasHigh &&
             add(int(operand.value));
    if (operand.kind != Kind::Number || std::isnan(operand.value) || hasHigh)
      return false;
    if (opcode == TileOpcode::Minimum) {
      hasHigh = true;
      result.high = float(operand.value);
      return true;
    }
    if (hasLow)
      return false;
    hasLow = true;
    result.low = float(operand.value);
    return true;
  }

  bool add(int input) {
    const Grid &grid = inputs[size_t(input)];
    if (grid.type != ElementType::F32 || grid.columnStep != 1)
      return false;
    int &place = grid.isRepeated(rank) ? result.bias : result.residual;
    if (place >= 0)
      return false;
    place = input;
    return true;
  }

  bool set(uint16_t index, Register value) {
    // Where the element was is needed no more only if it has moved.
    if (registers[index].kind == Kind::Element)
      return false;
    registers[index] = value;
    return true;
  }

  bool move(uint16_t index) {
    for (Register &each : registers)
      if (each.kind == Kind::Element)
        each = {Kind::Other, 0};
    registers[index] = {Kind::Element, 0};
    return true;
  }

  const TileProgram &program;
  std::span<const Grid> inputs;
  int rank;
  std::array<Register, kMaxTileRegisters> registers;
  SimpleProgram result;
  bool hasLow = false, hasHigh = false;
};
} // namespace

//===----------------------------------------------------------------------===//
// The sink
//===----------------------------------------------------------------------===//

Sink::Sink(const Invocation &call, const Tensor &target, int columnAxis,
           const Vectors &vectors, Grid *left, size_t operands,
           const PartOfSpace &part)
    : numColumns(target.extents[columnAxis]), vectors(vectors),
      output(target, columnAxis) {
  for (int axis = 0; axis != target.rank; ++axis)
    if (axis != columnAxis)
      space.extents[space.rank++] = target.extents[axis];
  Epilogue epilogue(call, operands);
  const TileProgram &program = epilogue.program();
  code = tile::codeOf(program);
  std::array<Grid *, kMaxTileRegisters + 2> grids;
  size_t numGrids = 0;
  grids[numGrids++] = &output;
  if (left)
    grids[numGrids++] = left;
  for (const Tensor &view : epilogue.inputs()) {
    inputs[numInputs] = Grid(part.of(view), columnAxis);
    grids[numGrids++] = &inputs[numInputs++];
  }
  mergeAxes(space, {grids.data(), numGrids});
  simple = SimpleReader(program, {inputs.data(), numInputs}, space.rank).read();
  // That it fits was found out when the call was accepted.
  [[maybe_unused]] Error error = epilogue.resolve(lane);
  direct = simple && space.rank == 1 && output.type == ElementType::F32 &&
           output.columnStep == 1;
}

float *Sink::target(int64_t row, int64_t column) const {
  return reinterpret_cast<float *>(output.data) + row * output.rowSteps[0] +
         column;
}

bool Sink::finish(int64_t row, int64_t column, Finish &result) const {
  if (code.numInstructions == 0)
    return false;
  result = {nullptr, nullptr, 0, simple->low, simple->high, nullptr};
  if (simple->activation)
    result.activate = vectors.products.activations[size_t(*simple->activation)];
  auto start = [&](int input) {
    const Grid &grid = inputs[size_t(input)];
    return reinterpret_cast<const float *>(grid.data) + row * grid.rowSteps[0] +
           column;
  };
  if (simple->bias >= 0)
    result.bias = start(simple->bias);
  if (simple->residual >= 0) {
    result.residual = start(simple->residual);
    result.residualStep = inputs[size_t(simple->residual)].rowSteps[0];
  }
  return true;
}

void Sink::storeRows(int64_t row, int64_t rows, int64_t column, int64_t columns,
                     const float *sums, int64_t sumStep) const {
  // Along what lies one after the other in the output.
  int last = space.rank - 1;
  bool isAlongRows = output.columnStep != 1 && output.rowSteps[last] == 1;
  auto rowsOf = [&](void *data, int64_t step, int64_t rowStep,
                    ElementType type) -> tile::Rows {
    if (isAlongRows)
      std::swap(step, rowStep);
    return {data, step, rowStep, type};
  };
  auto rowsOfGrid = [&](const Grid &grid) {
    int64_t offset =
        space.offset(row, grid.rowSteps) + column * grid.columnStep;
    return rowsOf(grid.data + offset * int64_t(byteSize(grid.type)),
                  grid.columnStep, grid.rowSteps[last], grid.type);
  };
  std::array<tile::Rows, kMaxTileRegisters> operands;
  operands[0] = rowsOf(const_cast<float *>(sums), 1, sumStep, ElementType::F32);
  for (size_t i = 0; i != numInputs; ++i)
    operands[i + 1] = rowsOfGrid(inputs[i]);
  tile::Rows result = rowsOfGrid(output);
  vectors.runTiles({code, operands.data(), &result, &lane,
                    isAlongRows ? columns : rows,
                    isAlongRows ? rows : columns});
}

void Sink::store(int64_t row, int64_t rows, int64_t column, int64_t columns,
                 const float *sums, int64_t sumStep) const {
  int64_t period = space.extents[space.rank - 1];
  for (int64_t i = 0; i != rows;) {
    int64_t count = std::min(rows - i, period - (row + i) % period);
    storeRows(row + i, count, column, columns, sums + i * sumStep, sumStep);
    i += count;
  }
}
