# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Objects that are compiled for certain instructions must not define a function
# that the linker may take for another object's: all that is shared between
# objects (weak symbols) has to be in the namespace of its level. Constants (V)
# are the same for all.
foreach(object IN LISTS OBJECTS)
  execute_process(COMMAND "${NM}" --defined-only "${object}"
    OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCHALL " [Wu] [^\n]+" weak "${symbols}")
  list(FILTER weak EXCLUDE REGEX "(4avx2|6avx512|11avx512_bf16|3amx|4neon)")
  if(weak)
    message(SEND_ERROR "${object} defines what others may get:${weak}")
  endif()
endforeach()
