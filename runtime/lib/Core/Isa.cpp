// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "corten/Runtime/Isa.h"

#include <cstdlib>
#include <optional>

#ifdef __x86_64__
#include <cpuid.h>
#include <csignal>
#include <cstring>
#include <immintrin.h>
#endif
#if defined(__x86_64__) && defined(__linux__)
#include <sched.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#endif

using namespace corten::runtime;

static constexpr std::string_view kNames[] = {"portable",    "avx2", "avx512",
                                              "avx512_bf16", "amx",  "neon"};

std::string_view corten::runtime::name(Isa isa) { return kNames[size_t(isa)]; }

#ifdef __x86_64__
//===----------------------------------------------------------------------===//
// Tiles are tried out: there are machines on which CPUID advertises them and
// says nothing about their shape, and on which programs that ask it die.
//===----------------------------------------------------------------------===//

#ifdef __linux__
/// Palette 1 has 8 tiles of 16 rows of 64 bytes.
struct TileConfiguration {
  uint8_t palette = 1;
  uint8_t startRow = 0;
  uint8_t reserved[14] = {};
  uint16_t bytes[16] = {64, 64, 64};
  uint8_t rows[16] = {16, 16, 16};
};

static constexpr int kWorks = 42;

/// The kernel gives the registers of tiles to those who ask.
__attribute__((no_sanitize("address", "undefined", "thread"))) static bool
requestTiles() {
  constexpr long kRequestPermission = 0x1023;
  constexpr long kTileData = 18;
  return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}

/// Multiplies bytes and floats in tiles. Memory is that of the parent: nothing
/// of it is touched but the stack.
__attribute__((target("amx-tile,amx-int8,amx-bf16"),
               no_sanitize("address", "undefined", "thread"))) static int
tryTiles(void *) {
  struct sigaction leave;
  memset(&leave, 0, sizeof leave);
  leave.sa_handler = [](int) { _exit(0); };
  for (int signal : {SIGILL, SIGSEGV, SIGBUS, SIGFPE})
    if (sigaction(signal, &leave, nullptr) != 0)
      _exit(0);
  if (!requestTiles())
    _exit(0);
  alignas(64) TileConfiguration configuration;
  alignas(64) uint8_t ones[16][64];
  alignas(64) uint16_t floats[16][32];
  alignas(64) int32_t sums[16][16];
  alignas(64) float floatSums[16][16];
  memset(ones, 1, sizeof ones);
  for (auto &row : floats)
    for (uint16_t &element : row)
      element = 0x3f80; // 1 in bf16
  _tile_loadconfig(&configuration);
  _tile_loadd(1, ones, 64);
  _tile_loadd(2, ones, 64);
  _tile_zero(0);
  _tile_dpbssd(0, 1, 2);
  _tile_stored(0, sums, 64);
  _tile_loadd(1, floats, 64);
  _tile_loadd(2, floats, 64);
  _tile_zero(0);
  _tile_dpbf16ps(0, 1, 2);
  _tile_stored(0, floatSums, 64);
  _tile_release();
  for (int row = 0; row != 16; ++row)
    for (int column = 0; column != 16; ++column)
      if (sums[row][column] != 64 || floatSums[row][column] != 32)
        _exit(0);
  _exit(kWorks);
}

/// In a child, which may die of it. It borrows this process as vfork does, so
/// that the size of the process does not matter, and says nothing to anyone who
/// waits for children.
static bool hasTiles() {
  alignas(64) static uint8_t stack[64 << 10];
  int child =
      clone(&tryTiles, stack + sizeof stack, CLONE_VM | CLONE_VFORK, nullptr);
  int status = 0;
  return child > 0 && waitpid(child, &status, __WALL) == child &&
         WIFEXITED(status) && WEXITSTATUS(status) == kWorks && requestTiles();
}
#else
static bool hasTiles() { return false; }
#endif

static uint64_t enabledRegisters() {
  uint32_t low = 0, high = 0;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return uint64_t(high) << 32 | low;
}

static constexpr Isa kKnown[] = {Isa::Portable, Isa::Avx2, Isa::Avx512,
                                 Isa::Avx512Bf16, Isa::Amx};

static Isa detect() {
  auto has = [](uint32_t word, std::initializer_list<int> bits) {
    for (int bit : bits)
      if (!(word >> bit & 1))
        return false;
    return true;
  };
  uint32_t eax = 0, ebx = 0, ecx = 0, edx = 0;
  // FMA, XSAVE as the system uses it, AVX, F16C.
  if (!__get_cpuid(1, &eax, &ebx, &ecx, &edx) || !has(ecx, {12, 27, 28, 29}))
    return Isa::Portable;
  uint64_t registers = enabledRegisters();
  constexpr uint64_t kVectors = 0x6, kWideVectors = 0xe6, kTiles = 0x60000;
  if ((registers & kVectors) != kVectors ||
      !__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) || !has(ebx, {5}))
    return Isa::Portable;
  // F, DQ, BW, VL; VNNI.
  if ((registers & kWideVectors) != kWideVectors ||
      !has(ebx, {16, 17, 30, 31}) || !has(ecx, {11}))
    return Isa::Avx2;
  bool saysTiles =
      has(edx, {22, 24, 25}) && (registers & kTiles) == kTiles; // bf16, int8
  if (!__get_cpuid_count(7, 1, &eax, &ebx, &ecx, &edx) || !has(eax, {5}))
    return Isa::Avx512;
  return saysTiles && hasTiles() ? Isa::Amx : Isa::Avx512Bf16;
}
#elif defined(__aarch64__)
static constexpr Isa kKnown[] = {Isa::Portable, Isa::Neon};
static Isa detect() { return Isa::Neon; }
#else
static constexpr Isa kKnown[] = {Isa::Portable};
static Isa detect() { return Isa::Portable; }
#endif

std::span<const Isa> corten::runtime::knownIsas() { return kKnown; }

Isa corten::runtime::detectedIsa() {
  static const Isa isa = detect();
  return isa;
}

Expected<Isa> corten::runtime::chooseIsa() {
  Isa detected = detectedIsa();
  const char *text = std::getenv("CORTEN_ISA");
  if (!text || !*text)
    return detected;
  std::string known;
  for (Isa isa : kKnown) {
    known += (known.empty() ? "" : ", ") + std::string(name(isa));
    if (name(isa) != text)
      continue;
    if (isa > detected)
      return Error("CORTEN_ISA is " + std::string(text) +
                   ", but this machine has only " +
                   std::string(name(detected)) + ": choose that or less");
    return isa;
  }
  return Error("CORTEN_ISA is '" + std::string(text) + "'; it can be one of " +
               known);
}
