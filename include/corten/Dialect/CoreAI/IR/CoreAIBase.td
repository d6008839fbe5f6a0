// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Base classes of the `coreai` ops.
//
// Result types are inferred for most ops, and a declared type is held against
// the inferred one with the strictness of a CoreAI_ResultCheck. Ops of a family
// that infers alike name the family's function (CoreAI_SharedInference); the
// others define `inferReturnTypes` on their adaptor. The functions named here
// are declared in lib/Dialect/CoreAI/IR/ShapeInference.h.

#ifndef CORTEN_DIALECT_COREAI_IR_COREAIBASE_TD
#define CORTEN_DIALECT_COREAI_IR_COREAIBASE_TD

include "corten/Dialect/CoreAI/IR/CoreAIConstraints.td"
include "corten/Dialect/CoreAI/IR/CoreAIDialect.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/OpBase.td"

class CoreAI_Op<string mnemonic, list<Trait> traits = []>
    : Op<CoreAI_Dialect, mnemonic, traits>;

/// Free of side effects.
class CoreAI_PureOp<string mnemonic, list<Trait> traits = []>
    : CoreAI_Op<mnemonic, !listconcat(traits, [Pure])>;

//===----------------------------------------------------------------------===//
// Type inference
//===----------------------------------------------------------------------===//

/// How a declared result type is compared with the inferred one: `function` is
/// called with (inferred type, declared type) of each result.
class CoreAI_ResultCheck<string function> {
  code definition = [{
    bool $cppClass::isCompatibleReturnTypes(::mlir::TypeRange inferred,
                                            ::mlir::TypeRange declared) {
      return ::llvm::equal(inferred, declared, }] # function # [{);
    }
  }];
}

/// The types must be identical; `?` matches `?` only.
def CoreAI_Exact : CoreAI_ResultCheck<"std::equal_to<::mlir::Type>()">;

/// Element types agree and shapes are identical; encodings are ignored.
def CoreAI_ExactShape : CoreAI_ResultCheck<"haveSameElementTypeAndShape">;

/// Element types and ranks agree, and extents wherever both are static.
def CoreAI_Compatible : CoreAI_ResultCheck<"areCompatibleTypes">;

/// Element types and ranks agree; extents are taken as declared.
def CoreAI_ElementAndRank : CoreAI_ResultCheck<"haveSameElementTypeAndRank">;

/// Element types agree; the shape is taken as declared.
def CoreAI_Element : CoreAI_ResultCheck<"haveSameElementType">;

/// Only the number of results is compared.
def CoreAI_Unchecked : CoreAI_ResultCheck<"acceptAnyType">;

/// An op that defines `inferReturnTypes(context, location, adaptor, inferred)`.
class CoreAI_InferredOp<string mnemonic, CoreAI_ResultCheck check,
                        list<Trait> traits = [Pure]>
    : CoreAI_Op<mnemonic,
                !listconcat([InferTypeOpAdaptorWithIsCompatible], traits)> {
  let extraClassDefinition = check.definition;
}

/// Inference as a convenience of builders. Verification takes declared types as
/// they are, also where nothing can be inferred; what is compared is up to the
/// op's verifier.
def CoreAI_InferTypeForBuilders : InferTypeOpAdaptorBase<[{
    static ::llvm::LogicalResult refineReturnTypes(
        ::mlir::MLIRContext *, std::optional<::mlir::Location>,
        ::mlir::ValueRange, ::mlir::DictionaryAttr, ::mlir::OpaqueProperties,
        ::mlir::RegionRange, ::llvm::SmallVectorImpl<::mlir::Type> &) {
      return ::llvm::success();
    }
  }]>;

class CoreAI_BuilderInferredOp<string mnemonic, list<Trait> traits = [Pure]>
    : CoreAI_Op<mnemonic,
                !listconcat([CoreAI_InferTypeForBuilders], traits)> {
  let hasVerifier = 1;
}

/// A function `LogicalResult f(std::optional<Location>, Adaptor,
/// SmallVectorImpl<Type> &)`, or a template over the adaptor, that infers for a
/// whole family.
class CoreAI_SharedInference<string function> {
  code definition = [{
    ::llvm::LogicalResult $cppClass::inferReturnTypes(
        ::mlir::MLIRContext *, std::optional<::mlir::Location> location,
        Adaptor adaptor, ::llvm::SmallVectorImpl<::mlir::Type> &inferred) {
      return }] # function # [{(location, adaptor, inferred);
    }
  }];
}

class CoreAI_FamilyInferredOp<string mnemonic, CoreAI_SharedInference inference,
                              CoreAI_ResultCheck check,
                              list<Trait> traits = [Pure]>
    : CoreAI_InferredOp<mnemonic, check, traits> {
  let extraClassDefinition = inference.definition # check.definition;
}

//===----------------------------------------------------------------------===//
// Assembly
//===----------------------------------------------------------------------===//

// Ops that a saved asset stores together with their expansion into primitive
// ops print their attribute dictionary early and with a keyword; primitive ops
// print it last.

defvar CoreAI_PrimitiveFormat =
    "operands `:` functional-type(operands, results) attr-dict";
defvar CoreAI_DecomposableFormat =
    "operands attr-dict-with-keyword `:` functional-type(operands, results)";

#endif // CORTEN_DIALECT_COREAI_IR_COREAIBASE_TD
