// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The `plan` dialect. Tensors are values, and nothing says yet where they lie;
// but it is decided which kernel computes them, in which order their axes lie
// in memory, and which are views of others. Sizes are `index` values, computed
// with `arith`.

#ifndef CORTEN_DIALECT_PLAN_IR_PLANOPS_TD
#define CORTEN_DIALECT_PLAN_IR_PLANOPS_TD

include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Plan_Dialect : Dialect {
  let name = "plan";
  let cppNamespace = "::corten::plan";
  let summary = "What the engine does";
}

class Plan_Op<string mnemonic, list<Trait> traits = []>
    : Op<Plan_Dialect, mnemonic, traits>;

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

def Plan_FunctionOp : Plan_Op<
    "function", [IsolatedFromAbove, SingleBlock, Symbol]> {
  let summary = "an entry point";
  let description = [{
    The block has an argument for each input and then for each state; names say
    what callers know them by.
  }];
  let arguments = (ins
    SymbolNameAttr:$sym_name,
    StrArrayAttr:$inputs,
    StrArrayAttr:$states,
    StrArrayAttr:$outputs);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $sym_name `inputs` $inputs `states` $states `outputs` $outputs
    attr-dict-with-keyword $body
  }];
  let extraClassDeclaration = [{
    /// By input: `[[least, most], ...]` for its axes, without the most where
    /// there is no limit; or nothing.
    static constexpr ::llvm::StringLiteral kRanges = "plan.ranges";
  }];
}

def Plan_ReturnOp : Plan_Op<"return", [Pure, Terminator]> {
  let summary = "the end of a function or of a region of control flow";
  let arguments = (ins Variadic<AnyRankedTensor>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

def Plan_ExtentOp : Plan_Op<"extent", [Pure]> {
  let summary = "the extent of an axis that only a call knows";
  let description = [{
    Of an argument, of what control flow returns, or of the result of a kernel
    that finds out itself how much it gives.
  }];
  let arguments = (ins AnyRankedTensor:$tensor, I64Attr:$axis);
  let results = (outs Index:$result);
  let assemblyFormat = "$tensor `,` $axis `:` type($tensor) attr-dict";
}

def Plan_ElementOp : Plan_Op<"element", [Pure]> {
  let summary = "an element of a tensor of whole numbers, as a size";
  let arguments = (ins AnyRankedTensor:$tensor, I64Attr:$position);
  let results = (outs Index:$result);
  let assemblyFormat = "$tensor `,` $position `:` type($tensor) attr-dict";
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

def Plan_ConstantOp : Plan_Op<"constant", [ConstantLike, Pure]> {
  let summary = "a tensor that is known";
  let arguments = (ins ElementsAttr:$value);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$value `:` type($result) attr-dict";
  let hasFolder = 1;
}

def Plan_AbsentOp : Plan_Op<"absent", [Pure]> {
  let summary = "an optional input of a kernel that is not there";
  let results = (outs NoneType:$result);
  let assemblyFormat = "`:` type($result) attr-dict";
}

def Plan_ViewOp : Plan_Op<"view", [AttrSizedOperandSegments, Pure]> {
  let summary = "elements of a tensor, seen with other axes";
  let description = [{
    Counted in elements, from the first one of `source`, which is no view
    itself. Extents that are not known are operands, and so are the offset and
    the strides that are not.
  }];
  let arguments = (ins
    AnyRankedTensor:$source,
    Variadic<Index>:$sizes,
    Variadic<Index>:$offset,
    Variadic<Index>:$strides,
    I64Attr:$static_offset,
    DenseI64ArrayAttr:$static_strides);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $source `sizes` `(` $sizes `)`
    `offset` $static_offset `(` $offset `)`
    `strides` $static_strides `(` $strides `)`
    `:` type($source) `to` type($result) attr-dict
  }];
  let hasVerifier = 1;
}

def Plan_KernelOp : Plan_Op<
    "kernel",
    [AttrSizedOperandSegments,
     DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "a call of a kernel of the runtime";
  let description = [{
    Extents of results that are not known are operands, those of all results in
    one list, and so are numbers that are not. `order` says for each result which of
    its axes is outermost in memory, and so on; row-major if it is not given. Rows
    of a product that has an order are all axes of its result but the last ones in
    memory, which are its columns.

    The region is a tile program: what is done with each element before it is
    stored. It takes the element that the kernel computed, if it computes any
    itself, and those of `extras`, which have the shape of the results.
  }];
  let arguments = (ins
    StrAttr:$kernel,
    Variadic<AnyType>:$inputs,
    Variadic<AnyRankedTensor>:$extras,
    Variadic<Index>:$numbers,
    Variadic<Index>:$sizes,
    DenseI64ArrayAttr:$static_numbers,
    OptionalAttr<DenseI64ArrayAttr>:$order,
    UnitAttr:$prepared);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let regions = (region MaxSizedRegion<1>:$program);
  let assemblyFormat = [{
    $kernel `(` $inputs `)` (`with` `(` $extras^ `)`)?
    `numbers` $static_numbers (`(` $numbers^ `)`)?
    (`sizes` `(` $sizes^ `)`)? (`order` $order^)? (`prepared` $prepared^)?
    `:` functional-type(operands, $results)
    attr-dict-with-keyword ($program^)?
  }];
  let extraClassDeclaration = [{
    /// Of a kernel that the program brings: its name and its source.
    static constexpr ::llvm::StringLiteral kForeignName = "plan.foreign_name";
    static constexpr ::llvm::StringLiteral kForeignSource =
        "plan.foreign_source";
    bool isTile() { return getKernel() == "Tile"; }
    /// Whether the program is what it begins with; others end with theirs.
    bool beginsWithProgram() {
      return isTile() || getKernel() == "TileReduce";
    }
    bool isForeign() { return getKernel() == "Foreign"; }
    /// The sizes of the extents of a result that are not known.
    ::mlir::ValueRange getSizesOf(unsigned result);
  }];
  let hasVerifier = 1;
}

def Plan_InsertOp : Plan_Op<
    "insert",
    [AllTypesMatch<["target", "result"]>, AttrSizedOperandSegments, Pure]> {
  let summary = "a tensor with a part replaced";
  let description = [{
    Where `target` is not needed afterwards, this writes to its memory.
  }];
  let arguments = (ins
    AnyRankedTensor:$update,
    AnyRankedTensor:$target,
    Variadic<Index>:$offset,
    Variadic<Index>:$strides,
    I64Attr:$static_offset,
    DenseI64ArrayAttr:$static_strides);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $update `into` $target
    `offset` $static_offset `(` $offset `)`
    `strides` $static_strides `(` $strides `)`
    `:` type($update) `into` type($target) attr-dict
  }];
}

