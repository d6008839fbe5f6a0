// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The `debuginfo` dialect: where an operation comes from.

#ifndef CORTEN_DIALECT_DEBUGINFO_IR_DEBUGINFODIALECT_TD
#define CORTEN_DIALECT_DEBUGINFO_IR_DEBUGINFODIALECT_TD

include "mlir/IR/DialectBase.td"

def DebugInfo_Dialect : Dialect {
  let name = "debuginfo";
  let cppNamespace = "::corten::debuginfo";
  let summary = "Source locations and variables";
  let description = [{
    `#debuginfo.location` is the location of every operation in a converted
    program. Besides a line in a file it names the function it lies in, the
    callers it was reached from, and the operation of the source program.
  }];
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
  let extraClassDeclaration = [{
  private:
    void registerAttributes();
    void registerTypes();

  public:
  }];
}

#endif // CORTEN_DIALECT_DEBUGINFO_IR_DEBUGINFODIALECT_TD
