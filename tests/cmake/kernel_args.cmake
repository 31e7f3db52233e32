# SPDX-License-Identifier: MIT
#
# A dispatch that leaves out a field of its kernel, gives one that the shader does not have, or one twice, does not
# compile; nor does one that was right before the shader's fields changed.

function(weft_add_args_test name result expected)
    add_test(NAME "kernel_args.${name}"
        COMMAND "${CMAKE_COMMAND}" "-DCOMPILER=${CMAKE_C_COMPILER}" "-DCASE=${name}" "-DRESULT=${result}"
                "-DEXPECT=${expected}" "-DSOURCE=${CMAKE_CURRENT_SOURCE_DIR}/kernel_args/args.c"
                "-DTOOL=$<$<TARGET_EXISTS:kernel-header>:$<TARGET_FILE:kernel-header>>"
                "-DVALIDATOR=${WEFT_GLSLANG_VALIDATOR}" "-DSHADERS=${PROJECT_SOURCE_DIR}/shaders"
                "-DFOLDER=${CMAKE_CURRENT_BINARY_DIR}/kernel_args/${name}"
                "-DINCLUDES=${PROJECT_SOURCE_DIR}/runtime;${PROJECT_SOURCE_DIR}/api/include;${weft_shader_binary_dir};${PROJECT_BINARY_DIR}/volk;${WEFT_VOLK_INCLUDE_DIR}"
                -P "${CMAKE_CURRENT_SOURCE_DIR}/kernel_args/compile.cmake")
    set_tests_properties("kernel_args.${name}" PROPERTIES LABELS unit)
endfunction()

weft_add_args_test(COMPLETE 0 "")
weft_add_args_test(MISSING 1 "gives each field of its kernel, once")
weft_add_args_test(UNKNOWN 1 "bias")
weft_add_args_test(TWICE 1 "overwritten|overrides|initializer")
weft_add_args_test(LAUNCH 1 "gives each field of its kernel, once")
weft_add_args_test(NO_SUCH_GROUP 1 "constant")
if(TARGET kernel-header)
    add_dependencies(weft-quick kernel-header)
    # The shader itself changes: two fields change places (C follows), one is added, one is renamed.
    weft_add_args_test(REORDERED 0 "")
    weft_add_args_test(ADDED 1 "gives each field of its kernel, once")
    weft_add_args_test(RENAMED 1 "scale")
endif()
