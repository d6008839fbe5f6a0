// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Tiles.h"

using namespace corten::runtime;
using Op = TileOpcode;

static std::string checked(const TileProgram &program) {
  Error error = program.check();
  return error ? error.message() : "";
}

namespace {

TEST(TileProgram, TakesWhatFits) {
  EXPECT_EQ(checked({2, 3, {{Op::Add, 2, 0, 1}}, {}, {2}}), "");
  // A register of an input is written again.
  EXPECT_EQ(checked({1, 1, {{Op::Exp, 0, 0}, {Op::Exp, 0, 0}}, {}, {0}}), "");
  // An input is what it is used for.
  EXPECT_EQ(checked({3,
                     4,
                     {{Op::Where, 3, 0, 1, 2}, {Op::IntegerAdd, 3, 3, 1}},
                     {},
                     {3, 2}}),
            "");
  // A truth value counts.
  EXPECT_EQ(checked({1, 2, {{Op::ToFloat, 1, 0}, {Op::Not, 0, 0}}, {}, {0, 1}}),
            "");
  // Nothing is done.
  EXPECT_EQ(checked({1, 1, {}, {}, {0}}), "");
}

TEST(TileProgram, RefusesWhatDoesNot) {
  EXPECT_MENTIONS(checked({1, 33, {}, {}, {0}}), "33 registers");
  EXPECT_MENTIONS(checked({3, 2, {}, {}, {0}}), "more inputs than registers");
  EXPECT_MENTIONS(checked({1, 1, {{Op(999), 0, 0}}, {}, {0}}),
                  "no such opcode");
  EXPECT_MENTIONS(checked({1, 2, {{Op::Exp, 2, 0}}, {}, {0}}),
                  "no such register");
  EXPECT_MENTIONS(checked({1, 2, {{Op::Exp, 1, 2}}, {}, {0}}),
                  "no such register");
  EXPECT_MENTIONS(checked({1, 2, {{Op::Add, 1, 0, 1}}, {}, {0}}),
                  "nothing was written");
  EXPECT_MENTIONS(checked({0, 1, {{Op::Immediate, 0, 1}}, {1}, {0}}),
                  "no such immediate");
  EXPECT_MENTIONS(checked({1, 2, {}, {}, {1}}), "a result is a register");
  EXPECT_MENTIONS(checked({1, 2, {}, {}, {7}}), "a result is a register");
  EXPECT_MENTIONS(checked({1, 1, {}, {}, std::vector<uint16_t>(33, 0)}),
                  "more than 32 results");
  EXPECT_MENTIONS(
      checked({1, 2, {{Op::ToInteger, 1, 0}, {Op::Exp, 1, 1}}, {}, {1}}),
      "instruction 1: Exp does not take");
  // Of one input first a float and then a whole number.
  EXPECT_MENTIONS(checked({1, 2, {{Op::Exp, 1, 0}, {Op::Not, 1, 0}}, {}, {1}}),
                  "Not does not take");
  // Two inputs that have to be the same.
  EXPECT_MENTIONS(checked({3,
                           4,
                           {{Op::Where, 3, 0, 1, 2},
                            {Op::Exp, 1, 1},
                            {Op::IntegerAdd, 3, 2, 2}},
                           {},
                           {3}}),
                  "IntegerAdd does not take");
}

TEST(TileProgram, GarbageIsRefusedOrRuns) {
  std::mt19937 random(4);
  auto any = [&](uint32_t usual) {
    return uint16_t(random() % 8 == 0 ? random() : random() % usual);
  };
  float numbers[100] = {};
  int accepted = 0;
  for (int round = 0; round != 20000; ++round) {
    TileProgram program;
    program.numInputs = any(3);
    program.numRegisters = any(6);
    for (size_t length = random() % 4; program.instructions.size() < length;)
      program.instructions.push_back({Op(any(uint32_t(tileOpcodes().size()))),
                                      any(6), any(6), any(6), any(6)});
    program.immediates.resize(random() % 3, 1e300);
    program.results = {any(6), any(6)};
    if (program.check())
      continue;
    ++accepted;
    std::vector<TileOperand> inputs(program.numInputs,
                                    {numbers, 1, ElementType::F32});
    float results[2][100];
    std::vector<TileOperand> outputs = {{results[0], 1, ElementType::F32},
                                        {results[1], 1, ElementType::F32}};
    for (Isa isa : testedIsas())
      tileFunction(isa)(program, inputs, outputs, 100);
  }
  EXPECT_GT(accepted, 100);
}

TEST(TileProgram, KnowsTheLanesOfTypes) {
  EXPECT_EQ(tileLane(ElementType::BF16), TileLane::F);
  EXPECT_EQ(tileLane(ElementType::UI16), TileLane::I);
  EXPECT_EQ(tileLane(ElementType::Bool), TileLane::M);
  EXPECT_EQ(tileLane(ElementType::SI64), std::nullopt);
  EXPECT_EQ(tileLane(ElementType::UI32), std::nullopt);
}

} // namespace

/// Operations whose results are right to the last bit in every form.
static bool isExact(Op opcode) {
  switch (opcode) {
  case Op::Acos:
  case Op::Acosh:
  case Op::Asin:
  case Op::Asinh:
  case Op::Atan:
  case Op::Atanh:
  case Op::Cos:
  case Op::Cosh:
  case Op::Erf:
  case Op::Exp:
  case Op::Gelu:
  case Op::GeluSigmoid:
  case Op::GeluTanh:
  case Op::Log:
  case Op::Rsqrt:
  case Op::Sigmoid:
  case Op::Silu:
  case Op::Sin:
  case Op::Sinh:
  case Op::Tan:
  case Op::Tanh:
  case Op::Pow:
    return false;
  default:
    return true;
  }
}

