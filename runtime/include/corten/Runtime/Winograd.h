// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Convolutions with windows of 3x3 by the minimal filtering of Winograd, as
// Lavin and Gray wrote it down for networks: Y = A^T [(G g G^T) (B^T d B)] A.
// A square of m x m results takes (m + 2)^2 multiplications instead of 9 m^2.

#ifndef CORTEN_RUNTIME_WINOGRAD_H
#define CORTEN_RUNTIME_WINOGRAD_H

#include <cstdint>

namespace corten::runtime {

/// Of squares of M x M results.
template <int M> struct Winograd;

template <> struct Winograd<2> {
  static constexpr double kInput[4][4] = {
      {1, 0, -1, 0}, {0, 1, 1, 0}, {0, -1, 1, 0}, {0, 1, 0, -1}};
  static constexpr double kWeights[4][3] = {
      {1, 0, 0}, {0.5, 0.5, 0.5}, {0.5, -0.5, 0.5}, {0, 0, 1}};
  static constexpr double kOutput[2][4] = {{1, 1, 1, 0}, {0, 1, -1, -1}};
};

template <> struct Winograd<4> {
  static constexpr double kInput[6][6] = {
      {4, 0, -5, 0, 1, 0},  {0, -4, -4, 1, 1, 0}, {0, 4, -4, -1, 1, 0},
      {0, -2, -1, 2, 1, 0}, {0, 2, -1, -2, 1, 0}, {0, 4, 0, -5, 0, 1}};
  static constexpr double kWeights[6][3] = {{1.0 / 4, 0, 0},
                                            {-1.0 / 6, -1.0 / 6, -1.0 / 6},
                                            {-1.0 / 6, 1.0 / 6, -1.0 / 6},
                                            {1.0 / 24, 1.0 / 12, 1.0 / 6},
                                            {1.0 / 24, -1.0 / 12, 1.0 / 6},
                                            {0, 0, 1}};
  static constexpr double kOutput[4][6] = {{1, 1, 1, 1, 1, 0},
                                           {0, 1, -1, 2, -2, 0},
                                           {0, 1, 1, 4, 4, 0},
                                           {0, 1, -1, 8, -8, 1}};
};

inline constexpr int kWinogradKernel = 3;
/// The most points that a square has.
inline constexpr int kMaxWinogradPoints = 36;

/// How many points a square of m x m results is computed from.
constexpr int64_t winogradPoints(int64_t m) {
  return (m + kWinogradKernel - 1) * (m + kWinogradKernel - 1);
}
/// The other way round; 0 if there is none.
constexpr int64_t winogradSquare(int64_t points) {
  return points == winogradPoints(2) ? 2 : points == winogradPoints(4) ? 4 : 0;
}

/// `to = left * from * left^T`, in row-major order.
template <int Rows, int Columns, typename T>
void winogradTransform(const double (&left)[Rows][Columns], const T *from,
                       T *to) {
  T half[Rows][Columns];
  for (int i = 0; i != Rows; ++i)
    for (int j = 0; j != Columns; ++j) {
      half[i][j] = 0;
      for (int k = 0; k != Columns; ++k)
        half[i][j] += T(left[i][k]) * from[k * Columns + j];
    }
  for (int i = 0; i != Rows; ++i)
    for (int j = 0; j != Rows; ++j) {
      T sum = 0;
      for (int k = 0; k != Columns; ++k)
        sum += half[i][k] * T(left[j][k]);
      to[i * Rows + j] = sum;
    }
}

} // namespace corten::runtime

#endif // CORTEN_RUNTIME_WINOGRAD_H
