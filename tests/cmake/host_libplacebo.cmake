# SPDX-License-Identifier: MIT
#
# cmake -DPROGRAM=… -DMODELS=… -P host_libplacebo.cmake: a model between libplacebo's textures, on libplacebo's device and queue. What
# libplacebo makes of a photograph is its own; what the network makes of that must have the bits of weft_plan_execute.
include("${CMAKE_CURRENT_LIST_DIR}/host_run.cmake")

foreach(model fashion-fmmformer fashion-flt)
    weft_run_host(0 "${PROGRAM}" "${MODELS}/${model}")
    if(NOT output MATCHES "20 photographs, ([0-9]+) right, 20 with the bits of weft_plan_execute")
        message(FATAL_ERROR "${output}")
    endif()
    if(CMAKE_MATCH_1 LESS 15)
        message(FATAL_ERROR "${model} is right about ${CMAKE_MATCH_1} of 20 photographs only:\n${output}")
    endif()
    message(STATUS "${model}: ${CMAKE_MATCH_0}")
endforeach()
