# SPDX-License-Identifier: MIT
#
# The command's own checks on every driver: each op against float64 and the committed bits, and the
# example model's labels against PyTorch's.

if(NOT WEFT_BUILD_CLI)
    return()
endif()

weft_add_device_test(verify LABELS verify COMMAND weft-cli verify --device all --bits tests/data/bits.json)
weft_add_device_test(verify.fast ONE_DRIVER LABELS verify COMMAND weft-cli verify --math fast)
weft_add_device_test(eval.langid LABELS eval
    COMMAND weft-cli eval api/examples/models/langid api/examples/models/langid/test.npz
            --expect api/examples/models/langid/pytorch.npz)
