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
# all outputs, on every driver. A folder has its test set in test.npz, or, called TASK-FAMILY, shares
# data/TASK.npz with the others of the task. With sanitizers one driver will do: the command's code
# is the same for all.
set(weft_models api/examples/models)
set(weft_eval_options "")
if(WEFT_SANITIZE)
    set(weft_eval_options ONE_DRIVER)
endif()
file(GLOB weft_configs CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}/${weft_models}"
    "${PROJECT_SOURCE_DIR}/${weft_models}/*/config.json")
foreach(config IN LISTS weft_configs)
    cmake_path(GET config PARENT_PATH name)
    set(data "${weft_models}/${name}/test.npz")
    if(NOT EXISTS "${PROJECT_SOURCE_DIR}/${data}")
        string(REGEX REPLACE "-.*" "" task "${name}")
        set(data "api/examples/data/${task}.npz")
    endif()
    weft_add_device_test("eval.${name}" ${weft_eval_options} LABELS eval
        COMMAND weft-cli eval "${weft_models}/${name}" "${data}"
                --expect "${weft_models}/${name}/pytorch.npz"
                --bits "${weft_models}/${name}/logits.sha256")
    # The task's data in other lengths, such as data/langid4096.npz, and what PyTorch found there.
    file(GLOB lengths CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}/${weft_models}/${name}"
        "${PROJECT_SOURCE_DIR}/${weft_models}/${name}/pytorch[0-9]*.npz")
    foreach(expected IN LISTS lengths)
        string(REGEX MATCH "[0-9]+" length "${expected}")
        string(REGEX REPLACE "[0-9]*-.*" "${length}" task "${name}")
        weft_add_device_test("eval.${name}.${length}" ONE_DRIVER LABELS eval
            COMMAND weft-cli eval "${weft_models}/${name}" "api/examples/data/${task}.npz"
                    --batch 8 --expect "${weft_models}/${name}/${expected}")
    endforeach()
endforeach()
