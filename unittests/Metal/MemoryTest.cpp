// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Memory.h"

#include "gtest/gtest.h"

using namespace corten::check;

namespace {

/// Accesses of threads to one granule of threadgroup memory, step by step.
class Race : public testing::Test {
protected:
  bool conflicts(uint32_t thread, AccessKind kind, uint32_t group = 1) {
    Clock now;
    now.group = group;
    now.thread = thread;
    now.epoch[kThreadgroup] = epoch;
    now.simdEpoch[kThreadgroup] = simdEpoch;
    Conflict conflict;
    return note(cell, kind, now, kThreadgroup, conflict);
  }
  bool reads(uint32_t thread) { return conflicts(thread, AccessKind::Read); }
  bool writes(uint32_t thread) { return conflicts(thread, AccessKind::Write); }
  bool modifies(uint32_t thread) {
    return conflicts(thread, AccessKind::AtomicModify);
  }

  Cell cell;
  uint32_t epoch = 0, simdEpoch = 0;
};

TEST_F(Race, OneThreadNeverRaces) {
  EXPECT_FALSE(writes(3));
  EXPECT_FALSE(reads(3));
  EXPECT_FALSE(modifies(3));
  EXPECT_FALSE(writes(3));
}

TEST_F(Race, WriteThenReadByAnother) {
  EXPECT_FALSE(writes(0));
  EXPECT_TRUE(reads(1));
}

TEST_F(Race, ReadThenWriteByAnother) {
  EXPECT_FALSE(reads(0));
  EXPECT_TRUE(writes(1));
}

TEST_F(Race, BarriersOrder) {
  EXPECT_FALSE(writes(0));
  ++epoch;
  EXPECT_FALSE(reads(40));
  EXPECT_FALSE(reads(1));
  ++epoch;
  EXPECT_FALSE(writes(40));
}

TEST_F(Race, BarriersOfASimdgroupOrderItsLanes) {
  EXPECT_FALSE(writes(0));
  ++simdEpoch;
  EXPECT_FALSE(reads(31));
  EXPECT_TRUE(reads(32));
}

TEST_F(Race, ReadsOfTheWholeSimdgroupCount) {
  EXPECT_FALSE(reads(0));
  EXPECT_FALSE(reads(1));
  // Lane 1 read last, but lane 0 read as well.
  EXPECT_TRUE(writes(1));
}

TEST_F(Race, ReadsOfSeveralSimdgroupsCount) {
  EXPECT_FALSE(reads(0));
  EXPECT_FALSE(reads(40));
  ++simdEpoch;
  EXPECT_TRUE(writes(40));
}

TEST_F(Race, ReadsBeforeABarrierAreForgotten) {
  EXPECT_FALSE(reads(0));
  EXPECT_FALSE(reads(40));
  ++epoch;
  EXPECT_FALSE(reads(7));
  EXPECT_FALSE(writes(7));
}

TEST_F(Race, AtomicsDoNotRaceWithEachOther) {
  EXPECT_FALSE(modifies(0));
  EXPECT_FALSE(modifies(1));
  EXPECT_TRUE(reads(2));
}

TEST_F(Race, AnAtomicDoesNotHideAPlainWrite) {
  EXPECT_FALSE(writes(0));
  EXPECT_FALSE(modifies(0));
  EXPECT_TRUE(modifies(1));
}

TEST_F(Race, GroupsAreNeverOrdered) {
  EXPECT_FALSE(conflicts(0, AccessKind::Write, 1));
  ++epoch;
  EXPECT_TRUE(conflicts(0, AccessKind::Read, 2));
  EXPECT_FALSE(conflicts(0, AccessKind::AtomicRead, 1));
}

TEST(Buffer, ElementsAsTheKernelWritesThem) {
  Buffer buffer;
  buffer.name = "o";
  buffer.elementBytes = 4;
  buffer.extents = {5, 3};
  buffer.bytes = 60;
  EXPECT_EQ(buffer.element(0), "o[0, 0]");
  EXPECT_EQ(buffer.element(28), "o[2, 1]");
  EXPECT_EQ(buffer.element(60), "o[15]");
  EXPECT_EQ(buffer.element(-4), "o[-1]");
  EXPECT_EQ(buffer.element(-1), "o[-1]");
}

} // namespace
