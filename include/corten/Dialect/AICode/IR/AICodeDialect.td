// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The `aicode` dialect: a program as it lies in an asset.

#ifndef CORTEN_DIALECT_AICODE_IR_AICODEDIALECT_TD
#define CORTEN_DIALECT_AICODE_IR_AICODEDIALECT_TD

include "mlir/IR/DialectBase.td"

def AICode_Dialect : Dialect {
  let name = "aicode";
  let cppNamespace = "::corten::aicode";
  let summary = "Versioned form of a program";
  let description = [{
    What `main.mlirb` of an asset holds, and nothing but this dialect: even
    strings, function types and locations are its own, so that no change of
    another dialect can make an old asset unreadable. Each op, type and
    attribute carries its version in its name.
  }];
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
  let extraClassDeclaration = [{
  private:
    void registerAttributes();
    void registerTypes();
    void registerInterfaces();

  public:
  }];
}

#endif // CORTEN_DIALECT_AICODE_IR_AICODEDIALECT_TD
