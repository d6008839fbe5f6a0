// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: corten-opt %s --split-input-file --verify-diagnostics

// expected-error @below {{scope must be a symbol, a subprogram, a compile unit or unit, not "x"}}
udml.placeholder "test"() {a = #debuginfo.location<loc("a.py":1:2) in "x">} : () -> ()

// -----

// expected-error @below {{scope must be a symbol, a subprogram, a compile unit or unit, not 5 : i64}}
udml.placeholder "test"() {a = #debuginfo.subprogram<compileUnit = 5, file = <filename = "a.py", directory = "src", sha256Sum = "00">, name = "f", linkageName = ""> : () -> ()} : () -> ()

// -----

// expected-error @below {{location in "a.py" cannot lie within a scope in "src/a.py"}}
udml.placeholder "test"() {a = #debuginfo.location<loc("a.py":1:2) in #debuginfo.compile_unit<sourceLanguage = "mlir", file = <filename = "a.py", directory = "src", sha256Sum = "00">, producer = "torch", optimized = false, flags = "">>} : () -> ()

// -----

// expected-error @below {{location in "src/b.py" cannot lie within a scope in "src/a.py"}}
udml.placeholder "test"() {a = #debuginfo.location<loc("src/b.py":1:2) in #debuginfo.subprogram<compileUnit = @u, file = <filename = "a.py", directory = "src", sha256Sum = "00">, name = "f", linkageName = ""> : () -> ()>} : () -> ()

// -----

// expected-error @below {{location in "src/a.py" cannot lie within a scope in "/a.py"}}
udml.placeholder "test"() {a = #debuginfo.location<loc("src/a.py":1:2) in #debuginfo.subprogram<compileUnit = @u, file = <filename = "/a.py", directory = "src", sha256Sum = "">, name = "f", linkageName = ""> : () -> ()>} : () -> ()

// -----

// expected-error @below {{invalid kind of attribute specified}}
// expected-error @below {{failed to parse}}
udml.placeholder "test"() {a = #debuginfo.location<loc(unknown) in unit>} : () -> ()

// -----

// expected-error @below {{expected 'in'}}
udml.placeholder "test"() {a = #debuginfo.location<loc("a.py":1:2)>} : () -> ()

// -----

// expected-error @below {{expected '<'}}
// expected-error @below {{failed to parse}}
udml.placeholder "test"() {a = #debuginfo.location<loc("a.py":1:2) in unit fused with [loc("b.py":1:2)]>} : () -> ()

// -----

// expected-error @below {{metadata 'k' cannot be 1.000000e+00 : f32}}
udml.placeholder "test"() {a = #debuginfo.metadata<"k": 1.0 : f32>} : () -> ()

// -----

// expected-error @below {{metadata 'k' cannot be @f}}
udml.placeholder "test"() {a = #debuginfo.metadata<"k": @f>} : () -> ()

// -----

// expected-error @below {{no DWARF tag 'DW_TAG_unheard_of'}}
// expected-error @below {{failed to parse}}
udml.placeholder "test"() {a = !debuginfo.basic<dwTag = DW_TAG_unheard_of, name = "t", sizeInBits = 4>} : () -> ()

// -----

// expected-error @below {{no DWARF encoding 'float'}}
// expected-error @below {{failed to parse}}
udml.placeholder "test"() {a = !debuginfo.basic<dwEncoding = float, name = "t", sizeInBits = 4>} : () -> ()

// -----

// expected-error @below {{base type must describe a source type, not be 'f32'}}
udml.placeholder "test"() {a = !debuginfo.derived<name = "p", baseType = f32, sizeInBits = 64, alignInBits = 8, offsetInBits = 0>} : () -> ()

// -----

// expected-error @below {{base type must describe a source type, not be 'f32'}}
udml.placeholder "test"() {a = !debuginfo.composite<name = "c", line = loc("a.py":1:2), scope = @main, sizeInBits = 0, alignInBits = 0, baseType = f32, elements = f32>} : () -> ()

// -----

// expected-error @below {{struct is missing required parameter: linkageName}}
udml.placeholder "test"() {a = #debuginfo.subprogram<compileUnit = @u, file = <filename = "a.py", directory = "src", sha256Sum = "00">, name = "f"> : () -> ()} : () -> ()

// -----

// expected-error @below {{for properties of a type or variable, got: Volatile}}
// expected-error @below {{failed to parse}}
udml.placeholder "test"() {a = #debuginfo.local_variable<name = "x", line = loc("a.py":3:1), scope = @main, alignInBits = 0, flags = Volatile> : f32} : () -> ()
