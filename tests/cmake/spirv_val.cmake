# SPDX-License-Identifier: MIT
#
# cmake -DSPIRV_VAL=program -DLIST=file -P spirv_val.cmake: validates every module that LIST names.
cmake_minimum_required(VERSION 3.25)
file(STRINGS "${LIST}" modules)
set(bad 0)
foreach(module IN LISTS modules)
    execute_process(COMMAND "${SPIRV_VAL}" --target-env vulkan1.1 "${module}"
                    RESULT_VARIABLE result OUTPUT_VARIABLE text ERROR_VARIABLE text)
    if(NOT result EQUAL 0)
        math(EXPR bad "${bad} + 1")
        message(NOTICE "${module}: ${result}\n${text}")
    endif()
endforeach()
list(LENGTH modules count)
if(count EQUAL 0 OR bad GREATER 0)
    message(FATAL_ERROR "${bad} of ${count} modules are invalid")
endif()
message(NOTICE "${count} modules are valid")
