// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Graphs, calls, branches, loops, and the ops that hand work to a delegate.
//
// The methods of the symbol, function, call and region-branch interfaces are
// defined in lib/Dialect/CoreAI/IR/ControlFlowInterfaces.cpp, custom parsers
// and printers in lib/Dialect/CoreAI/IR/AssemblyControlFlow.cpp.

#ifndef CORTEN_DIALECT_COREAI_IR_CONTROLFLOWOPS_TD
#define CORTEN_DIALECT_COREAI_IR_CONTROLFLOWOPS_TD

include "corten/Dialect/CoreAI/IR/CoreAIAttributes.td"
include "corten/Dialect/CoreAI/IR/CoreAIBase.td"
include "corten/Dialect/Param/IR/ParamDialect.td"
include "corten/Dialect/UDML/IR/UDMLDialect.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/CallInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/FunctionInterfaces.td"

//===----------------------------------------------------------------------===//
// Graphs
//===----------------------------------------------------------------------===//

def CoreAI_GraphOp : CoreAI_Op<
    "graph", [DeclareOpInterfaceMethods<Symbol, ["getVisibility",
                                                 "setVisibility"]>,
              FunctionOpInterface, IsolatedFromAbove]> {
  let summary = "a callable graph";
  let description = [{
    Callers bind arguments and results by the `coreai.name` of their attribute
    dictionaries. Visibility is the unit attribute `priv` or `externalize`, or
    neither for an entry point; there is no `sym_visibility`. Only a private
    graph may be without a body. A private graph with `no_inline` and a
    `composite_decl` is a composite op: the declaration names it, the body is
    what to do where it is not known.

    The operands of `coreai.output` must refine the results: a static extent
    may be returned where the signature says `?`, not the reverse. There are as
    many token results as handle arguments, in the same order.
  }];
  let arguments = (ins
    SymbolNameAttr:$sym_name,
    TypeAttrOf<FunctionType>:$function_type,
    Param_DeclArrayAttr:$param_decls,
    OptionalAttr<DictArrayAttr>:$arg_attrs,
    OptionalAttr<DictArrayAttr>:$res_attrs,
    OptionalAttr<CoreAI_CompositeDeclarationAttr>:$composite_decl,
    UnitAttr:$priv,
    UnitAttr:$externalize,
    UnitAttr:$no_inline);
  let regions = (region MaxSizedRegion<1>:$bodyRegion);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let skipDefaultBuilders = 1;
  let builders = [
    OpBuilder<(ins "::llvm::StringRef":$name, "::mlir::FunctionType":$type)>
  ];

  let extraClassDeclaration = [{
    /// Argument and result types of the signature.
    ::llvm::ArrayRef<::mlir::Type> getArgumentTypes() {
      return getFunctionType().getInputs();
    }
    ::llvm::ArrayRef<::mlir::Type> getResultTypes() {
      return getFunctionType().getResults();
    }

    /// The body, or null for a declaration.
    ::mlir::Region *getCallableRegion() {
      return isExternal() ? nullptr : &getBodyRegion();
    }

    bool isDeclaration() { return isExternal(); }

    /// Adds the block of the body with one argument per input, and returns it.
    ::mlir::Block *addEntryBlock();
  }];
}

def CoreAI_OutputOp : CoreAI_Op<
    "output", [HasParent<"GraphOp">, Pure, ReturnLike, Terminator]> {
  let summary = "the results of a graph";
  let description = [{ Static extents may refine those of the signature. }];
  let arguments = (ins Variadic<AnyType>:$operands);
  let assemblyFormat = "($operands^ `:` type($operands))? attr-dict";
  let builders = [OpBuilder<(ins), [{ /* no operands */ }]>];
  let hasVerifier = 1;
}

def CoreAI_InvokeOp : CoreAI_Op<
    "invoke", [CallOpInterface,
               DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "a call of a graph";
  let description = [{
    The callee is `#param.constant<@name> : !param.symbol`; it names a
    `coreai.graph` or a `udml.import`. Types must equal the signature exactly:
    `?` does not match a number in either direction.
  }];
  let arguments = (ins
    Variadic<AnyType>:$operands,
    TypedAttrInterface:$callee,
    OptionalAttr<DictArrayAttr>:$arg_attrs,
    OptionalAttr<DictArrayAttr>:$res_attrs);
  let results = (outs Variadic<AnyType>:$result);
  let hasCustomAssemblyFormat = 1;
  let builders = [
    OpBuilder<(ins "GraphOp":$callee, "::mlir::ValueRange":$operands)>
  ];

  let extraClassDeclaration = [{
    /// The symbol that is called, or null when the callee is something other
    /// than a constant symbol.
    ::mlir::SymbolRefAttr getCalleeSymbol();

    ::mlir::CallInterfaceCallable getCallableForCallee();
    void setCalleeFromCallable(::mlir::CallInterfaceCallable callee);
    ::mlir::Operation::operand_range getArgOperands() { return getOperands(); }
    ::mlir::MutableOperandRange getArgOperandsMutable() {
      return getOperandsMutable();
    }
  }];
}

//===----------------------------------------------------------------------===//
// Branches and loops
//===----------------------------------------------------------------------===//

