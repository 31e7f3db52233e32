# SPDX-License-Identifier: MIT
#
# The command's own checks on every driver: each op against float64 and the committed bits, and the
# example model's labels against PyTorch's.

if(NOT WEFT_BUILD_CLI)
    return()
endif()

# A case says something of an op at one size, and something of a kernel's code. The former is the same wherever the same kernels run, so every
# case runs on the processor device, and for a change of shaders on one driver of each other kind of rows that the engine chooses: lavapipe with
# 8 lanes, and SwiftShader, which is small. That is hours of a driver in software, so it is `./dev test cases`. The latter depends on the
# compiler: lavapipe runs the cases that are marked quick in tests/data/cases.txt, which execute every kernel with each value of its constants,
# and every other compiler, or the same one with other lanes or another queue, those that are marked kernels. Another version of one that has
# run, what an OpenCL compiler reads, and what stands in place of each fma on a driver are one thing for all kernels: a few cases of many kinds
# of them (those marked opencl) run there, and all kernels in `./dev test cases`.
#
# ./dev test has the quick ones on the processor device, and those that are marked kernels on one Vulkan driver and one OpenCL compiler. That
# some such case executes each kernel is checked by compilers.lists, and that the cases marked quick do by verify.cases.
set(weft_whole_driver "${weft_one_driver}")
if(weft_processors)
    set(weft_whole_driver processor-8)
endif()
set(weft_verify weft-cli verify --bits tests/data/bits)
set(weft_kernel_list --list "${weft_lists}/kernels.txt")
set(weft_quick_list --list "${weft_lists}/quick.txt")
set(weft_some_list --list "${weft_lists}/opencl.txt")
# Sanitizers see what the host does, which on the processor device is all but the kernels themselves; of threads, how workgroups are shared out.
if(WEFT_SANITIZE)
    set(weft_sanitized_list ${weft_quick_list})
    if(WEFT_SANITIZE MATCHES "thread")
        set(weft_sanitized_list ${weft_kernel_list})
    endif()
    if(weft_processors)
        weft_add_device_test(verify DRIVERS processor-8 QUICK NONE LABELS verify COMMAND ${weft_verify} --device all ${weft_sanitized_list})
    endif()
    return()
endif()
set(weft_whole_drivers ${weft_one_driver})
if("swiftshader" IN_LIST weft_drivers)
    list(APPEND weft_whole_drivers swiftshader)
endif()
list(REMOVE_DUPLICATES weft_whole_drivers)
set(weft_relatives ${weft_drivers} ${weft_processors})
list(REMOVE_ITEM weft_relatives ${weft_whole_drivers} ${weft_whole_driver})
weft_add_device_test(verify.cases DRIVERS ${weft_whole_drivers} QUICK NONE LABELS cases
    COMMAND ${weft_verify} --device all --check-list "${weft_lists}/quick.txt")
weft_add_device_test(verify ONE_DRIVER QUICK NONE LABELS verify COMMAND ${weft_verify} --device all ${weft_quick_list})
if(weft_processors) # its rows are others than those of the drivers that the lists are made of
    weft_add_device_test(verify DRIVERS ${weft_whole_driver} QUICK NONE LABELS verify COMMAND ${weft_verify} --device all)
endif()
set(weft_others ${weft_relatives} ${weft_whole_drivers})
list(REMOVE_ITEM weft_others ${weft_one_driver})
foreach(driver IN LISTS weft_others)
    if(driver STREQUAL "mesa-backports") # a newer lavapipe
        weft_add_device_test(verify.cases.kernels DRIVERS ${driver} QUICK NONE LABELS cases COMMAND ${weft_verify} --device all ${weft_kernel_list})
        weft_add_device_test(verify DRIVERS ${driver} QUICK NONE LABELS verify COMMAND ${weft_verify} --device all ${weft_some_list})
    else()
        weft_add_device_test(verify DRIVERS ${driver} QUICK NONE LABELS verify COMMAND ${weft_verify} --device all ${weft_kernel_list})
    endif()
