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
weft_add_device_test(eval.langid LABELS eval
    COMMAND weft-cli eval api/examples/models/langid api/examples/models/langid/test.npz
            --expect api/examples/models/langid/pytorch.npz
            --bits api/examples/models/langid/logits.sha256)
