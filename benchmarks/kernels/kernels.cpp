// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How fast products and convolutions of the runtime are, against what the
// machine can do, measured in the same run: a line of JSON for each.
//
//   corten-bench-kernels [--threads 1,2] [--isa avx2] [--filter conv]
//                        [--seconds 0.3]

#include "corten/Runtime/Codes.h"
#include "corten/Runtime/Kernel.h"
#include "corten/Runtime/Panels.h"
#include "corten/Runtime/ThreadPool.h"
#include "corten/Runtime/TileProgram.h"
#include "corten/Runtime/Winograd.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <sstream>
#include <sys/mman.h>
#include <vector>
#ifdef __x86_64__
#include <immintrin.h>
#endif

using namespace corten::runtime;

using Clock = std::chrono::steady_clock;

static double secondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

namespace {
/// Memory in large pages, as packed weights are to be.
class Memory {
public:
  explicit Memory(size_t bytes) : bytes(std::max<size_t>(bytes, 1)) {
    data = mmap(nullptr, this->bytes, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (data == MAP_FAILED) {
      std::perror("mmap");
      std::exit(1);
    }
    madvise(data, this->bytes, MADV_HUGEPAGE);
  }
  ~Memory() { munmap(data, bytes); }
  Memory(const Memory &) = delete;
  Memory &operator=(const Memory &) = delete;

  void *get() const { return data; }

private:
  size_t bytes;
  void *data;
};

struct Options {
  std::vector<int> threads = {1, 2};
  Isa isa = detectedIsa();
  std::string filter;
  double seconds = 0.3;
};
} // namespace

//===----------------------------------------------------------------------===//
// What the machine can do
//===----------------------------------------------------------------------===//

/// Short, so that one of many rounds is not interrupted.
constexpr int kPeakRounds = 20000;
constexpr int kRepetitions = 60;

#ifdef __x86_64__
/// Multiplications and additions that wait for nothing.
#define MULTIPLY(NAME, TARGET, VECTOR, PREFIX, SUMS)                           \
  __attribute__((target(TARGET))) float NAME() {                               \
    VECTOR sums[SUMS];                                                         \
    for (int j = 0; j != (SUMS); ++j)                                          \
      sums[j] = PREFIX##_set1_ps(float(j));                                    \
    VECTOR a = PREFIX##_set1_ps(0.9999f), b = PREFIX##_set1_ps(0.1f);          \
    for (int i = 0; i != kPeakRounds; ++i)                                     \
      _Pragma("GCC unroll 16") for (int j = 0; j != (SUMS); ++j) sums[j] =     \
          PREFIX##_fmadd_ps(sums[j], a, b);                                    \
    for (int j = 1; j != (SUMS); ++j)                                          \
      sums[0] = PREFIX##_add_ps(sums[0], sums[j]);                             \
    return sums[0][0];                                                         \
  }
MULTIPLY(multiplyWide, "avx512f,fma", __m512, _mm512, 16)
MULTIPLY(multiplyNarrow, "avx2,fma", __m256, _mm256, 12)
#undef MULTIPLY
constexpr double kWideWork = 2.0 * 16 * 16 * kPeakRounds;
constexpr double kNarrowWork = 2.0 * 8 * 12 * kPeakRounds;
#endif

#ifdef __x86_64__
/// Dots that wait for nothing.
static __attribute__((target("avx512f,avx512bf16"))) float multiplyPairs() {
  __m512 sums[16];
  for (int j = 0; j != 16; ++j)
    sums[j] = _mm512_set1_ps(float(j));
  auto a = __m512bh(_mm512_set1_epi32(0x3f7f3f7f));
  for (int i = 0; i != kPeakRounds; ++i)
    _Pragma("GCC unroll 16") for (auto &sum : sums) sum =
        _mm512_dpbf16_ps(sum, a, a);
  for (int j = 1; j != 16; ++j)
    sums[0] = _mm512_add_ps(sums[0], sums[j]);
  return sums[0][0];
}
static __attribute__((target("avx512f,avx512vnni"))) float multiplyQuads() {
  __m512i sums[16];
  for (int j = 0; j != 16; ++j)
    sums[j] = _mm512_set1_epi32(j);
  __m512i a = _mm512_set1_epi32(0x01010101);
  for (int i = 0; i != kPeakRounds; ++i)
    _Pragma("GCC unroll 16") for (auto &sum : sums) sum =
        _mm512_dpbusd_epi32(sum, a, a);
  for (int j = 1; j != 16; ++j)
    sums[0] = _mm512_add_epi32(sums[0], sums[j]);
  return float(sums[0][0]);
}
constexpr int kTileRounds = 2000;
template <bool isBytes>
static __attribute__((target("amx-tile,amx-bf16,amx-int8"))) float
multiplyTiles() {
  // Palette 1, 8 tiles of 16 rows of 64 bytes.
  alignas(64) uint8_t configuration[64] = {1};
  for (int tile = 0; tile != 8; ++tile) {
    configuration[16 + 2 * tile] = 64;
    configuration[48 + tile] = 16;
  }
  alignas(64) float ones[16][16] = {};
  _tile_loadconfig(configuration);
  _tile_loadd(6, ones, 64);
  _tile_loadd(7, ones, 64);
  for (int i = 0; i != kTileRounds; ++i) {
    if constexpr (isBytes) {
      _tile_dpbsud(0, 6, 7);
      _tile_dpbsud(1, 6, 7);
      _tile_dpbsud(2, 6, 7);
      _tile_dpbsud(3, 6, 7);
    } else {
      _tile_dpbf16ps(0, 6, 7);
      _tile_dpbf16ps(1, 6, 7);
      _tile_dpbf16ps(2, 6, 7);
      _tile_dpbf16ps(3, 6, 7);
    }
  }
  _tile_stored(0, ones, 64);
  _tile_release();
  return ones[0][0];
}
constexpr double kTileWork = 2.0 * 16 * 16 * 32 * 4 * kTileRounds;

namespace {
/// A loop, and what it does.
struct Loop {
  float (*function)();
  double work;
};
} // namespace

/// The fastest multiplications of factors that a product takes so.
static Loop loopOf(Isa isa, PortableKernel kernel) {
  bool isPairs = kernel == PortableKernel::MatMulPairs ||
                 kernel == PortableKernel::ConvolutionPairs;
  if (kernel == PortableKernel::MatMulQuads && isa >= Isa::Avx512)
    return isa >= Isa::Amx ? Loop{multiplyTiles<true>, 2 * kTileWork}
                           : Loop{multiplyQuads, 4 * kWideWork};
  if (isPairs && isa >= Isa::Avx512Bf16)
    return isa >= Isa::Amx ? Loop{multiplyTiles<false>, kTileWork}
                           : Loop{multiplyPairs, 2 * kWideWork};
  return isa >= Isa::Avx512 ? Loop{multiplyWide, kWideWork}
                            : Loop{multiplyNarrow, kNarrowWork};
}
#endif

volatile float unused;

/// In GFLOP/s.
static double
measurePeak(Isa isa, ThreadPool &pool,
            PortableKernel kernel = PortableKernel::MatMulPacked) {
  double best = 0;
  ThreadPool::Active active(pool);
#ifdef __x86_64__
  if (isa < Isa::Avx2)
    return 0;
  Loop loop = loopOf(isa, kernel);
  for (int round = 0; round != kRepetitions; ++round) {
    auto start = Clock::now();
    pool.run(pool.threads(), [&](int64_t, int) { unused = loop.function(); });
    double work = loop.work * pool.threads();
    best = std::max(best, work / secondsSince(start) * 1e-9);
  }
#endif
  return best;
}

/// Reading memory that is in no cache, in GB/s.
static double measureReading(ThreadPool &pool) {
  // Short rounds, so that some are not interrupted, each over another part.
  constexpr int64_t kBytes = 256 << 20, kRound = 16 << 20, kChunk = 1 << 18;
  static Memory memory(kBytes);
  static bool isFilled = false;
  if (!isFilled)
    std::memset(memory.get(), 1, kBytes);
  isFilled = true;
  double best = 0;
  for (int round = 0; round != 80; ++round) {
    const char *part =
        static_cast<const char *>(memory.get()) + round * kRound % kBytes;
    auto start = Clock::now();
    pool.run(kRound / kChunk, [&](int64_t chunk, int) {
      const auto *from =
          reinterpret_cast<const uint64_t *>(part + chunk * kChunk);
      uint64_t sums[8] = {};
      for (int64_t i = 0; i != kChunk / 8; i += 8)
        for (int j = 0; j != 8; ++j)
          sums[j] += from[i + j];
      unused = float(sums[0] + sums[1] + sums[2] + sums[3] + sums[4] + sums[5] +
                     sums[6] + sums[7]);
    });
    best = std::max(best, double(kRound) / secondsSince(start) * 1e-9);
  }
  return best;
}

static std::string machine() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name"))
      return line.substr(line.find(':') + 2);
  return "unknown";
}

