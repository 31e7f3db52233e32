# SPDX-License-Identifier: MIT
#
# Generated folders of strangers, passed through the command under limits of memory and time: tests/hostile/run.py, by a Python
# that has nothing but its standard library. 10,000 of them: python3 tests/hostile/run.py build/weft 10000.

find_program(WEFT_PYTHON3 python3)
if(NOT WEFT_BUILD_CLI OR NOT WEFT_PYTHON3 OR WEFT_SANITIZE) # sanitizers need address space without a limit
    return()
endif()

# weft_add_hostile_test(<test> <folders> <one in so many runs on the processor> <labels>...)
function(weft_add_hostile_test test count processor)
    weft_add_host_test(${test} LABELS hostile ${ARGN}
        COMMAND "${WEFT_PYTHON3}" tests/hostile/run.py $<TARGET_FILE:weft-cli> ${count} --seed 7 --processor ${processor}
                --cache "${PROJECT_BINARY_DIR}/test-cache/processor-8")
    set_property(TEST ${test} APPEND PROPERTY ENVIRONMENT PYTHONDONTWRITEBYTECODE=1)
endfunction()

weft_add_hostile_test(hostile 50 10 short)
weft_add_hostile_test(hostile.many 300 20 long)
