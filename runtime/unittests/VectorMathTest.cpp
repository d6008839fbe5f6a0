// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How far the functions of tile programs are off, in units in the last place,
// over samples of all floats: against double, which is the portable kernels'.

#include "Tiles.h"

using namespace corten::runtime;
using Op = TileOpcode;

namespace {

struct Function {
  Op opcode;
  double (*exact)(double);
  double bound;
};

double sigmoid(double x) {
  return x < 0 ? std::exp(x) / (1 + std::exp(x)) : 1 / (1 + std::exp(-x));
}

// Formulas that keep their digits where those of the portable kernels do not.
const Function kFunctions[] = {
    {Op::Exp, std::exp, 2},
    {Op::Log, std::log, 2},
    {Op::Tanh, std::tanh, 2},
    {Op::Erf, std::erf, 2},
    {Op::Sigmoid, sigmoid, 2},
    {Op::Silu, [](double x) { return x * sigmoid(x); }, 4},
    {Op::Gelu,
     [](double x) { return x * 0.5 * std::erfc(-x * 0.70710678118654752440); },
     5},
    {Op::GeluTanh,
     [](double x) {
       return x *
              sigmoid(2 * 0.79788456080286535588 * (x + 0.044715 * x * x * x));
     },
     4},
    {Op::GeluSigmoid, [](double x) { return x * sigmoid(1.702 * x); }, 4},
    {Op::Rsqrt, [](double x) { return 1 / std::sqrt(x); }, 2},
    {Op::Sqrt, std::sqrt, 0.5},
    {Op::Sin, std::sin, 1},
    {Op::Cos, std::cos, 1},
    {Op::Tan, std::tan, 1},
    {Op::Sinh, std::sinh, 1},
    {Op::Cosh, std::cosh, 1},
    {Op::Asin, std::asin, 1},
    {Op::Acos, std::acos, 1},
    {Op::Atan, std::atan, 1},
    {Op::Asinh, std::asinh, 1},
    {Op::Acosh, std::acosh, 1},
    {Op::Atanh, std::atanh, 1},
};

/// The distance from a float to the next one.
double unitAt(double x) {
  int exponent;
  std::frexp(x, &exponent);
  return std::ldexp(1.0, std::clamp(exponent - 24, -149, 104));
}

/// Every `stride`-th float, both signs.
std::vector<float> allFloats(uint32_t stride) {
  std::vector<float> result = {0.0f,      -0.0f,          1.0f, -1.0f,
                               HUGE_VALF, -HUGE_VALF,     NAN,  0x1p-149f,
                               0x1p-126f, 0x1.fffffep127f};
  for (uint64_t bits = 0; bits <= 0x7f800000; bits += stride) {
    result.push_back(std::bit_cast<float>(uint32_t(bits)));
    result.push_back(-result.back());
  }
  // Where most numbers are.
  // NOLINTNEXTLINE(bugprone-float-loop-counter): samples, however many
  for (float x = -12; x < 12; x += 0.00037f)
    result.push_back(x);
  return result;
}

std::vector<float> apply(Isa isa, Op opcode, std::vector<float> x) {
  TileProgram program = {1, 1, {{opcode, 0, 0}}, {}, {0}};
  std::vector<float> y(x.size());
  TileOperand from = {x.data(), 1, ElementType::F32};
  TileOperand to = {y.data(), 1, ElementType::F32};
  tileFunction(isa)(program, {&from, 1}, {&to, 1}, int64_t(x.size()));
  return y;
}

TEST(VectorMath, IsWithinItsBounds) {
  std::vector<float> x = allFloats(4513);
  for (Isa isa : testedIsas())
    for (const Function &function : kFunctions) {
      if (isa == Isa::Portable)
        continue;
      std::vector<float> y = apply(isa, function.opcode, x);
      double worst = 0;
      float at = 0;
      for (size_t i = 0; i != x.size(); ++i) {
        double wanted = function.exact(double(x[i]));
        bool isWrong = std::isnan(wanted) != std::isnan(y[i]);
        double error = 0;
        if (std::isinf(float(wanted)) || std::isinf(y[i]))
          isWrong |=
              float(wanted) != y[i] &&
              (!std::isfinite(wanted) || std::fabs(wanted) <= 3.4028234e38);
        else if (!isWrong && !std::isnan(wanted))
          error = std::fabs(double(y[i]) - wanted) / unitAt(wanted);
        if (isWrong)
          error = HUGE_VAL;
        if (error > worst) {
          worst = error;
          at = x[i];
        }
        if (x[i] == 0 && wanted == 0)
          EXPECT_EQ(std::signbit(wanted), std::signbit(y[i]))
              << info(function.opcode).name;
      }
      EXPECT_LE(worst, function.bound)
          << info(function.opcode).name << " of " << at << ", " << name(isa);
      RecordProperty(std::string(info(function.opcode).name) + "_" +
                         std::string(name(isa)),
                     std::to_string(worst));
    }
}

TEST(VectorMath, LevelsAgreeToTheLastBit) {
  std::vector<Isa> isas = testedIsas();
  if (isas.back() != Isa::Avx512)
    GTEST_SKIP() << "there is one level only";
  std::vector<float> x = allFloats(90007);
  for (const Function &function : kFunctions) {
    std::vector<float> a = apply(Isa::Avx2, function.opcode, x);
    std::vector<float> b = apply(Isa::Avx512, function.opcode, x);
    for (size_t i = 0; i != x.size(); ++i)
      ASSERT_TRUE(a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i])))
          << info(function.opcode).name << " of " << x[i];
  }
}