def CoreAI_IfOp : CoreAI_Op<
    "if", [DeclareOpInterfaceMethods<RegionBranchOpInterface,
                                     ["getEntrySuccessorRegions",
                                      "getRegionInvocationBounds"]>,
           NoRegionArguments, RecursiveMemoryEffects, RecursivelySpeculatable,
           SingleBlockImplicitTerminator<"YieldOp">]> {
  let summary = "one of two regions";
  let description = [{
    Both regions yield the result types exactly. They may use outer values. The
    `else` region may be empty only when there are no results.

    coreai-core 1.0.0b2 returns garbage when the taken region merely forwards
    an outer value that goes straight to the graph output.
  }];
  let arguments = (ins CoreAI_Flag:$condition);
  let results = (outs Variadic<AnyType>:$results);
  let regions = (region
    SizedRegion<1>:$thenRegion,
    MaxSizedRegion<1>:$elseRegion);
  let assemblyFormat = [{
    $condition $thenRegion (`else` $elseRegion^)? `:` type($condition) `->`
    custom<TypeList>(type($results)) attr-dict
  }];
  let hasVerifier = 1;
}

def CoreAI_WhileOp : CoreAI_Op<
    "while", [DeclareOpInterfaceMethods<RegionBranchOpInterface,
                                        ["getEntrySuccessorOperands"]>,
              RecursiveMemoryEffects, SingleBlock]> {
  let summary = "a loop with a test region and a body region";
  let description = [{
    `before` takes the state and ends in `coreai.condition`, which passes
    values of its own choice to `after` or, when its flag is false, out as the
    results; `after` yields the next state. Types are identical along every
    edge: a loop cannot turn `?` into a number or back. Both regions may use
    outer values.
  }];
  let arguments = (ins Variadic<AnyType>:$inits);
  let results = (outs Variadic<AnyType>:$results);
  let regions = (region SizedRegion<1>:$before, SizedRegion<1>:$after);
  let assemblyFormat = [{
    $inits $before `do` $after `:` `(` custom<TypeList>(type($inits)) `)` `->`
    `(` custom<TypeList>(type($results)) `)` attr-dict
  }];
}

def CoreAI_ConditionOp : CoreAI_Op<
    "condition", [DeclareOpInterfaceMethods<RegionBranchTerminatorOpInterface,
                                            ["getSuccessorRegions"]>,
                  HasParent<"WhileOp">, Pure, Terminator]> {
  let summary = "the end of the test region of a loop";
  let description = [{
    While the flag is true the arguments go to the body, then to the results.
  }];
  let arguments = (ins CoreAI_Flag:$condition, Variadic<AnyType>:$args);
  let assemblyFormat = "operands `:` `(` type(operands) `)` attr-dict";
}

def CoreAI_YieldOp : CoreAI_Op<"yield", [Pure, ReturnLike, Terminator]> {
  let summary = "the end of a region of an op";
  let description = [{ What the values mean is up to the op around it. }];
  let arguments = (ins Variadic<AnyType>:$args);
  let assemblyFormat = "($args^ `:` type($args))? attr-dict";
  let builders = [OpBuilder<(ins), [{ /* no operands */ }]>];
}

//===----------------------------------------------------------------------===//
// Delegates
//===----------------------------------------------------------------------===//

def CoreAI_IsolatedGroupOp : CoreAI_Op<
    "isolated_group", [IsolatedFromAbove, RecursiveMemoryEffects,
                       RecursivelySpeculatable,
                       SingleBlockImplicitTerminator<"YieldOp">]> {
  let summary = "a closed region for one delegate";
  let description = [{
    The block has one argument per input and ends in `coreai.yield`. Their
    types are not compared.
  }];
  let arguments = (ins
    Variadic<AnyType>:$inputs,
    StrAttr:$delegate_id,
    OptionalAttr<DictArrayAttr>:$arg_attrs,
    OptionalAttr<DictArrayAttr>:$res_attrs);
  let results = (outs Variadic<AnyType>:$outputs);
  let regions = (region SizedRegion<1>:$group);
  let assemblyFormat = [{
    `<` $delegate_id `>` `` `(` $inputs `)` attr-dict `:`
    functional-type($inputs, $outputs) $group
  }];
  let hasVerifier = 1;
}

def CoreAI_DelegateOp : CoreAI_Op<"delegate"> {
  let summary = "a call into a compiled delegate";
  let description = [{
    Written by the compiler. `resource` is the compiled blob. What it does is
    unknown, and so are its side effects.
  }];
  let arguments = (ins
    Variadic<AnyType>:$inputs,
    StrAttr:$delegate_id,
    DenseI8ArrayAttr:$resource,
    OptionalAttr<DictionaryAttr>:$delegate_attrs,
    OptionalAttr<UDML_LifecycleAttr>:$lifecycle,
    OptionalAttr<DictArrayAttr>:$arg_attrs,
    OptionalAttr<DictArrayAttr>:$res_attrs);
  let results = (outs Variadic<AnyType>:$outputs);
  let assemblyFormat = [{
    `<` $delegate_id `>` `` `(` $inputs `)` attr-dict `:`
    functional-type($inputs, $outputs)
  }];
  let hasVerifier = 1;
}

def CoreAI_TargetSpecOp : CoreAI_Op<"target_spec"> {
  let summary = "the machine that a module is meant for";
  let description = [{ Stands at module level, beside the graphs. }];
  let arguments = (ins
    CoreAI_TargetSpecAttr:$spec,
    DefaultValuedAttr<CoreAI_CompilationAttr,
                      "::corten::coreai::Compilation::Full">:$compilation);
  let assemblyFormat = [{
    `{` `spec` `=` $spec `,` `compilation` `=` $compilation attr-dict `}`
  }];
}

#endif // CORTEN_DIALECT_COREAI_IR_CONTROLFLOWOPS_TD
