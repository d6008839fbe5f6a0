# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Finds MLIR 22 and makes it link statically.
#
# Debian builds MLIR against the LLVM shared library, so the imported MLIR
# targets name `LLVM` in their link interface. That one target is turned into
# the static LLVMSupport here: nothing we ship needs an LLVM package at run time.

find_package(MLIR 22.1 REQUIRED CONFIG HINTS /usr/lib/llvm-22/lib/cmake/mlir)

set_target_properties(LLVM PROPERTIES
  IMPORTED_CONFIGURATIONS RELWITHDEBINFO
  IMPORTED_LOCATION_RELWITHDEBINFO "${LLVM_LIBRARY_DIR}/libLLVMSupport.a"
  IMPORTED_SONAME_RELWITHDEBINFO ""
  INTERFACE_LINK_LIBRARIES "LLVMSupport")

# LLVMSupport names libz3 (its SMT solver, which nothing of ours references)
# and the shared zlib and zstd; take the static ones, so that a wheel needs
# nothing beyond libc.
find_library(CORTEN_ZLIB_STATIC libz.a REQUIRED)
find_library(CORTEN_ZSTD_STATIC libzstd.a REQUIRED)
set_target_properties(LLVMSupport PROPERTIES
  INTERFACE_LINK_LIBRARIES
    "LLVMDemangle;${CORTEN_ZLIB_STATIC};${CORTEN_ZSTD_STATIC};rt;dl;m;pthread")

list(APPEND CMAKE_MODULE_PATH "${MLIR_CMAKE_DIR}" "${LLVM_CMAKE_DIR}")
include(TableGen)
include(AddLLVM)
include(AddMLIR)

# MLIR's headers are not warning-clean under -Wextra.
add_library(corten_mlir_headers INTERFACE)
target_include_directories(corten_mlir_headers SYSTEM INTERFACE
  ${MLIR_INCLUDE_DIRS} ${LLVM_INCLUDE_DIRS})
target_compile_definitions(corten_mlir_headers INTERFACE ${LLVM_DEFINITIONS_LIST})

# What nearly every source that knows the dialect reads first, and what takes the
# most of its time: parsed once, by CortenCoreAI.
set(CORTEN_DIALECT_HEADERS
  "<corten/Dialect/CoreAI/IR/CoreAIOps.h>"
  <llvm/ADT/DenseMap.h>
  <llvm/ADT/DenseSet.h>
  <llvm/ADT/STLExtras.h>
  <llvm/ADT/StringExtras.h>
  <llvm/ADT/StringMap.h>
  <llvm/ADT/TypeSwitch.h>
  <llvm/Support/raw_ostream.h>
  <mlir/IR/Builders.h>
  <mlir/IR/BuiltinOps.h>
  <mlir/IR/DialectResourceBlobManager.h>
  <mlir/IR/IRMapping.h>
  <mlir/IR/Matchers.h>
  <mlir/IR/PatternMatch.h>
  <mlir/IR/TypeUtilities.h>
  <functional>
  <memory>
  <optional>
  <string>
  <vector>)

# corten_add_library(NAME sources... [DIALECT_HEADERS]
#                    [DEPENDS tablegen targets...] [LINK libraries...])
#
# A static library of ours. All symbols stay hidden. With DIALECT_HEADERS, the
# headers above need not be parsed for each source; sources still include what
# they use, which the preset "release" sees to.
function(corten_add_library name)
  cmake_parse_arguments(ARG "DIALECT_HEADERS" "" "DEPENDS;LINK" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  set_property(GLOBAL APPEND PROPERTY CORTEN_LIBRARIES ${name})
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
  target_include_directories(${name} PUBLIC
    "${PROJECT_SOURCE_DIR}/include" "${PROJECT_BINARY_DIR}/include")
  target_link_libraries(${name}
    PUBLIC corten_mlir_headers ${ARG_LINK}
    PRIVATE corten_compile_options)
  if(ARG_DIALECT_HEADERS)
    corten_precompile_dialect_headers(${name})
  endif()
endfunction()

function(corten_precompile_dialect_headers name)
  if(name STREQUAL CortenCoreAI)
    target_precompile_headers(${name} PRIVATE ${CORTEN_DIALECT_HEADERS})
  else()
    target_precompile_headers(${name} REUSE_FROM CortenCoreAI)
  endif()
  # A precompiled header names the files of one clone: nothing that is made
  # with it may come from, or go to, a cache that others share.
  if(NOT CMAKE_DISABLE_PRECOMPILE_HEADERS)
    set_target_properties(${name} PROPERTIES CXX_COMPILER_LAUNCHER "")
  endif()
endfunction()

# corten_tablegen(TARGET file.td generator output [generator output ...])
#
# Runs mlir-tblgen on one .td file of the current folder; outputs land in the
# same folder of the build tree's include directory.
function(corten_tablegen target td)
  set(LLVM_TARGET_DEFINITIONS ${td})
  list(TRANSFORM MLIR_INCLUDE_DIRS PREPEND "-I" OUTPUT_VARIABLE includes)
  list(APPEND includes "-I${PROJECT_SOURCE_DIR}/include")
  set(arguments ${ARGN})
  while(arguments)
    list(POP_FRONT arguments flags output)
    separate_arguments(flags)
    mlir_tablegen(${output} ${flags} ${includes})
  endwhile()
  add_public_tablegen_target(${target})
endfunction()
