# SPDX-License-Identifier: MIT
#
# The command itself under sanitizers, on damaged folders, tokenizers and data.
if(NOT WEFT_SANITIZE OR NOT WEFT_BUILD_CLI OR NOT Python_Interpreter_FOUND)
    return()
endif()
add_dependencies(weft-quick weft-cli)
weft_add_host_test(command.hostile LABELS command
    COMMAND "${Python_EXECUTABLE}" tests/sanitizer/hostile.py $<TARGET_FILE:weft-cli> . "${CMAKE_CURRENT_BINARY_DIR}/hostile" 40)
weft_add_host_test(command.hostile.more LABELS command long
    COMMAND "${Python_EXECUTABLE}" tests/sanitizer/hostile.py $<TARGET_FILE:weft-cli> . "${CMAKE_CURRENT_BINARY_DIR}/hostile-more" 1000)