endforeach()
weft_add_device_test(verify.quick DRIVERS ${weft_whole_driver} LABELS verify short COMMAND ${weft_verify} --device all ${weft_quick_list})
if(weft_processors)
    weft_add_device_test(verify.quick ONE_DRIVER LABELS verify short COMMAND ${weft_verify} --device all ${weft_kernel_list})
endif()
# What asks for larger workgroups than a device has is skipped there, and said: it is neither a failure nor a success.
if("swiftshader" IN_LIST weft_drivers)
    weft_add_device_test(verify.skips DRIVERS swiftshader LABELS verify
        COMMAND ${weft_verify} --device all --filter toeplitz/wide/both/constant)
    set_tests_properties(verify.skips.swiftshader PROPERTIES PASS_REGULAR_EXPRESSION
        "0 +0 +1\nSKIPPED [^\n]* wants workgroups of 512 invocations; the device has 256\n.*The bits are those of the file")
endif()
if(weft_vulkan11_drivers)
    weft_add_device_test(verify DRIVERS vulkan-1.1 QUICK NONE LABELS verify COMMAND ${weft_verify} --device all ${weft_kernel_list})
    # Without the validation layer, which would see that the probe binds more, as every real device can.
    weft_add_device_test(verify.parts DRIVERS small-ranges QUICK NONE LABELS verify
        COMMAND "${CMAKE_COMMAND}" -E env --unset=WEFT_VALIDATION $<TARGET_FILE:weft-cli> verify
            --bits tests/data/bits --device all --list "${weft_lists}/ranges.txt")
    # After that of lavapipe-8, which compiles the same kernels into the same cache.
    set_tests_properties(verify.vulkan-1.1 PROPERTIES COST 20)
endif()
# OpenCL drivers: a few cases, in ./dev test on one. Oclgrind interprets and checks each access: a message of its own is a failure.
set(weft_opencl_compilers ${weft_opencl_drivers})
list(REMOVE_ITEM weft_opencl_compilers opencl-oclgrind)
if(weft_opencl_compilers)
    weft_add_device_test(verify.cases DRIVERS ${weft_opencl_compilers} QUICK NONE LABELS cases
        COMMAND ${weft_verify} --device all ${weft_kernel_list})
    weft_add_device_test(verify DRIVERS ${weft_opencl_compilers} QUICK opencl-pocl LABELS verify
        COMMAND ${weft_verify} --device all ${weft_some_list})
endif()
if("opencl-oclgrind" IN_LIST weft_opencl_drivers)
    weft_add_device_test(verify DRIVERS opencl-oclgrind QUICK NONE LABELS verify
        COMMAND ${weft_verify} --device all ${weft_some_list})
    weft_add_device_test(verify.cases DRIVERS opencl-oclgrind QUICK NONE LABELS cases
        COMMAND ${weft_verify} --device all ${weft_kernel_list})
    set_tests_properties(verify.opencl-oclgrind verify.cases.opencl-oclgrind PROPERTIES FAIL_REGULAR_EXPRESSION "Invalid")
endif()
weft_add_device_test(verify.cases.fast ONE_DRIVER QUICK NONE LABELS cases COMMAND weft-cli verify --math fast)
weft_add_device_test(verify.fast ONE_DRIVER QUICK NONE LABELS verify COMMAND weft-cli verify --math fast ${weft_kernel_list})
weft_add_device_test(verify.fast.quick DRIVERS ${weft_whole_driver} LABELS verify short
    COMMAND weft-cli verify --math fast ${weft_kernel_list})
# With f32 weights products are held to the tolerance of f32.
weft_add_device_test(verify.fast.f32 ONE_DRIVER QUICK NONE LABELS verify
    COMMAND weft-cli verify --math fast --weights f32 --filter matmul)
weft_add_device_test(verify.cases.evaluate ONE_DRIVER QUICK NONE LABELS cases
    COMMAND weft-cli verify --evaluate)
weft_add_device_test(verify.evaluate.quick ONE_DRIVER LABELS verify
    COMMAND weft-cli verify ${weft_kernel_list} --evaluate --evaluate-limit 10)
