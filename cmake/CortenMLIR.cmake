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

# corten_add_library(NAME sources... [DEPENDS tablegen targets...]
#                    [LINK libraries...])
#
# A static library of ours. All symbols stay hidden.
function(corten_add_library name)
  cmake_parse_arguments(ARG "" "" "DEPENDS;LINK" ${ARGN})
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
