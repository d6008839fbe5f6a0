// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "corten/Compiler/Compiler.h"

#include "Fusion.h"
#include "Lowerings.h"
#include "Planner.h"
#include "Writer.h"

#include "corten/Metal/Compile.h"
#include "corten/Runtime/PlanFile.h"
#include "corten/Support/DiagnosticError.h"
#include "corten/Support/ReadWindow.h"
#include "corten/Transforms/Simplification.h"
#include "corten/Version.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassInstrumentation.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/Support/FileSystem.h"

#include <chrono>

using namespace corten;
using namespace mlir;

void corten::registerCompilerDialects(DialectRegistry &registry) {
  registry.insert<arith::ArithDialect, plan::PlanDialect>();
}

void corten::loadCompilerDialects(MLIRContext &context) {
  context.loadDialect<arith::ArithDialect, plan::PlanDialect>();
}

namespace {
using Clock = std::chrono::steady_clock;

/// Adds up what passes and stages take.
class Stopwatch : public PassInstrumentation {
public:
  explicit Stopwatch(StageTimes *times) : times(times) {}

  void runBeforePass(Pass *pass, Operation *) override {
    starts.push_back(Clock::now());
  }
  void runAfterPass(Pass *pass, Operation *) override {
    add(pass->getArgument(), starts.pop_back_val());
  }
  void runAfterPassFailed(Pass *, Operation *) override { starts.pop_back(); }

  template <typename Function>
  auto measure(StringRef name, Function &&function) {
    Clock::time_point start = Clock::now();
    auto result = function();
    add(name, start);
    return result;
  }

private:
  void add(StringRef name, Clock::time_point start) {
    if (!times || name.empty())
      return;
    std::chrono::duration<double, std::milli> taken = Clock::now() - start;
    auto found = llvm::find_if(
        *times, [&](const auto &entry) { return entry.first == name; });
    if (found == times->end())
      times->emplace_back(name.str(), taken.count());
    else
      found->second += taken.count();
  }

  StageTimes *times;
  SmallVector<Clock::time_point> starts;
};
} // namespace

llvm::Expected<Precision> corten::parsePrecision(StringRef names) {
  Precision precision;
  SmallVector<StringRef> parts;
  names.split(parts, ',', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  for (StringRef name : parts) {
    if (name == "bf16")
      precision.factors = Factors::BF16;
    else if (name == "int8")
      precision.factors = Factors::Int8;
    else if (name == "fast_math")
      precision.isFastMath = true;
    else
      return llvm::createStringError("there is no precision '" + name +
                                     "'; there are bf16 and int8");
  }
  return precision;
}

FailureOr<OwningOpRef<ModuleOp>>
corten::planProgram(ModuleOp program, Precision precision, StageTimes *times) {
  MLIRContext *context = program.getContext();
  Stopwatch stages(times);
  OwningOpRef<ModuleOp> simple = program.clone();
  PassManager simplify(context);
  // Weights stay where they are in the asset; packing puts them in order.
  SimplificationOptions options;
  options.maxConstantBytes = uint64_t(1) << 14;
  options.maxConstantGrowth = uint64_t(1) << 10;
  options.keptComposites = keepKnownComposites(*simple);
  buildSimplificationPipeline(simplify, options);
  if (times)
    simplify.addInstrumentation(std::make_unique<Stopwatch>(times));
  if (failed(simplify.run(*simple)))
    return failure();
  OwningOpRef<ModuleOp> plans = ModuleOp::create(program.getLoc());
  OpBuilder builder(context);
  LogicalResult planned = stages.measure("plan", [&] {
    for (auto graph : simple->getOps<coreai::GraphOp>()) {
      if (graph.getPriv())
        continue;
      builder.setInsertionPointToEnd(plans->getBody());
      if (failed(Planner(builder, precision).plan(graph)))
        return failure();
    }
    return success();
  });
  if (failed(planned))
    return failure();
  // What nobody uses goes, and what is there twice.
  PassManager clean(context);
  clean.addPass(createCSEPass());
  if (failed(stages.measure("clean up", [&] { return clean.run(*plans); })))
    return failure();
  (void)stages.measure("fuse", [&] {
    fuseTiles(*plans);
    fuseReductions(*plans);
    fuseEpilogues(*plans);
    if (precision.factors == Factors::BF16)
      storeNarrow(*plans);
    return true;
  });
  return plans;
}

namespace {
/// Puts the plan of a program in its place.
struct PlanPass : PassWrapper<PlanPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(PlanPass)

  PlanPass() = default;
  PlanPass(const PlanPass &other) : PassWrapper(other) {}

  StringRef getArgument() const override { return "coreai-to-plan"; }
  StringRef getDescription() const override {
    return "Puts the plan of a program in its place";
  }
  void getDependentDialects(DialectRegistry &registry) const override {
    registerCompilerDialects(registry);
  }
  void runOnOperation() override {
    ModuleOp module = getOperation();
    llvm::Expected<Precision> chosen = parsePrecision(precision);
    if (!chosen) {
      module.emitError(llvm::toString(chosen.takeError()));
      return signalPassFailure();
    }
    FailureOr<OwningOpRef<ModuleOp>> plans = planProgram(module, *chosen);
    if (failed(plans))
      return signalPassFailure();
    module.getBody()->clear();
    module.getBody()->getOperations().splice(
        module.getBody()->end(), (*plans)->getBody()->getOperations());
  }

  Option<std::string> precision{
      *this, "precision",
      llvm::cl::desc("What is allowed: bf16 or int8, fast_math")};
};
} // namespace

