# SPDX-License-Identifier: MIT
#
# What a project that adds Weft as a subdirectory sets for all of its targets, and Weft's are not to have. What decides the ABI
# (-m…, sanitizers, -fshort-enums) stays as the parent has it. tests/packaging/parent.cmake builds such a project.

# Each file is compiled alone: static functions of several have the same names.
set(CMAKE_UNITY_BUILD OFF)
# Sources without a Q_OBJECT need none of Qt's tools.
set(CMAKE_AUTOMOC OFF)
set(CMAKE_AUTOUIC OFF)
set(CMAKE_AUTORCC OFF)
set(weft_no_error "")
if(NOT PROJECT_IS_TOP_LEVEL)
    # What the compiler warns of is no error of the parent's.
    set(CMAKE_COMPILE_WARNING_AS_ERROR OFF)
    set(weft_no_error -Wno-error)
    foreach(tool CLANG_TIDY CPPCHECK CPPLINT INCLUDE_WHAT_YOU_USE)
        set(CMAKE_C_${tool} "")
        set(CMAKE_CXX_${tool} "")
    endforeach()
    # Its folders would stand before ours, and may have a core/host.h, too.
    set_property(DIRECTORY PROPERTY INCLUDE_DIRECTORIES "")
endif()

# Float arithmetic as C and IEEE 754 have it, behind -ffast-math, -Ofast or their parts: options of a target stand behind the
# parent's. core/math/float_state.h is an error without.
set(weft_float_options -fno-fast-math -fno-finite-math-only -fno-unsafe-math-optimizations
    -fno-associative-math -fno-reciprocal-math -fsigned-zeros -fmath-errno -fno-rounding-math)
if(CMAKE_C_COMPILER_ID STREQUAL "GNU")
    list(APPEND weft_float_options -ftrapping-math -fno-single-precision-constant)
endif()
list(APPEND weft_float_options -ffp-contract=off) # last: some of clang's versions let the others change it