//===----------------------------------------------------------------------===//
// What is measured
//===----------------------------------------------------------------------===//

namespace {
/// A call with operands of its own; weights come from many copies, so that they
/// are in no cache, as in a whole model.
struct Case {
  std::string name;
  PortableKernel kernel;
  std::vector<std::vector<int64_t>> shapes;
  /// Whether channels of the input lie one after the other; those of the output
  /// do.
  bool isLast = false;
  std::vector<int64_t> output;
  std::vector<int64_t> numbers = {};
  double multiplications = 0;
  bool hasBias = true;
  ElementType weights = ElementType::F32;
  bool rotates = true;
  /// Of codes: the shape of their scales, and how many entries a table has.
  std::vector<int64_t> scales = {};
  int64_t entries = 0;
  /// Shapes of further inputs and outputs, in f32.
  std::vector<std::vector<int64_t>> furtherInputs = {};
  std::vector<std::vector<int64_t>> furtherOutputs = {};
  /// Of a sparse matrix: elements with its values, and their type.
  int64_t values = 0;
  ElementType valueType = ElementType::F32;
};
} // namespace

/// A product with weights of few bits, with a scale in f16 for each block.
static Case compressed(std::string_view name, CodeKind kind, int bits,
                       int64_t m, int64_t k, int64_t n, int64_t rowBits = 0,
                       int64_t block = 32) {
  Case test{"product " + std::string(name) + " m=" + std::to_string(m) +
                " k=" + std::to_string(k) + " n=" + std::to_string(n),
            PortableKernel::MatMulCompressed,
            {{m, k}, {panelCount(n), k / block, codeBytes(block, bits)}},
            false,
            {m, n},
            {int64_t(kind), bits, rowBits}};
  test.multiplications = double(m * k * n);
  test.weights = ElementType::UI8;
  test.scales = {panelCount(n), k / block, kPanelWidth};
  test.entries = kind == CodeKind::Table ? 1 << bits : 0;
  return test;
}

