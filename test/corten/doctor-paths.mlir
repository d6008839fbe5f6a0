// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Absolute paths in locations, of ops and of arguments: notes, and no reason for
// an exit status.
//
// RUN: split-file %s %t
// RUN: corten doctor %t/absolute.mlir | FileCheck %s --check-prefix=ABSOLUTE
// RUN: corten doctor --json %t/absolute.mlir | FileCheck %s --check-prefix=JSON
// RUN: corten doctor --ignore absolute-source-paths %t/absolute.mlir | FileCheck %s --check-prefix=IGNORED
// RUN: corten doctor %t/relative.mlir | FileCheck %s --check-prefix=RELATIVE

// ABSOLUTE: absolute.mlir: nothing found, 3 notes
// ABSOLUTE-NEXT: note: absolute-source-paths
// ABSOLUTE-NEXT:   /home/me/secret/model.py
// ABSOLUTE-NEXT:   /srv/part.py
// ABSOLUTE-NEXT:   C:\me\model.py
// ABSOLUTE-NEXT:   why:
// ABSOLUTE-NEXT:   fix: corten strip
// JSON:      "check": "absolute-source-paths",
// JSON-NEXT: "detail": "",
// JSON-NEXT: "place": "/home/me/secret/model.py",
// JSON-NEXT: "reason":
// JSON-NEXT: "remedy":
// JSON-NEXT: "severity": "note"
// IGNORED: absolute.mlir: nothing found
//--- absolute.mlir
coreai.graph @main(%x: tensor<2xf32> {coreai.name = "x"} loc("C:\\me\\model.py":3:0)) -> (tensor<2xf32> {coreai.name = "y"}) {
  %0 = coreai.exp %x : tensor<2xf32> -> tensor<2xf32> loc("/home/me/secret/model.py":12:0)
  %1 = coreai.cos %0 : tensor<2xf32> -> tensor<2xf32> loc(fused["model.py":1:0, "/srv/part.py":2:0])
  coreai.output %1 : tensor<2xf32>
}
// RELATIVE: relative.mlir: nothing found
//--- relative.mlir
coreai.graph @main(%x: tensor<2xf32> {coreai.name = "x"} loc("model.py":3:0)) -> (tensor<2xf32> {coreai.name = "y"}) {
  %0 = coreai.exp %x : tensor<2xf32> -> tensor<2xf32> loc("secret/model.py":12:0)
  coreai.output %0 : tensor<2xf32>
}
