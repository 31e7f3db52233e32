# SPDX-License-Identifier: MIT
#
# Shows that the tests notice when one of the rules of reproducible math is broken: builds of the
# command in which it can be (runtime/core/rules.h), by an environment variable or, for what is
# decided when shaders are compiled, by a program of their own. Their objects come before the
# library's in the link and replace the archive's members of the same contents.

if(NOT WEFT_BUILD_CLI OR WEFT_SANITIZE)
    return()
endif()

set(weft_rule_sources runtime/shader/pipeline.c runtime/shader/probe.c runtime/device/open.c
    runtime/opencl/emit.c runtime/opencl/plan.c runtime/opencl/control.c
    runtime/mixers/vkfft/vkfft_unit.c tests/rules/rules.c)
list(TRANSFORM weft_rule_sources PREPEND "${PROJECT_SOURCE_DIR}/")
# VkFFT only prepares shaders: unoptimised it compiles in a quarter of the time.
set_source_files_properties("${weft_vkfft_unit}" PROPERTIES
    COMPILE_OPTIONS "${weft_vkfft_options};-O0" INCLUDE_DIRECTORIES "${weft_vkfft_dir}")
add_library(weft-rule-objects OBJECT ${weft_rule_sources})
weft_compile_options(weft-rule-objects)
target_link_libraries(weft-rule-objects PRIVATE weft_requirements)
target_include_directories(weft-rule-objects SYSTEM PRIVATE
    "${PROJECT_BINARY_DIR}/volk" "${WEFT_VOLK_INCLUDE_DIR}")
target_compile_definitions(weft-rule-objects PRIVATE WEFT_BUILDING=1 WEFT_RULES_CAN_BREAK=1)
add_dependencies(weft-rule-objects weft_objects) # generated headers

weft_add_command(weft-rules weft-rules weft_internal OBJECTS $<TARGET_OBJECTS:weft-rule-objects>)
# Broken in the shaders that the tests below run.
set(weft_broken_by_exp "^softmax/")
set(weft_broken_by_sum "^norm/")
foreach(rule exp sum)
    string(TOUPPER "${rule}" definition)
    weft_embed_shaders(weft_shaders_without_${rule} "${CMAKE_CURRENT_BINARY_DIR}/rules/${rule}"
                       "${weft_broken_by_${rule}}" "-DWEFT_BREAK_${definition}=1")
    add_dependencies(weft_shaders_without_${rule} weft_shaders)
    weft_add_command(weft-rules-${rule} weft-rules-${rule} weft_internal
                     OBJECTS $<TARGET_OBJECTS:weft-rule-objects>
                             "${weft_shaders_without_${rule}_source}")
    target_include_directories(weft-rules-${rule} PRIVATE "${PROJECT_SOURCE_DIR}/runtime")
    add_dependencies(weft-rules-${rule} weft_shaders_without_${rule})
endforeach()

# weft_add_rule_test(<name> <program> <rules to break> <filter> <exit code> <expected text> [option...] [DRIVER <driver>])
function(weft_add_rule_test name program broken filter result expected)
    set(quick "")
    set(where ONE_DRIVER)
    if(NOT name MATCHES "lint$|devices$") # each compiles its kernels anew, twice
        set(quick QUICK NONE)
    endif()
    list(FIND ARGN DRIVER at)
    if(at GREATER_EQUAL 0) # the last argument
        list(GET ARGN -1 driver)
        list(SUBLIST ARGN 0 ${at} ARGN)
        set(where DRIVERS ${driver})
    endif()
    weft_add_device_test(rules.${name} ${where} ${quick} LABELS rules
        COMMAND "${CMAKE_COMMAND}" -DPROGRAM=$<TARGET_FILE:${program}> "-DBREAK=${broken}"
                "-DFILTER=${filter}" -DRESULT=${result} "-DEXPECT=${expected}"
                -DBITS=tests/data/bits
                "-DCACHE=${CMAKE_CURRENT_BINARY_DIR}/rules/cache-${name}" ${ARGN}
                -P "${CMAKE_CURRENT_SOURCE_DIR}/rules/verify.cmake")
endfunction()

set(weft_passes "The bits are those of the file")
set(weft_fails "FAILED|DIFFERENT")
set(weft_broken_already -DKEPT_TOO=NO) # programs compiled with a broken rule cannot keep it

