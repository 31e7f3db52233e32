# SPDX-License-Identifier: MIT
#
# Lists for `weft verify --list`, <build>/tests/lists/MARK.txt, of the marks in tests/data/cases.txt.

set(weft_lists "${CMAKE_CURRENT_BINARY_DIR}/lists")
set(weft_marked_cases "${CMAKE_CURRENT_SOURCE_DIR}/data/cases.txt")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${weft_marked_cases}")
foreach(mark quick kernels ranges forms opencl own)
    file(STRINGS "${weft_marked_cases}" cases REGEX "^[^#].* ${mark}( |$)")
    list(TRANSFORM cases REPLACE " .*" "")
    list(JOIN cases "\n" cases)
    file(WRITE "${weft_lists}/${mark}.txt" "${cases}\n")
endforeach()

# fused.txt: the cases whose bits are others in fused mode.
file(GLOB weft_fused_bits CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/data/bits-fused/*.json")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${weft_fused_bits})
set(cases "")
foreach(file IN LISTS weft_fused_bits)
    file(STRINGS "${file}" lines REGEX "^ *\".+\": \"")
    list(TRANSFORM lines REPLACE "^ *\"(.+)\": .*" "\\1")
    list(APPEND cases ${lines})
endforeach()
list(JOIN cases "\n" cases)
file(WRITE "${weft_lists}/fused.txt" "${cases}\n")