/// A product with a matrix half of which are zeros that are not kept.
static Case sparse(std::string_view name, CodeKind kind, ElementType type,
                   int bits, int64_t m, int64_t k, int64_t n) {
  Case test{"product sparse " + std::string(name) + " m=" + std::to_string(m) +
                " k=" + std::to_string(k) + " n=" + std::to_string(n),
            PortableKernel::MatMulSparse,
            {{m, k}, {panelCount(n), kPlacesHeader + k}},
            false,
            {m, n},
            {int64_t(kind), bits, 1, 1}};
  test.multiplications = double(m * k * n);
  test.weights = ElementType::UI32;
  test.values = valueElements(k * panelCount(n) * kPanelWidth / 2, bits);
  test.valueType = type;
  test.entries = kind == CodeKind::Table ? 1 << bits : 0;
  return test;
}

/// Places of half of the columns of each row.
static void fillPlaces(const Tensor &places) {
  int64_t depth = places.extents[1] - kPlacesHeader;
  auto *words = static_cast<uint32_t *>(places.data);
  uint32_t any = 1;
  for (int64_t panel = 0; panel != places.extents[0]; ++panel) {
    int64_t first = panel * depth * kPanelWidth / 2;
    *words++ = uint32_t(first);
    *words++ = uint32_t(first >> 32);
    for (int64_t k = 0; k != depth; ++k) {
      any = any * 1664525 + 1013904223;
      // One of each two.
      uint32_t odd = (any >> 3 ^ any >> 16) & 0x55555555;
      *words++ = odd << 1 | (~odd & 0x55555555);
    }
  }
}