def Plan_StoreOp : Plan_Op<"store", [MemoryEffects<[MemWrite]>]> {
  let summary = "the new value of a state";
  let description = [{ These stand before the end of a function. }];
  let arguments = (ins AnyRankedTensor:$value, AnyRankedTensor:$state);
  let assemblyFormat =
      "$value `to` $state `:` type($value) `to` type($state) attr-dict";
}

def Plan_AssertOp : Plan_Op<"assert", [MemoryEffects<[MemWrite]>]> {
  let summary = "an error of the call, unless a condition holds";
  let description = [{
    The condition is a tensor of one truth value, or a size that is not 0. The
    message tells of `values`, tensors of one whole number or sizes, by `names`.

    `coreai` has no such operation. A program that is converted for the engine
    has these between its own; one that is written to an asset has none.
  }];
  let arguments = (ins
    AnyTypeOf<[AnyRankedTensor, Index]>:$condition,
    StrAttr:$message,
    StrArrayAttr:$names,
    Variadic<AnyTypeOf<[AnyRankedTensor, Index]>>:$values);
  let assemblyFormat = [{
    $condition `,` $message `of` $names `(` $values `)` `:`
    functional-type(operands, results) attr-dict
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Tile programs
//===----------------------------------------------------------------------===//

def Plan_LaneOp : Plan_Op<"lane", [Pure]> {
  let summary = "an instruction of a tile program";
  let arguments = (ins StrAttr:$opcode, Variadic<AnyType>:$inputs);
  let results = (outs AnyType:$result);
  let assemblyFormat =
      "$opcode `(` $inputs `)` `:` functional-type($inputs, $result) attr-dict";
}

def Plan_ImmediateOp : Plan_Op<"immediate", [Pure]> {
  let summary = "a number in a tile program";
  let arguments = (ins F64Attr:$value);
  let results = (outs AnyType:$result);
  let assemblyFormat = "$value `:` type($result) attr-dict";
}

def Plan_YieldOp : Plan_Op<"yield", [Pure, Terminator]> {
  let summary = "what a tile program gives for each result";
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "$values `:` type($values) attr-dict";
}

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

def Plan_IfOp : Plan_Op<"if", [RecursiveMemoryEffects, SingleBlock]> {
  let summary = "one of two regions";
  let arguments = (ins AnyRankedTensor:$condition);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let regions = (region SizedRegion<1>:$then, SizedRegion<1>:$otherwise);
  let assemblyFormat = [{
    $condition `:` type($condition) `->` `(` type($results) `)` $then `else`
    $otherwise attr-dict
  }];
}

def Plan_WhileOp : Plan_Op<"while", [RecursiveMemoryEffects, SingleBlock]> {
  let summary = "a loop";
  let description = [{
    `before` takes what is carried and returns a truth value and other tensors.
    While that is true they go to `after`, which returns what is carried next;
    then they are the results.
  }];
  let arguments = (ins Variadic<AnyRankedTensor>:$inits);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let regions = (region SizedRegion<1>:$before, SizedRegion<1>:$after);
  let assemblyFormat = [{
    `(` $inits `)` `:` functional-type($inits, $results) $before `do` $after
    attr-dict
  }];
}

#endif // CORTEN_DIALECT_PLAN_IR_PLANOPS_TD
