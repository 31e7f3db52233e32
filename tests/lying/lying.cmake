# SPDX-License-Identifier: MIT
#
# cmake -DPROGRAM=file -DLIE=kind -DRUNS=number -DCACHE=folder [-DFILTER=text | -DSECONDS=number] -P lying.cmake
#
# `weft verify` of the cases whose names contain FILTER, or `weft certify` for that long, on the driver that lies by WEFT_LIE. A kind of
# lie must be caught in each of RUNS runs: exit code 1, and a case that is named, or 3 where the probe refuses the device. The honest device
# must pass in each. Each run has another seed.
cmake_minimum_required(VERSION 3.25)

file(REMOVE_RECURSE "${CACHE}")
file(MAKE_DIRECTORY "${CACHE}")
set(ENV{XDG_CACHE_HOME} "${CACHE}")
set(ENV{WEFT_LIE} "${LIE}")
if(DEFINED SECONDS)
    set(arguments certify --seconds ${SECONDS} --out "${CACHE}/certificate.json")
else()
    set(arguments verify --filter "${FILTER}" --bits tests/data/bits)
endif()
foreach(run RANGE 1 ${RUNS})
    set(ENV{WEFT_LIE_SEED} ${run})
    execute_process(COMMAND "${PROGRAM}" ${arguments} RESULT_VARIABLE result OUTPUT_VARIABLE text ERROR_VARIABLE text)
    string(REGEX MATCHALL "(FAILED|DIFFERENT)[^\n]*" found "${text}")
    list(LENGTH found count)
    if(LIE STREQUAL "honest")
        if(NOT result EQUAL 0 OR count GREATER 0)
            message(FATAL_ERROR "Run ${run}: the honest device was accused, exit code ${result}:\n${text}")
        endif()
    elseif(result EQUAL 3 AND text MATCHES "reproducib")
        message(NOTICE "run ${run}: the probe refused the device")
    elseif(NOT result EQUAL 1 OR count EQUAL 0)
        message(FATAL_ERROR "Run ${run}: the lie was not caught, exit code ${result}:\n${text}")
    else()
        list(GET found 0 first)
        message(NOTICE "run ${run}: ${count} cases accuse it, such as ${first}")
    endif()
endforeach()