/// Twelve heads of as many queries as keys; values are the keys.
static Case attention(int64_t length, int64_t depth) {
  Case test{"attention of " + std::to_string(length) + " by " +
                std::to_string(depth),
            PortableKernel::Attention,
            {{12, length, depth}, {12, length, depth}},
            false,
            {12, length, depth}};
  test.numbers = {std::bit_cast<int64_t>(0.125), 0, 0};
  test.multiplications = 2.0 * 12 * double(length * length * depth);
  test.hasBias = false;
  test.rotates = false;
  return test;
}

/// Linear attention of 16 heads, with states of 128 by 128.
static Case gatedDelta(int64_t length) {
  constexpr int64_t kHeads = 16, kDepth = 128;
  Case test{"gated delta of " + std::to_string(length),
            PortableKernel::GatedDelta,
            {{1, kHeads, length, kDepth}, {1, kHeads, length, kDepth}},
            false,
            {1, length, kHeads, kDepth},
            // Queries and keys have a length of one.
            {1}};
  test.furtherInputs = {{1, kHeads, length, kDepth},
                        {1, kHeads, length},
                        {1, kHeads, length},
                        {1, kHeads, kDepth, kDepth}};
  test.furtherOutputs = {{1, kHeads, kDepth, kDepth}};
  // The state is read with the key, changed, and read with the query.
  test.multiplications = 3.0 * kHeads * double(length) * kDepth * kDepth;
  test.hasBias = false;
  test.rotates = false;
  return test;
}

/// Products whose factors are rounded or quantized.
static void addNarrow(std::vector<Case> &cases) {
  for (PortableKernel kernel :
       {PortableKernel::MatMulPairs, PortableKernel::MatMulQuads})
    for (int64_t m : {1, 8, 32, 128, 197, 512, 1500})
      for (auto [k, n] :
           {std::pair<int64_t, int64_t>{768, 3072}, {3072, 768}, {896, 4864}}) {
        bool isPairs = kernel == PortableKernel::MatMulPairs;
        std::vector<int64_t> panels{panelCount(n), pairCount(k), kPairRow};
        if (!isPairs)
          panels = {panelCount(n), 1 + quadCount(k), kQuadRow};
        Case test{std::string(isPairs ? "bf16 product" : "int8 product") +
                      " m=" + std::to_string(m) + " k=" + std::to_string(k) +
                      " n=" + std::to_string(n),
                  kernel,
                  {{m, k}, panels},
                  false,
                  {m, n}};
        test.multiplications = double(m * k * n);
        test.weights = isPairs ? ElementType::BF16 : ElementType::UI8;
        cases.push_back(test);
      }
}