# The lint names what it refuses, before a driver sees it; with the lint broken too, the bits show it.
weft_add_rule_test(contraction.lint weft-rules no-contraction activation/ 1 NoContraction)
weft_add_rule_test(tables.lint weft-rules tables fourier/fft/impulse 1 "Sin|Cos")
weft_add_rule_test(tables.bits weft-rules tables,lint fourier/fft/impulse 1 "${weft_fails}")
weft_add_rule_test(exp.lint weft-rules-exp "" softmax/ 1 Exp ${weft_broken_already})
weft_add_rule_test(exp.bits weft-rules-exp lint softmax/ 1 "${weft_fails}" ${weft_broken_already})
weft_add_rule_test(sum.lint weft-rules-sum "" layer_norm/ 1 NumSubgroups
                   ${weft_broken_already})
weft_add_rule_test(sum.bits weft-rules-sum lint layer_norm/ 1 "${weft_fails}"
                   ${weft_broken_already})

# lavapipe takes SignedZeroInfNanPreserve for a ban on contraction too, so for the bits to show that
# NoContraction is missing, that mode must go as well; its own absence changes nothing.
weft_add_rule_test(contraction.bits weft-rules no-contraction,float-modes,lint activation/ 1
                   "${weft_fails}")
weft_add_rule_test(modes weft-rules float-modes activation/ 0 "${weft_passes}")

# A driver that keeps subnormals because its threads were not told to flush them: the probe sees it,
# modules do it themselves, and the bits are the same.
weft_add_rule_test(subnormals weft-rules thread-flush special/ 0 "${weft_passes}")
# As they would for a driver that takes a product for subnormal before it is rounded.
weft_add_rule_test(products weft-rules thread-flush,light-flush special/activation 0
                   "${weft_passes}")

# Fused math on drivers whose fma rounds twice. Left to the driver, it is found by the probe; split as in reproducible math, too.
weft_add_rule_test(fused.driver weft-rules exact-fma matmul/a,b/unit/m=33 3
                   "cannot be used with fused math: fma.a, b, c. with .*rounded once" "-DMORE=--math=fused")
weft_add_rule_test(fused.split weft-rules fused matmul/a,b/unit/m=33 3
                   "cannot be used with fused math: fma.a, b, c. with .*rounded once" "-DMORE=--math=fused")

# As they would for compilers that want short blocks, and branches that look different: their passes change no bit.
weft_add_rule_test(blocks weft-rules whole-blocks,equal-branches fourier/fft/ 0 "${weft_passes}")

# OpenCL's compilers, whose text lacks what keeps two of them from being wrong: the probe sees it, and takes their way without optimization, which
# is right. Contracted text it refuses.
set(weft_care "miscompiles: its shaders are compiled without.*${weft_passes}")
if("opencl-pocl" IN_LIST weft_opencl_drivers)
    weft_add_rule_test(opencl.ends weft-rules barrier-ends toeplitz_fd/fft_shared/both/given/unit/n=8 0
                       "${weft_care}" -DMORE=--verbose DRIVER opencl-pocl)
    weft_add_rule_test(opencl.contraction weft-rules opencl-contraction softmax/hundreds 3
                       "cannot be used with reproducible math: a . b . c with" DRIVER opencl-pocl)
endif()
if("opencl-intel" IN_LIST weft_opencl_drivers)
    weft_add_rule_test(opencl.signs weft-rules hidden-signs toeplitz_fd_rpe/causal/frequency/simple_rms,silu/n=31 0
                       "${weft_care}" -DMORE=--verbose DRIVER opencl-intel)
endif()

# Two drivers in one process: the command names the case, the first element and both values.
if("lavapipe-8" IN_LIST weft_drivers AND "swiftshader" IN_LIST weft_drivers)
    set(pair "-DDRIVERS=${WEFT_DRIVERS_DIR}/lavapipe-8.json:${WEFT_DRIVERS_DIR}/swiftshader.json")
    weft_add_rule_test(devices weft-rules "" softmax/hundreds 0 "The same bits on all 2 devices"
                       ${weft_broken_already} "${pair}")
    weft_add_rule_test(exp.devices weft-rules-exp lint softmax/hundreds 1
                       "DIFFERENT softmax/[^\n]* is [^\n]*0x[0-9a-f]+. and [^\n]*0x"
                       ${weft_broken_already} "${pair}")
endif()
