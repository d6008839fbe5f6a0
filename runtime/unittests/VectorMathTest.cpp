// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How far the functions of tile programs are off, in units in the last place,
// over samples of all floats: against double, which is the portable kernels'.
// With CORTEN_ALL_FLOATS=1 over all of them, at the best level, since levels
// have the same bits: on all cores, about a minute of one for a function.

#include "Tiles.h"

#include <atomic>
#include <cstdlib>
#include <mutex>
#include <thread>

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
  int exponent = int(std::bit_cast<uint64_t>(x) >> 52 & 0x7ff) - 1023;
  return std::bit_cast<double>(
      uint64_t(std::clamp(exponent - 23, -149, 104) + 1023) << 52);
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

/// How far a result is off; infinite if it is wrong altogether.
double errorOf(float got, double wanted) {
  if (std::isnan(wanted) || std::isnan(got))
    return std::isnan(wanted) && std::isnan(got) ? 0 : HUGE_VAL;
  if (std::isinf(float(wanted)) || std::isinf(got)) {
    // Beyond the largest float either is right.
    bool isEither = std::isfinite(wanted) && std::fabs(wanted) > 3.4028234e38;
    return float(wanted) == got || isEither ? 0 : HUGE_VAL;
  }
  return std::fabs(double(got) - wanted) / unitAt(wanted);
}

/// The largest error, and of what.
struct Worst {
  double error = 0;
  float at = 0;

  void add(double other, float x) {
    if (other > error)
      *this = {other, x};
  }
  void add(const Worst &other) { add(other.error, other.at); }
};

Worst worstOf(const Function &function, Isa isa, const std::vector<float> &x) {
  std::vector<float> y = apply(isa, function.opcode, x);
  Worst worst;
  for (size_t i = 0; i != x.size(); ++i) {
    double wanted = function.exact(double(x[i]));
    worst.add(errorOf(y[i], wanted), x[i]);
    // Zeros have signs.
    if (x[i] == 0 && wanted == 0 && std::signbit(wanted) != std::signbit(y[i]))
      worst.add(HUGE_VAL, x[i]);
  }
  return worst;
}

/// Whether a test is to take all floats there are.
bool takesAllFloats() {
  const char *text = std::getenv("CORTEN_ALL_FLOATS");
  return text && std::string_view(text) == "1";
}

/// Divides all 2^32 floats among the cores. `worstOfPart` is given some of
/// them, side by side.
template <typename Part> Worst overAllFloats(const Part &worstOfPart) {
  // What a core has near it.
  constexpr uint64_t kPart = uint64_t(1) << 14;
  constexpr uint64_t kEnd = uint64_t(1) << 32;
  std::atomic<uint64_t> next = 0;
  std::mutex mutex;
  Worst worst;
  auto work = [&] {
    std::vector<float> x(kPart);
    for (uint64_t first; (first = next.fetch_add(kPart)) < kEnd;) {
      for (uint64_t i = 0; i != kPart; ++i)
        x[i] = std::bit_cast<float>(uint32_t(first + i));
      Worst found = worstOfPart(x);
      std::scoped_lock lock(mutex);
      worst.add(found);
    }
  };
  std::vector<std::thread> threads;
  for (unsigned i = 1; i < std::thread::hardware_concurrency(); ++i)
    threads.emplace_back(work);
  work();
  for (std::thread &thread : threads)
    thread.join();
  return worst;
}

void expectWithin(double bound, const Worst &worst, Op opcode, Isa isa) {
  std::string title(info(opcode).name);
  EXPECT_LE(worst.error, bound)
      << title << " of " << worst.at << ", " << name(isa);
  testing::Test::RecordProperty(title + "_" + std::string(name(isa)),
                                std::to_string(worst.error));
}

class OneFunction : public testing::TestWithParam<Function> {};

TEST_P(OneFunction, IsWithinItsBounds) {
  const Function &function = GetParam();
  std::vector<float> x = allFloats(4513);
  std::vector<Isa> isas = testedIsas();
  for (Isa isa : isas) {
    if (isa == Isa::Portable)
      continue;
    Worst worst = worstOf(function, isa, x);
    if (takesAllFloats() && isa == isas.back())
      worst.add(overAllFloats([&](const std::vector<float> &part) {
        return worstOf(function, isa, part);
      }));
    expectWithin(function.bound, worst, function.opcode, isa);
  }
}

std::string nameOf(const testing::TestParamInfo<Function> &test) {
  return std::string(info(test.param.opcode).name);
}

INSTANTIATE_TEST_SUITE_P(VectorMath, OneFunction, testing::ValuesIn(kFunctions),
                         nameOf);

/// How far `pow` is off for one exponent, or one base, and others that vary.
Worst worstPower(Isa isa, std::vector<float> varied, float fixed, bool isBase) {
  TileProgram program = {2, 2, {{Op::Pow, 0, 0, 1}}, {}, {0}};
  std::vector<float> others(varied.size(), fixed), y(varied.size());
  std::vector<float> &a = isBase ? others : varied;
  std::vector<float> &b = isBase ? varied : others;
  TileOperand from[] = {{a.data(), 1, ElementType::F32},
                        {b.data(), 1, ElementType::F32}};
  TileOperand to = {y.data(), 1, ElementType::F32};
  tileFunction(isa)(program, from, {&to, 1}, int64_t(y.size()));
  Worst worst;
  for (size_t i = 0; i != y.size(); ++i)
    worst.add(errorOf(y[i], std::pow(double(a[i]), double(b[i]))), varied[i]);
  return worst;
}

TEST(VectorMath, PowersAreWithinTheirBound) {
  constexpr double kBound = 1;
  // Those in front are taken with all floats, if any are.
  const float kExponents[] = {2.2f, 0.5f, -0.5f, 1.0f / 3, 2, 3, -1, 17, -7.7f};
  const float kBases[] = {10,         2,           0.5f, 2.7182817f,
                          1.0000001f, 0.99999994f, 1e30f};
  std::vector<float> x = allFloats(40013);
  std::vector<Isa> isas = testedIsas();
  for (Isa isa : isas) {
    if (isa == Isa::Portable)
      continue;
    Worst worst;
    auto add = [&](std::span<const float> numbers, bool isBase) {
      for (float fixed : numbers)
        worst.add(worstPower(isa, x, fixed, isBase));
      if (takesAllFloats() && isa == isas.back())
        worst.add(overAllFloats([&](const std::vector<float> &part) {
          return worstPower(isa, part, numbers.front(), isBase);
        }));
    };
    add(kExponents, /*isBase=*/false);
    add(kBases, /*isBase=*/true);
    expectWithin(kBound, worst, Op::Pow, isa);
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
