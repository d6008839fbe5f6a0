// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "corten/Runtime/Isa.h"

#include "Tensors.h"

#include <algorithm>
#include <cstdlib>
#include <optional>

using namespace corten::runtime;

namespace {

/// Sets CORTEN_ISA, and puts back what was there.
class Setting {
public:
  explicit Setting(const char *value) {
    if (const char *text = std::getenv("CORTEN_ISA"))
      before = text;
    setenv("CORTEN_ISA", value, 1);
  }
  ~Setting() {
    if (before)
      setenv("CORTEN_ISA", before->c_str(), 1);
    else
      unsetenv("CORTEN_ISA");
  }

private:
  std::optional<std::string> before;
};

TEST(Isa, IsWhatTheMachineHasOrWhatIsAsked) {
  Isa detected = detectedIsa();
  EXPECT_EQ(detected, detectedIsa());
  {
    Setting setting("");
    EXPECT_EQ(*chooseIsa(), detected);
  }
  for (Isa isa : knownIsas()) {
    Setting setting(std::string(name(isa)).c_str());
    Expected<Isa> chosen = chooseIsa();
    if (isa <= detected) {
      ASSERT_TRUE(bool(chosen)) << name(isa);
      EXPECT_EQ(*chosen, isa);
    } else {
      ASSERT_FALSE(bool(chosen)) << name(isa);
      EXPECT_MENTIONS(chosen.takeError().message(), "has only");
    }
  }
  Setting setting("sse9");
  Expected<Isa> chosen = chooseIsa();
  ASSERT_FALSE(bool(chosen));
  EXPECT_MENTIONS(chosen.takeError().message(),
                  std::string(name(knownIsas().back())));
}

// Levels of other processors are no more known than names that mean nothing.
TEST(Isa, OfAnotherFamilyIsUnknown) {
  for (Isa isa : {Isa::Avx2, Isa::Neon}) {
    if (std::ranges::count(knownIsas(), isa))
      continue;
    Setting setting(std::string(name(isa)).c_str());
    Expected<Isa> chosen = chooseIsa();
    ASSERT_FALSE(bool(chosen)) << name(isa);
    EXPECT_MENTIONS(chosen.takeError().message(), "it can be one of portable");
  }
}

#ifdef __aarch64__
TEST(Isa, EveryAArch64HasNeon) { EXPECT_EQ(detectedIsa(), Isa::Neon); }
#endif

#ifdef __x86_64__
// The compiler's own idea of the machine, which trusts CPUID.
TEST(Isa, KnowsTheMachine) {
  EXPECT_EQ(detectedIsa() >= Isa::Avx2,
            __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"));
  if (detectedIsa() >= Isa::Avx512)
    EXPECT_TRUE(__builtin_cpu_supports("avx512f") &&
                __builtin_cpu_supports("avx512vnni"));
}
#endif

} // namespace