static std::vector<Case> products() {
  std::vector<Case> cases;
  addNarrow(cases);
  const std::pair<int64_t, int64_t> matrices[] = {
      {768, 768}, {768, 3072}, {3072, 768}, {896, 4864}, {4864, 896}};
  for (ElementType type : {ElementType::F32, ElementType::BF16})
    for (int64_t m : {1, 8, 32, 128, 197, 512, 1500})
      for (auto [k, n] : matrices) {
        if (type != ElementType::F32 && (m > 128 || k != 896))
          continue;
        Case test{"product " + std::string(spelling(type)) +
                      " m=" + std::to_string(m) + " k=" + std::to_string(k) +
                      " n=" + std::to_string(n),
                  PortableKernel::MatMulPacked,
                  {{m, k}, {panelCount(n), k, kPanelWidth}},
                  false,
                  {m, n}};
        test.multiplications = double(m * k * n);
        test.weights = type;
        cases.push_back(test);
      }
  for (int64_t m : {1, 2, 4, 8, 16, 128})
    for (auto [k, n] : {std::pair{896, 4864}, {4864, 896}}) {
      cases.push_back(compressed("int8", CodeKind::Signed, 8, m, k, n));
      cases.push_back(compressed("int4", CodeKind::Signed, 4, m, k, n));
      cases.push_back(
          compressed("int8 rounded", CodeKind::Signed, 8, m, k, n, 8));
      cases.push_back(
          compressed("int4 rounded", CodeKind::Signed, 4, m, k, n, 8));
      cases.push_back(
          sparse("f32", CodeKind::Float, ElementType::F32, 32, m, k, n));
      cases.push_back(
          sparse("f16", CodeKind::Float, ElementType::F16, 16, m, k, n));
      cases.push_back(
          sparse("int8", CodeKind::Signed, ElementType::UI8, 8, m, k, n));
      cases.push_back(
          sparse("palette4", CodeKind::Table, ElementType::UI8, 4, m, k, n));
      if (m <= 16) {
        cases.push_back(
            compressed("int4 by 64", CodeKind::Signed, 4, m, k, n, 0, 64));
        cases.push_back(
            compressed("int4 by 128", CodeKind::Signed, 4, m, k, n, 0, 128));
        cases.push_back(compressed("palette2", CodeKind::Table, 2, m, k, n));
        cases.push_back(compressed("palette4", CodeKind::Table, 4, m, k, n));
        cases.push_back(compressed("palette6", CodeKind::Table, 6, m, k, n));
        cases.push_back(compressed("f8E4M3FN", CodeKind::F8E4M3FN, 8, m, k, n));
        cases.push_back(compressed("f8E5M2", CodeKind::F8E5M2, 8, m, k, n));
      }
    }
  for (auto [m, k, n] : {std::tuple{128, 64, 128},
                         {128, 128, 64},
                         {1, 64, 1024},
                         {1, 1024, 64},
                         {1024, 64, 1024}}) {
    Case test{"attention m=" + std::to_string(m) + " k=" + std::to_string(k) +
                  " n=" + std::to_string(n),
              PortableKernel::MatMul,
              {{12, m, k}, {12, k, n}},
              false,
              {12, m, n}};
    test.multiplications = 12.0 * m * k * n;
    test.hasBias = false;
    test.rotates = false;
    cases.push_back(test);
  }
  for (int64_t length : {128, 197, 512, 1500})
    cases.push_back(attention(length, 64));
  for (int64_t length : {1, 512})
    cases.push_back(gatedDelta(length));
  return cases;
}

static Case convolution(int64_t extent, int64_t channels, int64_t outputs,
                        int64_t kernel, int64_t stride, bool isLast = true,
                        int64_t groups = 1) {
  int64_t after = (extent - 1) / stride + 1;
  int64_t depth = kernel * kernel * channels / groups;
  Case test{
      "conv " + std::to_string(kernel) + "x" + std::to_string(kernel) + "/" +
          std::to_string(stride) + " " + std::to_string(extent) + " " +
          std::to_string(channels) + "->" + std::to_string(outputs) +
          (groups > 1 ? " groups" : "") + (isLast ? "" : " rows"),
      PortableKernel::ConvolutionPacked,
      {{1, channels, extent, extent},
       {groups, panelCount(outputs / groups), depth, kPanelWidth}},
      isLast,
      {1, outputs, after, after},
      {kernel, kernel, stride, stride, 1, 1, kernel / 2, kernel / 2, groups}};
  test.multiplications = double(after * after * outputs * depth);
  return test;
}

static Case depthwise(int64_t extent, int64_t channels, int64_t kernel,
                      int64_t stride) {
  Case test = convolution(extent, channels, channels, kernel, stride);
  test.name = "depthwise " + test.name;
  test.kernel = PortableKernel::ConvolutionDepthwise;
  test.shapes[1] = {kernel * kernel, channels};
  test.numbers.pop_back();
  test.multiplications /= double(channels);
  return test;
}

