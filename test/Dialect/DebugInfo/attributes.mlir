// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: corten-opt %s | corten-opt --mlir-print-local-scope | FileCheck %s
// RUN: corten-opt %s --emit-bytecode | corten-opt --mlir-print-local-scope | FileCheck %s
// RUN: corten-opt %s | FileCheck %s --check-prefix=ALIAS

// ALIAS-DAG: #[[FILE:.*]] = #debuginfo.file<filename = "a.py", directory = "src", sha256Sum = "00">
// ALIAS-DAG: #[[UNIT:.*]] = #debuginfo.compile_unit<sourceLanguage = "mlir", file = #[[FILE]], producer = "torch", optimized = true, flags = "-O", allFiles = #[[FILE]], #{{file.*}}>
// ALIAS-DAG: #subprogram{{.*}} = #debuginfo.subprogram<compileUnit = #[[UNIT]], file = #[[FILE]], name = "main", linkageName = "_main", flags = "Definition|Optimized"> : (f32) -> f32

// CHECK: a = #debuginfo.file<filename = "a.py", directory = "src", sha256Sum = "00">
udml.placeholder "test"() {a = #debuginfo.file<directory = "src", sha256Sum = "00", filename = "a.py">} : () -> ()

// CHECK: a = #debuginfo.compile_unit<sourceLanguage = "mlir", file = <filename = "a.py", directory = "src", sha256Sum = "00">, producer = "torch", optimized = true, flags = "-O", allFiles = <filename = "a.py", directory = "src", sha256Sum = "00">, <filename = "b.py", directory = "", sha256Sum = "">>
#unit = #debuginfo.compile_unit<sourceLanguage = "mlir", file = <filename = "a.py", directory = "src", sha256Sum = "00">, producer = "torch", optimized = true, flags = "-O", allFiles = <filename = "a.py", directory = "src", sha256Sum = "00">, <filename = "b.py", directory = "", sha256Sum = "">>
udml.placeholder "test"() {a = #unit} : () -> ()

// CHECK: a = #debuginfo.subprogram<compileUnit = #debuginfo.compile_unit<{{.*}}>, file = <filename = "a.py", directory = "src", sha256Sum = "00">, name = "main", linkageName = "_main", flags = "Definition|Optimized"> : (f32) -> f32
udml.placeholder "test"() {a = #debuginfo.subprogram<compileUnit = #unit, file = <filename = "a.py", directory = "src", sha256Sum = "00">, name = "main", linkageName = "_main", flags = "Optimized|Definition"> : (f32) -> f32} : () -> ()

// CHECK: [#debuginfo.subprogram<compileUnit = @unit, file = <filename = "a", directory = "", sha256Sum = "">, name = "f", linkageName = "", flags = Pure> : () -> (), #debuginfo.subprogram<compileUnit = unit, file = <filename = "a", directory = "", sha256Sum = "">, name = "f", linkageName = "">]
udml.placeholder "test"() {a = [#debuginfo.subprogram<compileUnit = @unit, file = <filename = "a", directory = "", sha256Sum = "">, name = "f", linkageName = "", flags = Pure> : () -> (), #debuginfo.subprogram<compileUnit = unit, file = <filename = "a", directory = "", sha256Sum = "">, name = "f", linkageName = "">]} : () -> ()

// CHECK: a = #debuginfo.local_variable<name = "x", line = loc("a.py":3:1 to :9), scope = @main, alignInBits = 64, flags = "Public|Vector"> : f32
udml.placeholder "test"() {a = #debuginfo.local_variable<name = "x", line = loc("a.py":3:1 to :9), scope = @main, alignInBits = 64, flags = "Vector|Private|Protected"> : f32} : () -> ()

// Zero is not written.
// CHECK: [#debuginfo.bounds<>, #debuginfo.bounds<count = 4>, #debuginfo.bounds<lower = -1, upper = 2, stride = 3>]
udml.placeholder "test"() {a = [#debuginfo.bounds<>, #debuginfo.bounds<count = 4, stride = 0>, #debuginfo.bounds<stride = 3, lower = -1, upper = 2>]} : () -> ()

// CHECK: [#debuginfo.metadata<"k": unit>, #debuginfo.metadata<"k": "s">, #debuginfo.metadata<"k": 5 : ui64>, #debuginfo.metadata<"k": true>, #debuginfo.metadata<"k": [1, "a"]>, #debuginfo.metadata<"k": {b = 1 : i64}>, #debuginfo.metadata<"k": loc("a.py":1:2)>]
udml.placeholder "test"() {a = [#debuginfo.metadata<"k": unit>, #debuginfo.metadata<"k": "s">, #debuginfo.metadata<"k": 5 : ui64>, #debuginfo.metadata<"k": true>, #debuginfo.metadata<"k": [1, "a"]>, #debuginfo.metadata<"k": {b = 1}>, #debuginfo.metadata<"k": loc("a.py":1:2)>]} : () -> ()

// CHECK: [!debuginfo.unresolved<tensor<2xf32>>, !debuginfo.basic<name = "t", sizeInBits = 4>, !debuginfo.basic<dwTag = DW_TAG_base_type, dwEncoding = DW_ATE_float, name = "float", sizeInBits = 32>]
udml.placeholder "test"() {a = [!debuginfo.unresolved<tensor<2xf32>>, !debuginfo.basic<name = "t", sizeInBits = 4>, !debuginfo.basic<sizeInBits = 32, dwTag = DW_TAG_base_type, dwEncoding = DW_ATE_float, name = "float">]} : () -> ()

// CHECK: a = !debuginfo.derived<dwTag = DW_TAG_pointer_type, name = "p", sizeInBits = 64, alignInBits = 8, offsetInBits = 0, baseType = !debuginfo.unresolved<f32>>
udml.placeholder "test"() {a = !debuginfo.derived<dwTag = DW_TAG_pointer_type, name = "p", baseType = !debuginfo.unresolved<f32>, sizeInBits = 64, alignInBits = 8, offsetInBits = 0>} : () -> ()

// CHECK: a = !debuginfo.composite<dwTag = DW_TAG_array_type, name = "c", scope = @main, line = loc("a.py":1:2), sizeInBits = 64, alignInBits = 8, baseType = !debuginfo.unresolved<f32>, flags = Vector, elements = #debuginfo.bounds<count = 2>, 5 : i64>
udml.placeholder "test"() {a = !debuginfo.composite<dwTag = DW_TAG_array_type, name = "c", line = loc("a.py":1:2), scope = @main, sizeInBits = 64, flags = Vector, alignInBits = 8, baseType = !debuginfo.unresolved<f32>, elements = #debuginfo.bounds<count = 2>, 5>} : () -> ()

// CHECK: a = !debuginfo.composite<name = "c", scope = @main, line = loc("a.py":1:2), sizeInBits = 0, alignInBits = 0, elements = f32>
udml.placeholder "test"() {a = !debuginfo.composite<name = "c", line = loc("a.py":1:2), scope = @main, sizeInBits = 0, flags = Zero, alignInBits = 0, elements = f32>} : () -> ()

// CHECK: [#debuginfo.location<loc("a.py":1:2) in @main::@inner>, #debuginfo.location<loc("a.py":1:2) in unit fused with [<loc("b.py":3:4) in @main metadata = [<"k": unit>]>, <loc("c.py":5:6) in unit>] metadata = [<"k": 1 : i64>, <"l": "s">]>, #debuginfo.metadata.location<<"k": unit>, <"l": unit>>]
udml.placeholder "test"() {a = [#debuginfo.location<loc("a.py":1:2) in @main::@inner>, #debuginfo.location<loc("a.py":1:2) in unit fused with [#debuginfo.location<loc("b.py":3:4) in @main metadata = [<"k": unit>]>, <loc("c.py":5:6) in unit>] metadata = [#debuginfo.metadata<"k": 1>, <"l": "s">]>, #debuginfo.metadata.location<#debuginfo.metadata<"k": unit>, <"l": unit>>]} : () -> ()
