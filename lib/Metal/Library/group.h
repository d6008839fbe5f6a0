// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What threads do together: barriers, operations of a simdgroup and of a quad,
// and matrices that a simdgroup holds.

#ifndef CORTEN_METAL_GROUP_H
#define CORTEN_METAL_GROUP_H

namespace metal {

/// Where a call stands, as the default argument of the function called.
#define CORTEN_HERE                                                            \
  CortenPlace place = CortenPlace {                                            \
    __builtin_FILE(), __builtin_LINE(), __builtin_COLUMN()                     \
  }
/// A function of the runtime's side: its memory is not the kernel's.
#define CORTEN_LANES __attribute__((noinline, no_sanitize("thread")))

enum class mem_flags {
  mem_none = 0,
  mem_device = kCortenDevice,
  mem_threadgroup = kCortenThreadgroup,
  mem_texture = 4,
  mem_threadgroup_imageblock = 8,
  mem_object_data = 16,
};
constexpr mem_flags operator|(mem_flags a, mem_flags b) {
  return mem_flags(int(a) | int(b));
}
constexpr mem_flags operator&(mem_flags a, mem_flags b) {
  return mem_flags(int(a) & int(b));
}

CORTEN_LANES inline void threadgroup_barrier(mem_flags flags, CORTEN_HERE) {
  corten_barrier(unsigned(flags), &place);
}
CORTEN_LANES inline void simdgroup_barrier(mem_flags flags, CORTEN_HERE) {
  corten_simd_barrier(unsigned(flags), &place);
}

//===----------------------------------------------------------------------===//
// Values of all lanes
//===----------------------------------------------------------------------===//

/// The values that the lanes at one operation brought.
template <class T> struct CortenLanes {
  T values[32];
  uint active;
  uint lane;
  bool has(uint i) const { return i < 32 && (active >> i & 1); }
};

template <class T>
CORTEN_LANES CortenLanes<T> corten_gather(T value, const CortenPlace &place) {
  static_assert(sizeof(T) <= kCortenSlot);
  CortenLanes<T> lanes;
  const unsigned char *slots =
      corten_exchange(&value, sizeof(T), &lanes.active, &place);
  for (int i = 0; i < 32; ++i)
    __builtin_memcpy(&lanes.values[i], slots + i * kCortenSlot, sizeof(T));
  lanes.lane = corten_lane();
  return lanes;
}

// Combines the values of the lanes in [FIRST, LAST) that are active, in order.
#define CORTEN_REDUCE(name, FIRST, LAST, EXPR)                                 \
  template <class T> CORTEN_LANES T name(T value, CORTEN_HERE) {               \
    CortenLanes<T> lanes = corten_gather(value, place);                        \
    T a = value;                                                               \
    bool any = false;                                                          \
    for (uint i = FIRST; i < LAST; ++i) {                                      \
      if (!lanes.has(i))                                                       \
        continue;                                                              \
      T b = lanes.values[i];                                                   \
      a = any ? static_cast<T>(EXPR) : b;                                      \
      any = true;                                                              \
    }                                                                          \
    return a;                                                                  \
  }
#define CORTEN_REDUCTIONS(name, EXPR)                                          \
  CORTEN_REDUCE(simd_##name, 0, 32, EXPR)                                      \
  CORTEN_REDUCE(quad_##name, (lanes.lane & ~3u), ((lanes.lane & ~3u) + 4), EXPR)
CORTEN_REDUCTIONS(sum, a + b)
CORTEN_REDUCTIONS(product, a *b)
CORTEN_REDUCTIONS(min, min(a, b))
CORTEN_REDUCTIONS(max, max(a, b))
CORTEN_REDUCTIONS(and, a &b)
CORTEN_REDUCTIONS(or, a | b)
CORTEN_REDUCTIONS(xor, a ^ b)
#undef CORTEN_REDUCTIONS
#undef CORTEN_REDUCE

// Combines the values of the lanes before this one, and of this one where
// INCLUSIVE says so.
#define CORTEN_PREFIX(name, FIRST, IDENTITY, EXPR)                             \
  template <class T>                                                           \
  CORTEN_LANES T name(T value, CORTEN_HERE, bool inclusive = false) {          \
    CortenLanes<T> lanes = corten_gather(value, place);                        \
    T a = T(IDENTITY);                                                         \
    for (uint i = FIRST; i < lanes.lane + inclusive; ++i) {                    \
      if (!lanes.has(i))                                                       \
        continue;                                                              \
      T b = lanes.values[i];                                                   \
      a = static_cast<T>(EXPR);                                                \
    }                                                                          \
    return a;                                                                  \
  }
#define CORTEN_PREFIXES(group, FIRST)                                          \
  CORTEN_PREFIX(group##_prefix_exclusive_sum, FIRST, 0, a + b)                 \
  CORTEN_PREFIX(group##_prefix_exclusive_product, FIRST, 1, a *b)              \
  template <class T> T group##_prefix_inclusive_sum(T value, CORTEN_HERE) {    \
    return group##_prefix_exclusive_sum(value, place, true);                   \
  }                                                                            \
  template <class T>                                                           \
  T group##_prefix_inclusive_product(T value, CORTEN_HERE) {                   \
    return group##_prefix_exclusive_product(value, place, true);               \
  }
CORTEN_PREFIXES(simd, 0)
CORTEN_PREFIXES(quad, (lanes.lane & ~3u))
#undef CORTEN_PREFIXES
#undef CORTEN_PREFIX

template <class T>
CORTEN_LANES T corten_take(const CortenLanes<T> &lanes, uint from,
                           const CortenPlace &place) {
  if (!lanes.has(from))
    corten_inactive_lane(from, &place);
  return lanes.values[from & 31];
}

// Reads the value of lane FROM among `width` neighbours; where there is none,
// the lane keeps what OUTSIDE says.
#define CORTEN_SHUFFLE(name, FROM, OUTSIDE)                                    \
  template <class T>                                                           \
  CORTEN_LANES T simd_##name(T value, ushort by, CORTEN_HERE) {                \
    constexpr int width = 32;                                                  \
    CortenLanes<T> lanes = corten_gather(value, place);                        \
    int base = 0, lane = int(lanes.lane), from = FROM;                         \
    return from < 0 || from >= width ? OUTSIDE                                 \
                                     : corten_take(lanes, base + from, place); \
  }                                                                            \
  template <class T>                                                           \
  CORTEN_LANES T quad_##name(T value, ushort by, CORTEN_HERE) {                \
    constexpr int width = 4;                                                   \
    CortenLanes<T> lanes = corten_gather(value, place);                        \
    int base = int(lanes.lane & ~3u), lane = int(lanes.lane & 3), from = FROM; \
    return from < 0 || from >= width ? OUTSIDE                                 \
                                     : corten_take(lanes, base + from, place); \
  }
CORTEN_SHUFFLE(shuffle, by, corten_take(lanes, 32, place))
CORTEN_SHUFFLE(broadcast, by, corten_take(lanes, 32, place))
CORTEN_SHUFFLE(shuffle_xor, (lane ^ by), corten_take(lanes, 32, place))
CORTEN_SHUFFLE(shuffle_up, (lane - by), value)
CORTEN_SHUFFLE(shuffle_down, (lane + by), value)
CORTEN_SHUFFLE(shuffle_rotate_up, ((lane - by + 2 * width) % width), value)
CORTEN_SHUFFLE(shuffle_rotate_down, ((lane + by) % width), value)
#undef CORTEN_SHUFFLE

template <class T>
CORTEN_LANES T simd_shuffle_and_fill_up(T value, T fill, ushort by,
                                        CORTEN_HERE) {
  CortenLanes<T> lanes = corten_gather(value, place);
  CortenLanes<T> fills = corten_gather(fill, place);
  int from = int(lanes.lane) - by;
  return from < 0 ? corten_take(fills, 32 + from, place)
                  : corten_take(lanes, from, place);
}
template <class T>
CORTEN_LANES T simd_shuffle_and_fill_down(T value, T fill, ushort by,
                                          CORTEN_HERE) {
  CortenLanes<T> lanes = corten_gather(value, place);
  CortenLanes<T> fills = corten_gather(fill, place);
  int from = int(lanes.lane) + by;
  return from > 31 ? corten_take(fills, from - 32, place)
                   : corten_take(lanes, from, place);
}
template <class T> CORTEN_LANES T simd_broadcast_first(T value, CORTEN_HERE) {
  CortenLanes<T> lanes = corten_gather(value, place);
  return lanes.values[__builtin_ctz(lanes.active)];
}
template <class T> CORTEN_LANES T quad_broadcast_first(T value, CORTEN_HERE) {
  CortenLanes<T> lanes = corten_gather(value, place);
  uint base = lanes.lane & ~3u;
  return lanes.values[base + __builtin_ctz(lanes.active >> base)];
}

struct simd_vote {
  using vote_t = ulong;
  explicit constexpr simd_vote(vote_t bits = 0) : bits(bits) {}
  explicit constexpr operator vote_t() const { return bits; }
  bool all() const { return bits == 0xffffffff; }
  bool any() const { return bits != 0; }

private:
  vote_t bits;
};
CORTEN_LANES inline uint corten_ballot(bool value, uint &active,
                                       const CortenPlace &place) {
  CortenLanes<bool> lanes = corten_gather(value, place);
  active = lanes.active;
  uint bits = 0;
  for (uint i = 0; i < 32; ++i)
    bits |= uint(lanes.has(i) && lanes.values[i]) << i;
  return bits;
}
CORTEN_LANES inline simd_vote simd_ballot(bool value, CORTEN_HERE) {
  uint active = 0;
  return simd_vote(corten_ballot(value, active, place));
}
CORTEN_LANES inline simd_vote simd_active_threads_mask(CORTEN_HERE) {
  uint active = 0;
  corten_ballot(true, active, place);
  return simd_vote(active);
}
CORTEN_LANES inline bool simd_all(bool value, CORTEN_HERE) {
  uint active = 0;
  uint bits = corten_ballot(value, active, place);
  return bits == active;
}
CORTEN_LANES inline bool simd_any(bool value, CORTEN_HERE) {
  uint active = 0;
  return corten_ballot(value, active, place) != 0;
}
CORTEN_LANES inline bool simd_is_first(CORTEN_HERE) {
  uint active = 0;
  corten_ballot(true, active, place);
  return uint(__builtin_ctz(active)) == corten_lane();
}
CORTEN_LANES inline bool quad_all(bool value, CORTEN_HERE) {
  uint active = 0;
  uint bits = corten_ballot(value, active, place);
  uint quad = 15u << (corten_lane() & ~3u);
  return (bits & quad) == (active & quad);
}
CORTEN_LANES inline bool quad_any(bool value, CORTEN_HERE) {
  uint active = 0;
  uint bits = corten_ballot(value, active, place);
  return bits & 15u << (corten_lane() & ~3u);
}

//===----------------------------------------------------------------------===//
// Matrices of a simdgroup
//===----------------------------------------------------------------------===//

/// A matrix of 8 by 8 elements, two to a lane. Which two is not specified by
/// Metal; here it is what its devices do.
template <class T, int C, int R> struct simdgroup_matrix {
  static_assert(C == 8 && R == 8, "a simdgroup_matrix has 8 by 8 elements");
  vec<T, 2> elements;

  simdgroup_matrix() = default;
  /// The number on the diagonal, zero elsewhere.
  explicit simdgroup_matrix(T value) {
    uint r = row(), c = column();
    elements = vec<T, 2>(r == c ? value : T(0), r == c + 1 ? value : T(0));
  }
  vec<T, 2> &thread_elements() { return elements; }
  const vec<T, 2> &thread_elements() const { return elements; }

  static uint row(uint lane = corten_lane()) {
    return (lane / 4 & 4) + lane / 2 % 4;
  }
  static uint column(uint lane = corten_lane()) {
    return (lane / 4 & 2) * 2 + lane % 2 * 2;
  }
};
using simdgroup_float8x8 = simdgroup_matrix<float, 8, 8>;
using simdgroup_half8x8 = simdgroup_matrix<half, 8, 8>;
using simdgroup_bfloat8x8 = simdgroup_matrix<bfloat, 8, 8>;

template <class T, int C, int R>
simdgroup_matrix<T, C, R> make_filled_simdgroup_matrix(T value) {
  simdgroup_matrix<T, C, R> m;
  m.elements = vec<T, 2>(value);
  return m;
}

/// The address of element (row, column + i) of the lane.
#define CORTEN_ELEMENT(i)                                                      \
  (source +                                                                    \
   (transposed ? (origin.x + m.row()) + (origin.y + m.column() + i) * perRow   \
               : (origin.x + m.column() + i) + (origin.y + m.row()) * perRow))
template <class T, class S>
  requires is_same_v<remove_cv_t<S>, T>
__attribute__((always_inline)) inline void
simdgroup_load(simdgroup_matrix<T, 8, 8> &m, S *source, ulong perRow = 8,
               ulong2 origin = ulong2(0), bool transposed = false) {
  m.elements.x = *CORTEN_ELEMENT(0);
  m.elements.y = *CORTEN_ELEMENT(1);
}
template <class T, class S>
  requires is_same_v<remove_cv_t<S>, T>
__attribute__((always_inline)) inline void
simdgroup_store(simdgroup_matrix<T, 8, 8> m, S *source, ulong perRow = 8,
                ulong2 origin = ulong2(0), bool transposed = false) {
  *CORTEN_ELEMENT(0) = m.elements.x;
  *CORTEN_ELEMENT(1) = m.elements.y;
}
#undef CORTEN_ELEMENT

template <class D, class A, class B, class C>
CORTEN_LANES void simdgroup_multiply_accumulate(simdgroup_matrix<D, 8, 8> &d,
                                                simdgroup_matrix<A, 8, 8> a,
                                                simdgroup_matrix<B, 8, 8> b,
                                                simdgroup_matrix<C, 8, 8> c,
                                                CORTEN_HERE) {
  struct Pair {
    vec<A, 2> a;
    vec<B, 2> b;
  };
  CortenLanes<Pair> lanes = corten_gather(Pair{a.elements, b.elements}, place);
  if (lanes.active != 0xffffffff)
    corten_inactive_lane(__builtin_ctz(~lanes.active), &place);
  float left[8][8], right[8][8];
  for (uint i = 0; i < 32; ++i) {
    uint row = a.row(i), column = a.column(i);
    left[row][column] = lanes.values[i].a.x;
    left[row][column + 1] = lanes.values[i].a.y;
    right[row][column] = lanes.values[i].b.x;
    right[row][column + 1] = lanes.values[i].b.y;
  }
  float x = c.elements.x, y = c.elements.y;
  uint row = d.row(), column = d.column();
  for (int k = 0; k < 8; ++k) {
    x += left[row][k] * right[k][column];
    y += left[row][k] * right[k][column + 1];
  }
  d.elements = vec<D, 2>(static_cast<D>(x), static_cast<D>(y));
}
template <class D, class A, class B>
CORTEN_LANES void simdgroup_multiply(simdgroup_matrix<D, 8, 8> &d,
                                     simdgroup_matrix<A, 8, 8> a,
                                     simdgroup_matrix<B, 8, 8> b, CORTEN_HERE) {
  simdgroup_multiply_accumulate(
      d, a, b, make_filled_simdgroup_matrix<D, 8, 8>(D(0)), place);
}

#undef CORTEN_LANES
#undef CORTEN_HERE

} // namespace metal

#endif // CORTEN_METAL_GROUP_H
