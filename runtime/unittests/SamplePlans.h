// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Plans that have a bit of everything, to be damaged.

#ifndef CORTEN_RUNTIME_UNITTESTS_SAMPLEPLANS_H
#define CORTEN_RUNTIME_UNITTESTS_SAMPLEPLANS_H

#include "PlanBuilder.h"

#include "corten/Runtime/TileProgram.h"

namespace corten::runtime {

/// y = relu(x + w), and a state that adds up x; views, and a tile program.
inline PlanBuilder straightLine() {
  PlanBuilder plan;
  int32_t weight = plan.constant({1.0f, -2.0f, 3.0f});
  BlockBuilder main = plan.block();
  int32_t n = main.extentOf(0, 0, "n", 1, 1000);
  int32_t three = main.fixed(3);
  int32_t x = main.input({n, three});
  int32_t state = main.input({three});
  int32_t w = main.view(main.constant(weight, {three}), {n, three},
                        {main.fixed(0), main.fixed(1)});
  int32_t sum = main.arena({n, three});
  int32_t y = main.output({n, three});
  main.kernel("Add", {x, w}, {sum}).location = 0;
  plan::StepT &tile = main.kernel("Tile", {sum}, {y});
  tile.program = std::make_unique<plan::TileProgramT>();
  tile.program->registers = 2;
  tile.program->instructions.emplace_back(uint16_t(TileOpcode::Relu), 1, 0, 0,
                                          0);
  tile.program->results = {1};
  tile.program_inputs = 1;
  int32_t row = main.arena({main.fixed(1), three});
  main.kernel("ReduceSum", {x}, {row});
  main.kernel("Add", {state, main.view(row, {three})}, {state});
  plan.plan.locations = {"model.py:12"};
  plan.function("main", main, {"x"}, {"s"});
  return plan;
}

/// Which of x are not 0, as often doubled as `count` says, if `flag` is set.
inline PlanBuilder controlFlow() {
  using plan::StepKind;
  PlanBuilder plan;
  int32_t one = plan.constant({1.0f});
  BlockBuilder condition = plan.block();
  {
    int32_t m = condition.extentOf(1, 0, "m");
    int32_t i = condition.input({});
    int32_t v = condition.input({m});
    int32_t limit = condition.input({});
    int32_t isLess = condition.arena({}, ElementType::Bool);
    condition.kernel("Greater", {limit, i}, {isLess});
    condition.block().outputs = {isLess, i, v};
  }
  BlockBuilder body = plan.block();
  {
    int32_t m = body.extentOf(1, 0, "m");
    int32_t i = body.input({});
    int32_t v = body.input({m});
    body.input({});
    int32_t next = body.arena({});
    int32_t twice = body.arena({m});
    body.kernel("Add", {i, body.constant(one, {})}, {next});
    body.kernel("Add", {v, v}, {twice});
    body.block().outputs = {next, twice};
  }
  BlockBuilder loop = plan.block();
  {
    int32_t m = loop.extentOf(0, 0, "m");
    int32_t v = loop.input({m});
    int32_t count = loop.input({});
    int32_t zero = loop.arena({});
    loop.kernel("Sub", {count, count}, {zero});
    int32_t last = loop.returned({});
    int32_t result = loop.returned({m});
    loop.control(StepKind::While, {condition.index, body.index},
                 {zero, v, count}, {last, result});
    loop.block().outputs = {result};
  }
  BlockBuilder same = plan.block();
  {
    int32_t m = same.extentOf(0, 0, "m");
    int32_t v = same.input({m});
    same.input({});
    same.block().outputs = {v};
  }
  BlockBuilder main = plan.block();
  int32_t n = main.extentOf(1, 0);
  int32_t flag = main.input({}, ElementType::Bool);
  int32_t x = main.input({n});
  int32_t count = main.input({});
  int32_t unit = main.fixed(1);
  int32_t found = main.arena({n, unit}, ElementType::SI32);
  main.kernel("NonZero", {x}, {found});
  int32_t k = main.symbol("k", plan::SymbolSource::Extent, found, 0, 0);
  int32_t chosen = main.arena({k});
  main.kernel("GatherNd", {x, main.view(found, {k, unit})}, {chosen});
  int32_t result = main.returned({k});
  main.control(StepKind::If, {loop.index, same.index}, {flag, chosen, count},
               {result});
  int32_t y = main.output({k});
  main.kernel("Abs", {result}, {y});
  plan.function("main", main, {"flag", "x", "count"});
  return plan;
}

/// Two functions that share a state and a constant that is prepared.
inline PlanBuilder preparedConstants() {
  PlanBuilder plan;
  int32_t raw = plan.constant({1.0f, 2.0f, 3.0f, 4.0f});
  int32_t packed = plan.constant(plan::ConstantSource::Prepared, 0, 0);
  BlockBuilder prepare = plan.block();
  {
    int32_t two = prepare.fixed(2);
    int32_t w = prepare.view(prepare.constant(raw, {two, two}), {two, two},
                             {prepare.fixed(1), two});
    prepare.kernel("Copy", {w}, {prepare.output({two, two})});
  }
  plan.plan.prepare = prepare.index;
  for (const char *name : {"first", "second"}) {
    BlockBuilder main = plan.block();
    int32_t n = main.extentOf(0, 0);
    int32_t two = main.fixed(2);
    int32_t x = main.input({n, two});
    int32_t state = main.input({n, two});
    int32_t y = main.output({n, two});
    main.kernel("MatMul", {x, main.constant(packed, {two, two})}, {y});
    main.kernel(name[0] == 'f' ? "Add" : "Sub", {state, y}, {state});
    plan.function(name, main, {"x"}, {"s"});
  }
  return plan;
}

} // namespace corten::runtime

#endif // CORTEN_RUNTIME_UNITTESTS_SAMPLEPLANS_H
