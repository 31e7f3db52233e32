# SPDX-License-Identifier: MIT
#
# In what order tests start, and how long they may take. The included last file of tests sees all of them.
#
# First come tests of the sources and of units without a device: within a minute they say most. Then the longest start first, so
# that none is left running alone at the end. ctest remembers how long tests took, and where it has never run, as in CI, it knows
# this alone. Limits are for tests that hang: on two idle cores no test takes a tenth of its own.

# Names, without the driver's, and seconds of processor time with empty caches: those of ./dev test, on the device that it takes; and those
# of ./dev test all that would otherwise be left running alone.
set(weft_costs
    python.onnx_files 900
    python.minilm 600
    python.ray 400
    python.from_torch 360
    python.decoders 100
    python.gated_decoders 90
    unit.decode 33
    unit.faults 29
    cli.embed 25
    folded.shaders 22
    unit.spirv_lint 20
    model.decoder 20
    cli.receipt_bound 15
    unit.native_compile 15
    unit.host_bits 12
    cli.interrupted 12
    cli.run 12
    cli.generate 11
    model.model_goldens 11
    cli.shared_tensors 11
    unit.plan 11
    cli.quantize 10
    unit.limits 10
    cli.eval_tasks 10)

# What ./dev test all leaves to ./dev test cases. First, what a second compiler behind a back end that a first one has could find: that is in
# kernels alone, of which `weft verify` executes each there; whole models and the tests of devices are for after a change of shaders.
set(weft_second_drivers "swiftshader|mesa-backports|lavapipe-4|lavapipe-16|opencl-intel|opencl-oclgrind|opencl-rusticl")
# Then what in hours of a processor has found nothing that others had not: many kernels by hand on a driver where `weft verify` has each
# constant of each; the kinds of lies of which `weft verify` is told as well; what else than the list of products subnormals are in; machine
# code of the GPUs between; and builds as other projects make them: the packages' tests in ./dev test build small ones, `all` builds the preset
# asan itself, and `./dev release --twice` makes what packaging.reproduce does.
set(weft_cases_tests unit.variants.lavapipe-8 unit.groups.vulkan-1.1-fences unit.faults.more.lavapipe-8 unit.plan.opencl-pocl
    gfx.kernels.gfx906 gfx.fused.gfx1030 gfx.fused.gfx906 gfx.radv.kernels.radv-gfx906 gfx.radv.kernels.radv-gfx1030
    gfx.radv.fused.radv-gfx906 gfx.radv.fused.radv-gfx1030 compilers.amd-navi21 compilers.amd-vega10
    lying.certify.contraction lying.certify.warm lying.certify.shared lying.certify.order rules.subnormals.lavapipe-8
    packaging.reproduce packaging.preset-asan packaging.preset-fetched packaging.preset-small packaging.preset-shared
    packaging.parent-whole packaging.vcpkg packaging.add_subdirectory)
# A driver that compiles, ten times slower: what the host does for it is seen with others, and in unit.opencl. And what many numbers are, by
# code that others run with a few: sanitizers find nothing in numbers.
if(WEFT_SANITIZE)
    list(APPEND weft_cases_tests unit.groups.opencl-pocl unit.cancel.opencl-pocl unit.host_bits unit.math unit.fft_lengths
        unit.feature_estimates unit.groups.lavapipe-8 unit.lengths.lavapipe-8 unit.single_rows.lavapipe-8 unit.toeplitz.lavapipe-8
        unit.decode.lavapipe-8 unit.plan.lavapipe-8 unit.float_state.lavapipe-8 unit.float_state.processor-8)
endif()

foreach(test IN LISTS weft_costs weft_cases_tests)
    if(test MATCHES "^(unit|cli|model)\\.([a-z_]+)")
        weft_named_tests(${CMAKE_MATCH_1} ${CMAKE_MATCH_2})
    endif()
endforeach()

get_property(weft_tests DIRECTORY PROPERTY TESTS)
list(JOIN weft_tests "\n" weft_test_lines)
file(WRITE "${CMAKE_CURRENT_BINARY_DIR}/registered.txt" "${weft_test_lines}\n")
foreach(test IN LISTS weft_tests)
    get_property(labels TEST "${test}" PROPERTY LABELS)
    get_property(cost TEST "${test}" PROPERTY COST)
    set(limit 1800)
    if("long" IN_LIST labels)
        set(limit 14400)
    endif()
    string(REGEX REPLACE "^([a-z_]+\\.[a-z0-9_]+)\\..*" "\\1" name "${test}")
    list(FIND weft_costs "${name}" at)
    if(cost)
        # set beside the test
    elseif(at GREATER_EQUAL 0)
        math(EXPR at "${at} + 1")
        list(GET weft_costs ${at} cost)
    elseif("verify" IN_LIST labels)
        set(cost 200)
    elseif("eval" IN_LIST labels)
        set(cost 15)
    elseif(NOT "device" IN_LIST labels AND labels MATCHES "unit|house")
        set(cost 1000)
    else()
        set(cost 1)
    endif()
    set_tests_properties("${test}" PROPERTIES TIMEOUT ${limit} COST "${cost}")
endforeach()

foreach(test IN LISTS weft_tests)
    get_property(labels TEST "${test}" PROPERTY LABELS)
    if(test IN_LIST weft_cases_tests OR (test MATCHES "\\.(${weft_second_drivers})$" AND NOT labels MATCHES "verify|rules|example"))
        set_property(TEST "${test}" APPEND PROPERTY LABELS cases)
    endif()
endforeach()
