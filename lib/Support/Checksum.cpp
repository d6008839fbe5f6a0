// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "corten/Support/Checksum.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CRC.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

using namespace corten;
using llvm::StringRef;

static uint32_t extend(uint32_t crc, StringRef data) {
  return llvm::crc32(crc, llvm::arrayRefFromStringRef(data));
}

#if defined(__x86_64__)
/// Folds 64 bytes at a time by carry-less multiplication, after Gopal et al.,
/// "Fast CRC Computation for Generic Polynomials Using PCLMULQDQ". Four lanes
/// of 128 bits carry a remainder each; constants are powers of x modulo the
/// polynomial, bit-reflected: x^(512+32), x^(512-32) to fold over four lanes,
/// x^(128+32), x^(128-32) over one.
///
/// Takes at least 64 bytes, a multiple of 16, and the inverted checksum so far.
__attribute__((target("pclmul,sse4.1"))) static uint32_t
foldBlocks(uint32_t crc, StringRef blocks) {
  const char *data = blocks.data();
  size_t size = blocks.size();
  const __m128i overFour = _mm_set_epi64x(0x1c6e41596, 0x154442bd4);
  const __m128i overOne = _mm_set_epi64x(0x0ccaa009e, 0x1751997d0);
  auto load = [](const char *from) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i *>(from));
  };
  auto fold = [](__m128i lane, __m128i constants, __m128i next)
                  __attribute__((target("pclmul,sse4.1"))) {
                    __m128i low = _mm_clmulepi64_si128(lane, constants, 0x00);
                    __m128i high = _mm_clmulepi64_si128(lane, constants, 0x11);
                    return _mm_xor_si128(_mm_xor_si128(low, high), next);
                  };

  __m128i a = _mm_xor_si128(load(data), _mm_cvtsi32_si128(crc));
  __m128i b = load(data + 16), c = load(data + 32), d = load(data + 48);
  for (data += 64, size -= 64; size >= 64; data += 64, size -= 64) {
    a = fold(a, overFour, load(data));
    b = fold(b, overFour, load(data + 16));
    c = fold(c, overFour, load(data + 32));
    d = fold(d, overFour, load(data + 48));
  }
  a = fold(a, overOne, b);
  a = fold(a, overOne, c);
  a = fold(a, overOne, d);
  for (; size >= 16; data += 16, size -= 16)
    a = fold(a, overOne, load(data));

  // What is left is the checksum of 16 bytes.
  char rest[16];
  _mm_storeu_si128(reinterpret_cast<__m128i *>(rest), a);
  return ~extend(~0U, StringRef(rest, sizeof(rest)));
}

static uint32_t extendByBlocks(uint32_t crc, StringRef data) {
  static const bool isFast = __builtin_cpu_supports("pclmul");
  if (!isFast || data.size() < 64)
    return extend(crc, data);
  size_t blocks = data.size() & ~size_t{15};
  crc = ~foldBlocks(~crc, data.take_front(blocks));
  return extend(crc, data.drop_front(blocks));
}
#endif

uint32_t corten::checksum(StringRef data, uint32_t before) {
  // zlib begins anew where there is no memory.
  if (data.empty())
    return before;
#if defined(__x86_64__)
  return extendByBlocks(before, data);
#else
  return extend(before, data);
#endif
}
