# SPDX-License-Identifier: MIT
#
# The float state of a program's thread changes no bit of any op: `weft verify` whose calls of the library are made in
# other states (tests/floats/wrapped.c), in a cache of its own, so that nothing comes from a run in the default state.

if(NOT WEFT_BUILD_CLI OR WEFT_SANITIZE)
    return()
endif()

set(weft_floats_sources "${CMAKE_CURRENT_SOURCE_DIR}/floats/wrapped.c"
    "${CMAKE_CURRENT_SOURCE_DIR}/support/support_floats.c")
weft_add_command(weft-floats weft-floats weft_internal OBJECTS ${weft_floats_sources})
target_include_directories(weft-floats PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}/support")
file(STRINGS floats/wrapped.c weft_wrapped REGEX "^WRAP\\(weft_")
list(TRANSFORM weft_wrapped REPLACE "^WRAP\\((weft_[a-z_]+),.*" "LINKER:--wrap=\\1")
target_link_options(weft-floats PRIVATE ${weft_wrapped})

set(weft_float_states upward downward towardzero)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    list(APPEND weft_float_states flush trap single)
endif()
foreach(state IN LISTS weft_float_states)
    set(quick QUICK NONE) # each compiles its kernels anew
    set(drivers ONE_DRIVER)
    set(cases ${weft_some_list})
    if(state STREQUAL trap)
        set(quick "")
        set(cases ${weft_kernel_list})
    endif()
    if(weft_processors AND NOT state STREQUAL upward)
        set(drivers DRIVERS processor-8)
    endif()
    weft_add_device_test(floats.${state} ${drivers} ${quick} LABELS verify
        COMMAND "${CMAKE_COMMAND}" -E env WEFT_TEST_FLOATS=${state} $<TARGET_FILE:weft-floats>
                verify --bits tests/data/bits --no-cache ${cases})
endforeach()
