# SPDX-License-Identifier: MIT
#
# The command itself under sanitizers, on folders of strangers.
if(NOT WEFT_SANITIZE OR NOT WEFT_BUILD_CLI OR NOT Python_Interpreter_FOUND)
    return()
endif()
add_dependencies(weft-quick weft-cli)

# weft_add_sanitized_test(<test> <folders> <labels>...): five commands for each
function(weft_add_sanitized_test test count)
    weft_add_host_test(${test} LABELS command ${ARGN}
        COMMAND "${Python_EXECUTABLE}" tests/hostile/run.py $<TARGET_FILE:weft-cli> ${count} --seed 11 --processor 5
                --memory 0 --seconds 60)
    set_property(TEST ${test} APPEND PROPERTY ENVIRONMENT PYTHONDONTWRITEBYTECODE=1)
endfunction()

weft_add_sanitized_test(command.hostile 12)
if(NOT WEFT_SANITIZE MATCHES "thread") # there a command's threads are those of the twelve
    weft_add_sanitized_test(command.hostile.more 300 long)
    set_tests_properties(command.hostile.more PROPERTIES COST 900) # or it runs alone at the end
endif()
