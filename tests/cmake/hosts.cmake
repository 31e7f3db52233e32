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

# Godot runs a script that asks the extension; on the processor, and without a screen.
if(TARGET weft-example-godot)
    set(model "${PROJECT_SOURCE_DIR}/api/examples/models/langid")
    add_test(NAME host.godot
        COMMAND "${WEFT_GODOT}" --headless --path "$<TARGET_FILE_DIR:weft-example-godot>" --script res://main.gd --
                "${model}" "${model}/samples/vi.txt" "${model}/samples/fr.txt")
    add_test(NAME host.godot-fault
        COMMAND "${WEFT_GODOT}" --headless --path "$<TARGET_FILE_DIR:weft-example-godot>" --script res://main.gd --
                "${CMAKE_CURRENT_BINARY_DIR}/no model")
    set_tests_properties(host.godot host.godot-fault PROPERTIES LABELS "example;long"
        ENVIRONMENT "HOME=${CMAKE_CURRENT_BINARY_DIR}/hosts;XDG_CACHE_HOME=${CMAKE_CURRENT_BINARY_DIR}/hosts")
    set_tests_properties(host.godot PROPERTIES PASS_REGULAR_EXPRESSION "vi.txt: vi\nfr.txt: fr\n")
    set_tests_properties(host.godot-fault PROPERTIES PASS_REGULAR_EXPRESSION "no model: WEFT_NOT_FOUND")
endif()