namespace {

constexpr ElementType kFloats[] = {ElementType::F32, ElementType::F16,
                                   ElementType::BF16};
constexpr ElementType kWhole[] = {ElementType::SI8, ElementType::SI16,
                                  ElementType::SI32, ElementType::UI8,
                                  ElementType::UI16};

} // namespace

/// A type of a lane.
static ElementType anyType(TileLane lane, std::mt19937 &random) {
  return lane == TileLane::F   ? kFloats[random() % std::size(kFloats)]
         : lane == TileLane::I ? kWhole[random() % std::size(kWhole)]
                               : ElementType::Bool;
}

namespace {

struct RandomProgram {
  TileProgram program;
  std::vector<ElementType> inputs;
  std::vector<ElementType> outputs;
};

} // namespace

/// Programs of instructions that are right to the last bit.
static RandomProgram makeProgram(std::mt19937 &random) {
  RandomProgram result;
  TileProgram &program = result.program;
  std::vector<TileLane> lanes;
  auto anyLane = [&] {
    return std::array{TileLane::F, TileLane::F, TileLane::I,
                      TileLane::M}[random() % 4];
  };
  program.numRegisters = uint16_t(4 + random() % 8);
  program.numInputs = uint16_t(1 + random() % 4);
  for (int i = 0; i != program.numInputs; ++i) {
    lanes.push_back(anyLane());
    result.inputs.push_back(anyType(lanes.back(), random));
  }
  lanes.resize(program.numRegisters, TileLane::X);
  auto pick = [&](TileLane lane) -> int {
    for (int attempt = 0; attempt != 32; ++attempt) {
      int reg = int(random() % lanes.size());
      if (lanes[reg] == lane)
        return reg;
    }
    return -1;
  };
  program.immediates = {0.5, -3, 1e10, 7};
  for (size_t length = random() % 12; program.instructions.size() < length;) {
    auto opcode = Op(random() % tileOpcodes().size());
    const TileOpcodeInfo &entry = info(opcode);
    if (!isExact(opcode))
      continue;
    TileLane operand = entry.operand == TileLane::X ? anyLane() : entry.operand;
    if (entry.operand == TileLane::X && operand == TileLane::F &&
        opcode != Op::Where)
      continue;
    TileInstruction instruction = {opcode, uint16_t(random() % lanes.size())};
    uint16_t *places[] = {&instruction.a, &instruction.b, &instruction.c};
    bool fits = true;
    for (int i = 0; i != entry.numOperands; ++i) {
      int reg = pick(opcode == Op::Where && i == 0 ? TileLane::M : operand);
      fits &= reg >= 0;
      *places[i] = uint16_t(reg);
    }
    if (!fits)
      continue;
    if (entry.numOperands == 0)
      instruction.a = uint16_t(random() % program.immediates.size());
    program.instructions.push_back(instruction);
    lanes[instruction.target] =
        entry.result == TileLane::X ? operand : entry.result;
  }
  for (int count = int(1 + random() % 3);
       int(result.outputs.size()) != count;) {
    auto reg = uint16_t(random() % lanes.size());
    if (lanes[reg] == TileLane::X)
      continue;
    program.results.push_back(reg);
    result.outputs.push_back(anyType(anyLane(), random));
  }
  return result;
}

namespace {

TEST(TileProgram, RandomProgramsAreWhatKernelsMakeOfThem) {
  std::mt19937 random(1);
  for (int round = 0; round != 400; ++round) {
    RandomProgram made = makeProgram(random);
    ASSERT_EQ(checked(made.program), "");
    int64_t count = int64_t(round % 5 == 0   ? random() % 1000
                            : round % 5 == 1 ? 256 * (1 + random() % 3)
                                             : random() % 70);
    std::vector<AnyTensor> memory;
    std::vector<Tensor> views;
    std::vector<TileOperand> from;
    for (ElementType type : made.inputs) {
      int64_t step = std::array<int64_t, 4>{0, 1, 1, 3}[random() % 4];
      int64_t size[] = {std::max<int64_t>(1, count * 3)};
      memory.emplace_back(type, size);
      fillRandom(memory.back(), random);
      int64_t shape[] = {count};
      int64_t steps[] = {step};
      views.push_back(memory.back().tensor.view(shape, steps));
      from.push_back({views.back().data, step, type});
    }
    int64_t shape[] = {count};
    std::vector<AnyTensor> wanted =
        runByKernels(made.program, views, made.outputs, shape);
    for (Isa isa : testedIsas()) {
      std::vector<AnyTensor> got;
      std::vector<TileOperand> to;
      int64_t step = 1 + int64_t(random() % 2);
      int64_t sparse[] = {count * 2 + 1};
      for (ElementType type : made.outputs) {
        got.emplace_back(type, sparse);
        to.push_back({got.back().tensor.data, step, type});
      }
      tileFunction(isa)(made.program, from, to, count);
      for (size_t i = 0; i != wanted.size(); ++i) {
        // Elements that lie apart, together again.
        AnyTensor dense(made.outputs[i], shape);
        int64_t steps[] = {step};
        ASSERT_EQ(run(PortableKernel::Copy, {got[i].tensor.view(shape, steps)},
                      dense.tensor),
                  "");
        ASSERT_TRUE(sameElements(dense, wanted[i]))
            << "round " << round << ", " << name(isa) << ", output " << i;
        if (step == 2)
          for (int64_t j = 0; j != count; ++j)
            ASSERT_EQ(got[i].number(2 * j + 1), 0) << "written beside";
      }
    }
  }
}
} // namespace
