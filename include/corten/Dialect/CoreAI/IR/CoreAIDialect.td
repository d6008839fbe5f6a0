// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The `coreai` dialect: tensor programs as Core AI stores and runs them.

#ifndef CORTEN_DIALECT_COREAI_IR_COREAIDIALECT_TD
#define CORTEN_DIALECT_COREAI_IR_COREAIDIALECT_TD

include "mlir/IR/DialectBase.td"

def CoreAI_Dialect : Dialect {
  let name = "coreai";
  let cppNamespace = "::corten::coreai";
  let summary = "Tensor programs for Core AI";
  let description = [{
    Graphs of tensor operations with explicit signedness, as the Core AI
    compiler reads them. Names, operands, properties and spellings are those
    of the dialect that `coreai-core` registers, so that text and bytecode can
    cross between the two.
  }];
  let dependentDialects = ["::corten::param::ParamDialect"];
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
  let hasConstantMaterializer = 1;
  let extraClassDeclaration = [{
  private:
    /// Register the attributes, types and operations of this dialect. Each
    /// lives with its own definitions, so that no file has to see them all.
    void registerAttributes();
    void registerTypes();
    void registerOperations();

  public:
  }];
}

#endif // CORTEN_DIALECT_COREAI_IR_COREAIDIALECT_TD
