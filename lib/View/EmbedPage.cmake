# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Writes the sources of the page into OUTPUT as C++ string literals.
#
#   cmake -DOUTPUT=... -DDIRECTORY=lib/View/Page -P EmbedPage.cmake

set(content "// Generated from ${DIRECTORY}.\n")
foreach(entry "kPage page.html" "kStyle view.css" "kScript view.js"
        "kLayout vendor/dagre.min.js")
  string(REPLACE " " ";" entry "${entry}")
  list(GET entry 0 name)
  list(GET entry 1 path)
  file(READ "${DIRECTORY}/${path}" text)
  if(path STREQUAL "vendor/dagre.min.js")
    # Its licence goes where it goes; its source map does not.
    file(READ "${DIRECTORY}/vendor/dagre.LICENSE" licence)
    string(REGEX REPLACE "//# sourceMappingURL[^\n]*\n?" "" text "${text}")
    string(PREPEND text "/*! dagre\n\n${licence}*/\n")
  endif()
  string(APPEND content
    "static constexpr char ${name}[] = R\"CORTEN_PAGE(${text})CORTEN_PAGE\";\n")
endforeach()
file(WRITE "${OUTPUT}" "${content}")