/// With 3x3, by squares of results.
static Case winograd(int64_t extent, int64_t channels, int64_t square) {
  Case test = convolution(extent, channels, channels, 3, 1);
  test.name = "F(" + std::to_string(square) + "x" + std::to_string(square) +
              ") " + test.name;
  test.kernel = PortableKernel::ConvolutionWinograd;
  test.shapes[1] = {winogradPoints(square), panelCount(channels), channels,
                    kPanelWidth};
  test.numbers = {1, 1};
  return test;
}

/// Of channels in pairs, which are even in number.
static Case inPairs(Case test) {
  test.name = "bf16 " + test.name;
  test.kernel = PortableKernel::ConvolutionPairs;
  test.shapes[1][2] /= 2;
  test.shapes[1][3] = kPairRow;
  test.weights = ElementType::BF16;
  return test;
}

static std::vector<Case> convolutions() {
  return {
      winograd(56, 64, 2),
      winograd(28, 128, 2),
      winograd(14, 256, 2),
      winograd(7, 512, 2),
      winograd(56, 64, 4),
      winograd(28, 128, 4),
      winograd(14, 256, 4),
      winograd(7, 512, 4),
      inPairs(convolution(56, 64, 64, 3, 1)),
      inPairs(convolution(14, 256, 256, 3, 1)),
      inPairs(convolution(56, 64, 256, 1, 1)),
      inPairs(convolution(14, 1024, 256, 1, 1)),
      convolution(56, 64, 64, 3, 1),
      convolution(28, 128, 128, 3, 1),
      convolution(14, 256, 256, 3, 1),
      convolution(7, 512, 512, 3, 1),
      convolution(56, 128, 128, 3, 2),
      convolution(56, 64, 256, 1, 1),
      convolution(28, 512, 128, 1, 1),
      convolution(14, 1024, 256, 1, 1),
      convolution(7, 512, 2048, 1, 1),
      convolution(112, 16, 96, 1, 1),
      convolution(56, 24, 144, 1, 1),
      convolution(56, 144, 24, 1, 1),
      convolution(112, 32, 16, 1, 1),
      convolution(224, 3, 64, 7, 2, false),
      convolution(224, 3, 32, 3, 2, false),
      convolution(56, 64, 64, 3, 1, false),
      convolution(28, 256, 256, 3, 1, true, 32),
      depthwise(112, 32, 3, 1),
      depthwise(112, 96, 3, 2),
      depthwise(56, 144, 3, 1),
      depthwise(14, 384, 3, 1),
      depthwise(7, 960, 3, 1),
      depthwise(56, 96, 7, 1),
  };
}

static void fill(void *data, ElementType type, int64_t count) {
  for (int64_t i = 0; i != count; ++i) {
    float value = float((i * 7919) % 2001 - 1000) * 1e-3f;
    if (type == ElementType::F32)
      static_cast<float *>(data)[i] = value;
    else if (type == ElementType::UI8)
      static_cast<uint8_t *>(data)[i] = uint8_t(i * 37 % 120);
    else if (type == ElementType::F16)
      static_cast<Float16 *>(data)[i] = Float16(value);
    else
      static_cast<BFloat16 *>(data)[i] = BFloat16(value);
  }
}

/// With its channels, axis 1, one after the other.
static void putChannelsLast(Tensor &tensor) {
  int64_t step = tensor.extents[1];
  tensor.steps[1] = 1;
  for (int axis = tensor.rank; axis-- > 2;) {
    tensor.steps[axis] = step;
    step *= tensor.extents[axis];
  }
  tensor.steps[0] = step;
}

namespace {
/// Tensors of f32 with memory of their own.
class OwnTensors {
public:
  explicit OwnTensors(const std::vector<std::vector<int64_t>> &shapes) {
    for (const std::vector<int64_t> &shape : shapes) {
      Tensor tensor(ElementType::F32, nullptr, shape);
      std::vector<float> &values = memory.emplace_back(size_t(tensor.size()));
      fill(values.data(), ElementType::F32, tensor.size());
      // What is multiplied over many steps stays in range.
      for (float &value : values)
        value *= 0.05f;
      tensor.data = values.data();
      tensors.push_back(tensor);
    }
  }