set_tests_properties(verify.evaluate.quick.${weft_one_driver} verify.fast.quick.${weft_whole_driver} PROPERTIES COST 20)

# Fused math has bits of its own: on the processor device by its instruction, on drivers, whose fma rounds twice, by other means. Each case
# whose bits are others in fused mode runs on the processor device, those that execute every kernel on one driver, and a few on all: with a
# function of 32-bit numbers in place of each fma they are slow, and a size says nothing new. Some of them are evaluated by the host's exact
# function.
set(weft_verify_fused ${weft_verify} --math fused --device all)
weft_add_device_test(verify.fused DRIVERS ${weft_whole_driver} QUICK NONE LABELS verify
    COMMAND ${weft_verify_fused} --list "${weft_lists}/fused.txt")
weft_add_device_test(verify.cases.fused.constants ONE_DRIVER QUICK NONE LABELS cases COMMAND ${weft_verify_fused} ${weft_quick_list})
weft_add_device_test(verify.fused.kernels ONE_DRIVER QUICK NONE LABELS verify COMMAND ${weft_verify_fused} ${weft_kernel_list})
if(weft_relatives)
    set(weft_fused_relatives ${weft_relatives} ${weft_whole_drivers})
    list(REMOVE_ITEM weft_fused_relatives ${weft_one_driver})
    weft_add_device_test(verify.cases.fused DRIVERS ${weft_fused_relatives} QUICK NONE LABELS cases
        COMMAND ${weft_verify_fused} ${weft_kernel_list})
    weft_add_device_test(verify.fused DRIVERS ${weft_fused_relatives} QUICK NONE LABELS verify
        COMMAND ${weft_verify_fused} ${weft_some_list})
endif()
weft_add_device_test(verify.fused.quick DRIVERS ${weft_whole_driver} LABELS verify short
    COMMAND ${weft_verify_fused} ${weft_kernel_list})
if(weft_opencl_compilers)
    weft_add_device_test(verify.fused DRIVERS ${weft_opencl_compilers} QUICK NONE LABELS verify
        COMMAND ${weft_verify_fused} ${weft_some_list})
endif()
# Lavapipe takes minutes to compile functions of 32-bit numbers in place of each fma.
set(weft_evaluated ${weft_one_driver} ${weft_whole_driver})
list(REMOVE_DUPLICATES weft_evaluated)
weft_add_device_test(verify.fused.evaluate.quick DRIVERS ${weft_evaluated} QUICK ${weft_whole_driver} LABELS verify
    COMMAND weft-cli verify --math fused --device all ${weft_kernel_list} --evaluate --evaluate-limit 10)
weft_add_device_test(verify.fused.some ONE_DRIVER LABELS verify short
    COMMAND ${weft_verify_fused} ${weft_some_list})
if(weft_processors)
    weft_add_device_test(verify.fused.float64 DRIVERS processor-8 QUICK NONE LABELS verify
        COMMAND "${CMAKE_COMMAND}" -E env WEFT_FMA=float64 $<TARGET_FILE:weft-cli> verify --bits tests/data/bits
                --math fused --device all --filter matmul/)
    weft_add_device_test(verify.fused.integers DRIVERS processor-8 LABELS verify
        COMMAND "${CMAKE_COMMAND}" -E env WEFT_FMA=integers $<TARGET_FILE:weft-cli> verify --bits tests/data/bits
                --math fused --device all --filter softmax/)
    if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|amd64)$")
        # Without SSE4.1, where rounding to whole numbers is a call.
        weft_add_device_test(verify.fast.oldest DRIVERS processor-8 LABELS verify
            COMMAND "${CMAKE_COMMAND}" -E env WEFT_PROCESSOR_TARGET=x86-64 $<TARGET_FILE:weft-cli> verify --math fast --device all
                    --filter unary/)
    endif()
endif()

