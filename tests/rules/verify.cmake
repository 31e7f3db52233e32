# SPDX-License-Identifier: MIT
#
# cmake -DPROGRAM=file -DBREAK=rule[,rule...] -DFILTER=text -DRESULT=number -DEXPECT=regex -DBITS=file
#       -DCACHE=folder [-DKEPT_TOO=NO] [-DMORE=option] [-DDRIVERS=manifest[:manifest...]] -P verify.cmake
#
# Runs a build of the command whose rules can be broken: `verify` must pass with every rule kept
# (unless KEPT_TOO is NO, for programs that were compiled with a broken rule), and end with RESULT and
# a text that matches EXPECT with the rules of BREAK broken. Both start with an empty cache. DRIVERS:
# run on several drivers at once.
cmake_minimum_required(VERSION 3.25)

set(devices "")
if(DRIVERS)
    set(ENV{VK_DRIVER_FILES} "${DRIVERS}")
    set(ENV{VK_ICD_FILENAMES} "${DRIVERS}")
    set(devices --device all)
endif()

function(run result_variable text_variable)
    file(REMOVE_RECURSE "${CACHE}")
    file(MAKE_DIRECTORY "${CACHE}")
    set(ENV{XDG_CACHE_HOME} "${CACHE}")
    set(ENV{WEFT_BREAK} "${ARGN}")
    execute_process(COMMAND "${PROGRAM}" verify ${devices} ${MORE} --filter "${FILTER}" --bits "${BITS}"
                    RESULT_VARIABLE result OUTPUT_VARIABLE text ERROR_VARIABLE text)
    set(${result_variable} "${result}" PARENT_SCOPE)
    set(${text_variable} "${text}" PARENT_SCOPE)
endfunction()

if(NOT KEPT_TOO STREQUAL "NO")
    run(result text)
    if(NOT result EQUAL 0)
        message(FATAL_ERROR "With every rule kept, verify ended with ${result}:\n${text}")
    endif()
endif()
run(result text "${BREAK}")
message(NOTICE "Broken: ${BREAK}\n${text}")
if(NOT result EQUAL RESULT)
    message(FATAL_ERROR "verify ended with ${result}, expected ${RESULT}")
endif()
if(NOT text MATCHES "${EXPECT}")
    message(FATAL_ERROR "verify does not say '${EXPECT}'")
endif()