  std::vector<Tensor> tensors;

private:
  std::vector<std::vector<float>> memory;
};
} // namespace

/// relu(x + bias)
static TileProgram biasRelu() {
  TileProgram program;
  program.numInputs = 2;
  program.numRegisters = 2;
  program.instructions = {{TileOpcode::Add, 0, 0, 1}, {TileOpcode::Relu, 0, 0}};
  program.results = {0};
  return program;
}

/// The shortest mean of some rounds, in seconds.
static double bestTime(double seconds,
                       const std::function<void(int64_t)> &call) {
  int64_t turn = 0;
  call(turn++);
  auto start = Clock::now();
  call(turn++);
  double once = secondsSince(start);
  int64_t calls = std::max<int64_t>(1, int64_t(0.0005 / once));
  double best = 1e9;
  auto begin = Clock::now();
  do {
    start = Clock::now();
    for (int64_t i = 0; i != calls; ++i)
      call(turn++);
    best = std::min(best, secondsSince(start) / double(calls));
  } while (secondsSince(begin) < seconds);
  return best;
}

namespace {
struct Result {
  const KernelVariant *variant;
  double seconds;
  double weightBytes;
};
} // namespace

static Result measure(const Case &test, const Options &options,
                      ThreadPool &pool) {
  Tensor x(ElementType::F32, nullptr, test.shapes[0]);
  Tensor weights(test.weights, nullptr, test.shapes[1]);
  Tensor output(ElementType::F32, nullptr, test.output);
  if (test.isLast)
    putChannelsLast(x);
  if (x.rank == 4 && test.furtherInputs.empty())
    putChannelsLast(output);
  int64_t codeBytes = weights.size() * int64_t(byteSize(test.weights));
  Tensor scales(ElementType::F16, nullptr, test.scales);
  Tensor values(test.valueType, nullptr, {{test.values}});
  int64_t weightBytes = codeBytes +
                        (test.scales.empty() ? 0 : 2 * scales.size()) +
                        test.values * int64_t(byteSize(test.valueType));
  int64_t apart = (weightBytes + 4095) / 4096 * 4096;
  int64_t copies = test.rotates ? (96 << 20) / apart + 2 : 1;
  Memory left(size_t(x.size()) * 4), right(size_t(apart * copies)),
      results(size_t(output.size()) * 4);
  std::vector<float> bias(4096, 0.5f);
  fill(left.get(), ElementType::F32, x.size());
  if (test.values == 0)
    fill(right.get(), test.weights, weights.size());
  auto *behind = static_cast<char *>(right.get()) + codeBytes;
  if (!test.scales.empty())
    fill(behind, ElementType::F16, scales.size());
  if (test.values != 0) {
    fillPlaces(Tensor(test.weights, right.get(), test.shapes[1]));
    fill(behind, test.valueType, test.values);
  }
  for (int64_t i = 1; i < copies; ++i)
    std::memcpy(static_cast<char *>(right.get()) + i * apart, right.get(),
                size_t(weightBytes));
  x.data = left.get();
  weights.data = right.get();
  output.data = results.get();
  bool isMatrix = test.output.size() == 2;
  std::vector<int64_t> biasSteps(test.output.size());
  biasSteps[isMatrix ? test.output.size() - 1 : 1] = 1;
  bias.resize(size_t(*std::ranges::max_element(test.output)));
  Tensor offsets =
      Tensor(ElementType::F32, bias.data(), {}).view(test.output, biasSteps);
  std::vector<Tensor> inputs = {x, weights};
  if (test.kernel == PortableKernel::Attention)
    inputs.insert(inputs.end(), {weights, Tensor()});
  std::vector<float> table(size_t(test.entries), 0.5f);
  if (test.values != 0) {
    values.data = behind;
    inputs.insert(inputs.end(),
                  {values, Tensor(), Tensor(), Tensor(), Tensor()});
  }
  if (!test.scales.empty()) {
    scales.data = behind;
    inputs.insert(inputs.end(), {scales, Tensor(), Tensor(), Tensor()});
  }
  if (test.entries != 0)
    inputs.back() = Tensor(ElementType::F32, table.data(),
                           std::vector<int64_t>{1, 1, test.entries});
  TileProgram program = biasRelu();
  if (test.hasBias)
    inputs.push_back(offsets);
  OwnTensors furtherInputs(test.furtherInputs);
  OwnTensors furtherOutputs(test.furtherOutputs);
  inputs.insert(inputs.end(), furtherInputs.tensors.begin(),
                furtherInputs.tensors.end());
  std::vector<Tensor> outputs = furtherOutputs.tensors;
  outputs.insert(outputs.begin(), output);
  Invocation invocation{inputs, outputs, test.numbers};
  if (test.hasBias)
    invocation.program = &program;
  invocation.pool = &pool;
  const KernelVariant *variant =
      selectVariant(test.kernel, options.isa, invocation);
  if (!variant)
    return {nullptr, 0, 0};
  Memory scratch(variant->scratch ? variant->scratch(invocation) : 0);
  invocation.scratch = scratch.get();
  double seconds = bestTime(options.seconds, [&](int64_t turn) {
    inputs[1].data = static_cast<char *>(right.get()) + turn % copies * apart;
    if (!test.scales.empty() || test.values != 0)
      inputs[2].data = static_cast<char *>(inputs[1].data) + codeBytes;
    ThreadPool::Active active(pool);
    if (Error error = variant->function(invocation)) {
      std::fprintf(stderr, "%s\n", error.message().c_str());
      std::exit(1);
    }
  });
  return {variant, seconds, double(weightBytes)};
}