# The example models: every label, or the bits per byte, against what PyTorch found, and the hash of
# all outputs. A folder has its test set in test.npz, or, called TASK-FAMILY, shares data/TASK.npz
# with the others of the task. A folder with logits-N.sha256 has a test set that takes software
# drivers long: one driver runs all of it, the others N examples, evenly spread, whose hash that is. ./dev test runs the models on
# the processor device, where it is built, and of such a set that part.
#
# Every model runs on the processor device. On drivers a model executes kernels that `weft verify` holds to their bits there; what is left is
# that they come together, which two show that have little in common: transforms, and attention. ./dev test cases has them on every driver,
# and all others on one.
set(weft_models_everywhere langid text-fmmformer)
set(weft_models api/examples/models)
file(GLOB weft_configs CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}/${weft_models}"
    "${PROJECT_SOURCE_DIR}/${weft_models}/*/config.json")
set(weft_model_relatives ${weft_relatives} ${weft_whole_drivers} ${weft_opencl_compilers})
list(REMOVE_ITEM weft_model_relatives "${weft_one_driver}")

# weft_add_model_test(<name> <folder> <part> <test set>)
function(weft_add_model_test name folder part data)
    set(evaluate weft-cli eval "${folder}" "${data}")
    set(whole ${evaluate} --expect "${folder}/pytorch.npz" --bits "${folder}/logits.sha256")
    set(some ${whole})
    set(fused ${evaluate} --math fused --bits "${folder}/logits-fused.sha256") # tests/record_fused.py writes it
    if(part)
        string(REGEX MATCH "logits-([0-9]+)" examples "${part}")
        set(some ${evaluate} --examples ${CMAKE_MATCH_1} --bits "${folder}/${part}")
        list(APPEND fused --examples ${CMAKE_MATCH_1})
    endif()
    set(on_driver "")
    if(weft_processors AND NOT name IN_LIST weft_models_everywhere)
        set(on_driver cases)
    endif()
    weft_add_device_test("eval.${name}" ONE_DRIVER QUICK ${weft_whole_driver} LABELS eval ${on_driver} COMMAND ${whole})
    set(others ${weft_whole_driver})
    if(name IN_LIST weft_models_everywhere)
        list(APPEND others ${weft_model_relatives})
    endif()
    list(REMOVE_ITEM others "${weft_one_driver}")
    if(others)
        weft_add_device_test("eval.${name}" DRIVERS ${others} QUICK ${weft_whole_driver} LABELS eval COMMAND ${some})
    endif()
    weft_add_device_test("eval.fused.${name}" DRIVERS ${weft_whole_driver} LABELS eval COMMAND ${fused})
    if(name IN_LIST weft_models_everywhere AND weft_processors)
        weft_add_device_test("eval.fused.${name}" ONE_DRIVER QUICK NONE LABELS eval COMMAND ${fused})
    endif()
endfunction()

foreach(config IN LISTS weft_configs)
    cmake_path(GET config PARENT_PATH name)
    set(folder "${weft_models}/${name}")
    set(data "${folder}/test.npz")
    if(NOT EXISTS "${PROJECT_SOURCE_DIR}/${data}")
        string(REGEX REPLACE "-.*" "" task "${name}")
        set(data "api/examples/data/${task}.npz")
    endif()
    file(GLOB part CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}/${folder}"
        "${PROJECT_SOURCE_DIR}/${folder}/logits-[0-9]*.sha256")
    weft_add_model_test("${name}" "${folder}" "${part}" "${data}")
    # The task's data in other lengths, such as data/langid4096.npz, and what PyTorch found there.
    file(GLOB lengths CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}/${folder}"
        "${PROJECT_SOURCE_DIR}/${folder}/pytorch[0-9]*.npz")
    foreach(expected IN LISTS lengths)
        string(REGEX MATCH "[0-9]+" length "${expected}")
        string(REGEX REPLACE "[0-9]*-.*" "${length}" task "${name}")
        weft_add_device_test("eval.${name}.${length}" ONE_DRIVER QUICK NONE LABELS eval cases
            COMMAND weft-cli eval "${folder}" "api/examples/data/${task}.npz"
                    --expect "${folder}/${expected}")
    endforeach()
endforeach()
