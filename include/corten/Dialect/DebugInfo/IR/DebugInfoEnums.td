// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Flags of debug information. Names and bits are those that LLVM gives them.

#ifndef CORTEN_DIALECT_DEBUGINFO_IR_DEBUGINFOENUMS_TD
#define CORTEN_DIALECT_DEBUGINFO_IR_DEBUGINFOENUMS_TD

include "mlir/IR/EnumAttr.td"

class DebugInfo_Flags<string name, string summary,
                      list<BitEnumAttrCaseBase> cases>
    : I32BitEnumAttr<name, summary, cases> {
  let cppNamespace = "::corten::debuginfo";
  let separator = "|";
  let printBitEnumPrimaryGroups = 1;
}

def DebugInfo_Bit0 : I32BitEnumAttrCaseBit<"Bit0", 0>;
def DebugInfo_Bit1 : I32BitEnumAttrCaseBit<"Bit1", 1>;
def DebugInfo_SingleInheritance
    : I32BitEnumAttrCaseBit<"SingleInheritance", 16>;
def DebugInfo_MultipleInheritance
    : I32BitEnumAttrCaseBit<"MultipleInheritance", 17>;

def DebugInfo_DIFlags : DebugInfo_Flags<"DIFlags",
    "properties of a type or variable", [
  I32BitEnumAttrCaseNone<"Zero">,
  DebugInfo_Bit0,
  DebugInfo_Bit1,
  I32BitEnumAttrCaseGroup<"Private", [DebugInfo_Bit0]>,
  I32BitEnumAttrCaseGroup<"Protected", [DebugInfo_Bit1]>,
  I32BitEnumAttrCaseGroup<"Public", [DebugInfo_Bit0, DebugInfo_Bit1]>,
  I32BitEnumAttrCaseBit<"FwdDecl", 2>,
  I32BitEnumAttrCaseBit<"AppleBlock", 3>,
  I32BitEnumAttrCaseBit<"ReservedBit4", 4>,
  I32BitEnumAttrCaseBit<"Virtual", 5>,
  I32BitEnumAttrCaseBit<"Artificial", 6>,
  I32BitEnumAttrCaseBit<"Explicit", 7>,
  I32BitEnumAttrCaseBit<"Prototyped", 8>,
  I32BitEnumAttrCaseBit<"ObjcClassComplete", 9>,
  I32BitEnumAttrCaseBit<"ObjectPointer", 10>,
  I32BitEnumAttrCaseBit<"Vector", 11>,
  I32BitEnumAttrCaseBit<"StaticMember", 12>,
  I32BitEnumAttrCaseBit<"LValueReference", 13>,
  I32BitEnumAttrCaseBit<"RValueReference", 14>,
  I32BitEnumAttrCaseBit<"ExportSymbols", 15>,
  DebugInfo_SingleInheritance,
  DebugInfo_MultipleInheritance,
  I32BitEnumAttrCaseGroup<"VirtualInheritance",
      [DebugInfo_SingleInheritance, DebugInfo_MultipleInheritance]>,
  I32BitEnumAttrCaseBit<"IntroducedVirtual", 18>,
  I32BitEnumAttrCaseBit<"BitField", 19>,
  I32BitEnumAttrCaseBit<"NoReturn", 20>,
  I32BitEnumAttrCaseBit<"TypePassByValue", 22>,
  I32BitEnumAttrCaseBit<"TypePassByReference", 23>,
  I32BitEnumAttrCaseBit<"EnumClass", 24>,
  I32BitEnumAttrCaseBit<"Thunk", 25>,
  I32BitEnumAttrCaseBit<"NonTrivial", 26>,
  I32BitEnumAttrCaseBit<"BigEndian", 27>,
  I32BitEnumAttrCaseBit<"LittleEndian", 28>,
  I32BitEnumAttrCaseBit<"AllCallsDescribed", 29>,
]>;

def DebugInfo_SubprogramFlags : DebugInfo_Flags<"SubprogramFlags",
    "properties of a function", [
  I32BitEnumAttrCaseNone<"Zero">,
  I32BitEnumAttrCaseBit<"Virtual", 0>,
  I32BitEnumAttrCaseBit<"PureVirtual", 1>,
  I32BitEnumAttrCaseBit<"LocalToUnit", 2>,
  I32BitEnumAttrCaseBit<"Definition", 3>,
  I32BitEnumAttrCaseBit<"Optimized", 4>,
  I32BitEnumAttrCaseBit<"Pure", 5>,
  I32BitEnumAttrCaseBit<"Elemental", 6>,
  I32BitEnumAttrCaseBit<"Recursive", 7>,
  I32BitEnumAttrCaseBit<"MainSubprogram", 8>,
  I32BitEnumAttrCaseBit<"Deleted", 9>,
  I32BitEnumAttrCaseBit<"ObjCDirect", 11>,
]>;

#endif // CORTEN_DIALECT_DEBUGINFO_IR_DEBUGINFOENUMS_TD
