// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Programs that are written by hand, for tests. The JSON of an archive says
// everything twice; here a call is a line:
//
//   {"inputs": {"x": "f32[n,3]"},
//    "weights": {"w": "f32[4,3]"},
//    "calls": [["y: f32[n,4]", "aten.linear.default", "x", "w"]],
//    "outputs": ["y"]}
//
// A call has its results, the operator and the arguments in the order of the
// schema; those that have names stand in an object at the end. The schema says
// what a JSON value means: "x" is a tensor, a symbolic number or a text, and
// "f32" an element type. Results are "y: f32[2]", several with commas, a list
// in brackets ("[a: f32[1], b: f32[1]]"); a number is "n: int", with the size
// that it is behind it if it is one ("length: int n"). Extents may be names, or
// what torch writes for a computed size ("2*n"). Also:
//
//   "name": "forward"              the entry point; "main" without it
//   "sizes": {"n": [1, 64]}        bounds of symbols; [2, none] without them
//   "states": {"k": "f32[2]"}      buffers that are written to
//   "writes": {"k": "add"}         their values afterwards
//   "graphs": {"body": {...}}      what calls such as cond and scan take, with
//                                  inputs, calls and outputs of their own;
//                                  a call names them, as "higher_order.cond"

#ifndef CORTEN_TOOLS_CORTEN_TRANSLATE_SHORTPROGRAM_H
#define CORTEN_TOOLS_CORTEN_TRANSLATE_SHORTPROGRAM_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>

namespace corten {

/// A program in the form of an archive, and what its entry point is called.
struct WrittenProgram {
  std::string json;
  std::string name = "main";
};

/// Spells a program out. One that is in the form of an archive already stays as
/// it is.
llvm::Expected<WrittenProgram> spellOut(llvm::StringRef text);

} // namespace corten

#endif // CORTEN_TOOLS_CORTEN_TRANSLATE_SHORTPROGRAM_H
