// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products with weights as plans have them.

#include "Case.h"

#include "corten/Runtime/Codes.h"
#include "corten/Runtime/Panels.h"

using namespace corten;
using namespace corten::runtime;
using namespace corten::benchmarks;

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

/// A row of each of `tokens` with the one of several matrices that it asks for.
/// Matrices of codes are side by side.
static Case routed(int64_t matrices, int64_t tokens, int64_t k, int64_t n,
                   bool isCompressed) {
  constexpr int kBits = 4;
  constexpr int64_t kBlock = 32;
  int64_t panels = panelCount(n);
  std::string name =
      std::string("product routed ") + (isCompressed ? "int4" : "f32") + " " +
      std::to_string(matrices) + " matrices m=" + std::to_string(tokens) +
      " k=" + std::to_string(k) + " n=" + std::to_string(n);
  Case test{name,
            isCompressed ? PortableKernel::MatMulRoutedCompressed
                         : PortableKernel::MatMulRouted,
            {{tokens, 1, k}, {matrices, panels, k, kPanelWidth}},
            false,
            {tokens, 1, n}};
  if (isCompressed) {
    test.shapes[1] = {matrices * panels, k / kBlock, codeBytes(kBlock, kBits)};
    test.weights = ElementType::UI8;
    test.scales = {matrices * panels, k / kBlock, kPanelWidth};
    test.numbers = {int64_t(CodeKind::Signed), kBits};
  }
  test.matrices = matrices;
  test.multiplications = double(tokens * k * n);
  test.hasBias = false;
  return test;
}

/// Products whose factors are rounded or quantized.
static void addNarrow(std::vector<Case> &cases) {
  for (PortableKernel kernel :
       {PortableKernel::MatMulPairs, PortableKernel::MatMulQuads})
    for (int64_t m : {1, 2, 4, 8, 16, 32, 128, 197, 512, 1500})
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

std::vector<Case> benchmarks::products() {
  std::vector<Case> cases;
  addNarrow(cases);
  const std::pair<int64_t, int64_t> matrices[] = {
      {768, 768}, {768, 3072}, {3072, 768}, {896, 4864}, {4864, 896}};
  for (ElementType type : {ElementType::F32, ElementType::BF16})
    for (int64_t m : {1, 2, 4, 8, 16, 32, 128, 197, 512, 1500})
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
        // Its sixteen values are a table.
        cases.push_back(compressed("f4E2M1FN", CodeKind::Table, 4, m, k, n));
      }
    }
  for (int64_t tokens : {1, 8, 128})
    for (bool isCompressed : {false, true}) {
      cases.push_back(routed(16, tokens, 1024, 2048, isCompressed));
      cases.push_back(routed(16, tokens, 2048, 1024, isCompressed));
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
  return cases;
}
