# SPDX-License-Identifier: MIT
#
# The command's own checks on every driver: each op against float64 and the committed bits, and the
# example model's labels against PyTorch's.

if(NOT WEFT_BUILD_CLI)
    return()
endif()

weft_add_device_test(verify LABELS verify COMMAND weft-cli verify --device all --bits tests/data/bits.json)
weft_add_device_test(verify.fast ONE_DRIVER LABELS verify COMMAND weft-cli verify --math fast)
# With f32 weights products are held to the tolerance of f32.
weft_add_device_test(verify.fast.f32 ONE_DRIVER LABELS verify
    COMMAND weft-cli verify --math fast --weights f32 --filter matmul)
# All of it takes a minute; with sanitizers the longest evaluations are left out.
set(weft_evaluate --evaluate)
if(WEFT_SANITIZE)
    list(APPEND weft_evaluate --evaluate-limit 100)
endif()
weft_add_device_test(verify.evaluate ONE_DRIVER LABELS verify
    COMMAND weft-cli verify ${weft_evaluate})

# The example models: every label, or the bits per byte, against what PyTorch found, and the hash of
# all outputs. A folder has its test set in test.npz, or, called TASK-FAMILY, shares data/TASK.npz
# with the others of the task. A folder with logits-N.sha256 has a test set that takes software
# drivers long: one driver runs all of it, the others N examples, evenly spread, whose hash that is.
set(weft_models api/examples/models)
file(GLOB weft_configs CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}/${weft_models}"
    "${PROJECT_SOURCE_DIR}/${weft_models}/*/config.json")
foreach(config IN LISTS weft_configs)
    cmake_path(GET config PARENT_PATH name)
    set(folder "${weft_models}/${name}")
    set(data "${folder}/test.npz")
    if(NOT EXISTS "${PROJECT_SOURCE_DIR}/${data}")
        string(REGEX REPLACE "-.*" "" task "${name}")
        set(data "api/examples/data/${task}.npz")
    endif()
    set(evaluate weft-cli eval "${folder}" "${data}")
    set(whole --expect "${folder}/pytorch.npz" --bits "${folder}/logits.sha256")
    file(GLOB part CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}/${folder}"
        "${PROJECT_SOURCE_DIR}/${folder}/logits-[0-9]*.sha256")
    if(part)
        string(REGEX MATCH "[0-9]+" examples "${part}")
        weft_add_device_test("eval.${name}" ONE_DRIVER LABELS eval COMMAND ${evaluate} ${whole})
        weft_add_device_test("eval.${name}" OTHER_DRIVERS LABELS eval
            COMMAND ${evaluate} --examples ${examples} --bits "${folder}/${part}")
    else()
        weft_add_device_test("eval.${name}" LABELS eval COMMAND ${evaluate} ${whole})
    endif()
    # The task's data in other lengths, such as data/langid4096.npz, and what PyTorch found there.
    file(GLOB lengths CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}/${folder}"
        "${PROJECT_SOURCE_DIR}/${folder}/pytorch[0-9]*.npz")
    foreach(expected IN LISTS lengths)
        string(REGEX MATCH "[0-9]+" length "${expected}")
        string(REGEX REPLACE "[0-9]*-.*" "${length}" task "${name}")
        weft_add_device_test("eval.${name}.${length}" ONE_DRIVER LABELS eval
            COMMAND weft-cli eval "${folder}" "api/examples/data/${task}.npz"
                    --expect "${folder}/${expected}")
    endforeach()
endforeach()
