# SPDX-License-Identifier: MIT
#
# The programs of other libraries' in api/examples that take Weft in, for ./dev test all: with the validation layer's hazard
# checks, which must have been there and silent.

find_program(WEFT_XVFB_RUN xvfb-run)
mark_as_advanced(WEFT_XVFB_RUN)

# weft_add_host_example_test(<name> [XVFB]): host_<name>.cmake runs the program and looks at what it says.
function(weft_add_host_example_test name)
    if(NOT TARGET weft-example-${name})
        return()
    endif()
    set(screen "")
    if("XVFB" IN_LIST ARGN)
        if(NOT WEFT_XVFB_RUN)
            if(WEFT_EXAMPLE_WINDOW STREQUAL "ON")
                message(FATAL_ERROR "The test of api/examples/${name} needs a screen: xvfb-run was not found (xvfb, xauth)")
            endif()
            return()
        endif()
        set(screen "-DXVFB_RUN=${WEFT_XVFB_RUN}")
    endif()
    weft_add_device_test("host.${name}" ONE_DRIVER LABELS example long
        COMMAND "${CMAKE_COMMAND}" "-DPROGRAM=$<TARGET_FILE:weft-example-${name}>" ${screen}
                "-DFOLDER=${CMAKE_CURRENT_BINARY_DIR}/hosts" "-DMODELS=${PROJECT_SOURCE_DIR}/api/examples/models"
                -P "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/host_${name}.cmake")
endfunction()

weft_add_host_example_test(window XVFB)
weft_add_host_example_test(libplacebo)
weft_add_host_example_test(ffmpeg)