void corten::registerCompilerPasses() { PassRegistration<PlanPass>(); }

/// That the kernels which a program brings can be run here: better said now
/// than when the plan is loaded.
static LogicalResult buildForeign(ModuleOp plans) {
  llvm::DenseSet<Attribute> built;
  WalkResult result = plans.walk([&](plan::KernelOp op) {
    if (!op.isForeign())
      return WalkResult::advance();
    auto name = op->getAttrOfType<StringAttr>(plan::KernelOp::kForeignName);
    auto source = op->getAttrOfType<StringAttr>(plan::KernelOp::kForeignSource);
    if (!built.insert(source).second)
      return WalkResult::advance();
    llvm::Expected<metal::BuiltKernel> kernel =
        metal::buildKernel(name, source);
    if (!kernel) {
      emitError(op.getLoc(), llvm::toString(kernel.takeError()));
      return WalkResult::interrupt();
    }
    if (kernel->buffers.size() != op.getInputs().size() + op.getNumResults()) {
      emitError(op.getLoc(), "the Metal kernel '")
          << name.getValue() << "' has " << kernel->buffers.size()
          << " buffers, and is given "
          << op.getInputs().size() + op.getNumResults();
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

/// When a file was last changed, in nanoseconds.
static int64_t changeTime(StringRef path) {
  llvm::sys::fs::file_status status;
  if (path.empty() || llvm::sys::fs::status(path, status))
    return 0;
  return status.getLastModificationTime().time_since_epoch().count();
}

/// A plan as it is in a file.
static std::string planBytes(ModuleOp plans, const CompileOptions &options) {
  runtime::plan::PlanT plan = writePlan(plans, {options.weightFile});
  plan.version = runtime::kPlanVersion;
  plan.compiler = "corten " CORTEN_VERSION_STRING;
  bool usesFile = llvm::any_of(plan.constants, [](const auto &constant) {
    return constant->source == runtime::plan::ConstantSource::Asset;
  });
  if (usesFile) {
    plan.asset = std::make_unique<runtime::plan::AssetFileT>();
    plan.asset->path = options.weightPath;
    plan.asset->bytes = options.weightFile.size();
    plan.asset->modified = changeTime(options.weightPath);
    // Reading all of it does not mean to keep it.
    ReadWindow window;
    plan.asset->digest = runtime::digestOf(
        std::as_bytes(
            std::span(options.weightFile.data(), options.weightFile.size())),
        [&](std::span<const std::byte> piece) {
          window.passed(
              {reinterpret_cast<const char *>(piece.data()), piece.size()});
        });
  }
  flatbuffers::FlatBufferBuilder file;
  runtime::plan::FinishPlanBuffer(file, runtime::plan::Plan::Pack(file, &plan));
  std::string bytes(reinterpret_cast<const char *>(file.GetBufferPointer()),
                    file.GetSize());
  bytes += runtime::planTrailer(std::as_bytes(std::span(bytes)));
  return bytes;
}

llvm::Expected<std::string> corten::writePlanFile(ModuleOp plans,
                                                  const CompileOptions &options,
                                                  StageTimes *times) {
  DiagnosticError error(plans.getContext(), DiagnosticError::Place::Shown);
  Stopwatch stages(times);
  bool isForeign = plans
                       .walk([](plan::KernelOp op) {
                         return op.isForeign() ? WalkResult::interrupt()
                                               : WalkResult::advance();
                       })
                       .wasInterrupted();
  if (failed(stages.measure(isForeign ? "build Metal kernels" : "",
                            [&] { return buildForeign(plans); })))
    return error.take("a kernel of the program cannot be built");
  return stages.measure("write", [&] { return planBytes(plans, options); });
}

llvm::Expected<std::string>
corten::compileProgram(ModuleOp program, const CompileOptions &options) {
  MLIRContext *context = program.getContext();
  loadCompilerDialects(*context);
  DiagnosticError error(context, DiagnosticError::Place::Shown);
  FailureOr<OwningOpRef<ModuleOp>> plans =
      planProgram(program, options.precision);
  if (failed(plans))
    return error.take("the program cannot be planned");
  return writePlanFile(**plans, options);
}
