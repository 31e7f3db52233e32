# SPDX-License-Identifier: MIT
#
# cmake -DC=program -DCXX=program -P quickstart.cmake: fails unless both print the same.
cmake_minimum_required(VERSION 3.25)
foreach(program C CXX)
    execute_process(COMMAND "${${program}}" OUTPUT_VARIABLE text_${program} COMMAND_ERROR_IS_FATAL ANY)
endforeach()
if(NOT text_C MATCHES "^y\\[0\\] = " OR NOT text_C STREQUAL text_CXX)
    message(FATAL_ERROR "C printed '${text_C}', C++ '${text_CXX}'")
endif()