// What cannot be compared in one process: levels of other processors. A change
// of a function changes the number, which has to be the same for all of them.
TEST(VectorMath, IsTheSameOnAllProcessors) {
  constexpr uint64_t kDigest = 0x73a941d212b1af25;
  std::vector<float> x = allFloats(90007);
  for (Isa isa : testedIsas()) {
    if (isa == Isa::Portable)
      continue;
    uint64_t digest = 0xcbf29ce484222325;
    for (const Function &function : kFunctions) {
      bool isPeriodic = function.opcode == Op::Sin ||
                        function.opcode == Op::Cos ||
                        function.opcode == Op::Tan;
      std::vector<float> y = apply(isa, function.opcode, x);
      for (size_t i = 0; i != x.size(); ++i) {
        // Of those that are far away the C library's.
        if (isPeriodic && !(std::fabs(x[i]) < 0x1p30f))
          continue;
        // Any NaN is one.
        uint32_t bits =
            std::isnan(y[i]) ? 0x7fc00000 : std::bit_cast<uint32_t>(y[i]);
        digest = (digest ^ bits) * 0x100000001b3;
      }
    }
    EXPECT_EQ(digest, kDigest) << name(isa);
  }
}

TEST(VectorMath, PowersRemaindersAndEdges) {
  const float kEdges[] = {0.0f,  -0.0f,  1.0f,        -1.0f,      0.5f,
                          2.0f,  3.0f,   -2.0f,       -3.0f,      -0.5f,
                          1e30f, 1e-40f, HUGE_VALF,   -HUGE_VALF, NAN,
                          7.7f,  -7.7f,  16777215.0f, 0.1f,       100.3f};
  std::mt19937 random(5);
  std::normal_distribution<float> normal(0, 10);
  std::vector<float> a, b;
  for (float x : kEdges)
    for (float y : kEdges) {
      a.push_back(x);
      b.push_back(y);
    }
  for (int i = 0; i != 20000; ++i) {
    a.push_back(std::exp(normal(random)) * (i % 3 == 0 ? -1.0f : 1.0f));
    b.push_back(i % 2 ? normal(random) : std::round(normal(random)));
  }
  auto count = int64_t(a.size());
  for (Op opcode : {Op::Pow, Op::Modulo, Op::FloorDivide}) {
    TileProgram program = {2, 2, {{opcode, 0, 0, 1}}, {}, {0}};
    std::vector<float> wanted(a.size());
    for (Isa isa : testedIsas()) {
      std::vector<float> got(a.size());
      TileOperand from[] = {{a.data(), 1, ElementType::F32},
                            {b.data(), 1, ElementType::F32}};
      TileOperand to = {got.data(), 1, ElementType::F32};
      tileFunction(isa)(program, from, {&to, 1}, count);
      if (isa == Isa::Portable) {
        wanted = got;
        continue;
      }
      for (size_t i = 0; i != a.size(); ++i) {
        bool isSame = (got[i] == wanted[i] &&
                       std::signbit(got[i]) == std::signbit(wanted[i])) ||
                      (std::isnan(got[i]) && std::isnan(wanted[i]));
        if (opcode == Op::Pow && std::isfinite(wanted[i]))
          isSame |= std::fabs(double(got[i]) - wanted[i]) <= unitAt(wanted[i]);
        ASSERT_TRUE(isSame)
            << info(opcode).name << " of " << a[i] << " and " << b[i] << ": "
            << got[i] << ", wanted " << wanted[i] << ", " << name(isa);
      }
    }
  }
}
} // namespace