static Options parse(int argc, char **argv) {
  Options options;
  for (int i = 1; i + 1 < argc; i += 2) {
    std::string name = argv[i], value = argv[i + 1];
    if (name == "--threads") {
      options.threads.clear();
      std::stringstream list(value);
      for (std::string part; std::getline(list, part, ',');)
        options.threads.push_back(std::stoi(part));
    } else if (name == "--isa") {
      for (Isa isa : knownIsas())
        if (corten::runtime::name(isa) == value && isa <= detectedIsa())
          options.isa = isa;
    } else if (name == "--filter") {
      options.filter = value;
    } else if (name == "--seconds") {
      options.seconds = std::stod(value);
    }
  }
  return options;
}

int main(int argc, char **argv) {
  Options options = parse(argc, argv);
  std::vector<Case> cases = products();
  std::ranges::copy(convolutions(), std::back_inserter(cases));
  for (int threads : options.threads) {
    std::shared_ptr<ThreadPool> pool = ThreadPool::shared(threads);
    double peak = measurePeak(options.isa, *pool);
    double reading = measureReading(*pool);
    std::printf("{\"machine\": \"%s\", \"isa\": \"%s\", \"threads\": %d, "
                "\"peak_gflops\": %.1f, \"read_gbs\": %.1f}\n",
                machine().c_str(), std::string(name(options.isa)).c_str(),
                threads, peak, reading);
    for (const Case &test : cases) {
      if (test.name.find(options.filter) == std::string::npos)
        continue;
      // Other guests of the machine come and go.
      peak = measurePeak(options.isa, *pool, test.kernel);
      Result result = measure(test, options, *pool);
      if (!result.variant)
        continue;
      double gflops = 2 * test.multiplications / result.seconds * 1e-9;
      double rate = result.weightBytes / result.seconds * 1e-9;
      std::printf("{\"name\": \"%s\", \"variant\": \"%s\", \"threads\": %d, "
                  "\"us\": %.1f, \"gflops\": %.1f, \"peak_gflops\": %.1f, "
                  "\"of_peak\": %.2f, "
                  "\"weights_gbs\": %.1f, \"of_reading\": %.2f}\n",
                  test.name.c_str(), std::string(result.variant->name).c_str(),
                  threads, result.seconds * 1e6, gflops, peak,
                  peak ? gflops / peak : 0, rate, rate / reading);
      std::fflush(stdout);
    }
  }
}
