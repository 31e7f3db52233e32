# SPDX-License-Identifier: MIT
#
# weft_run_host(<expected exit> <command>...): runs it with the validation layer and its hazard checks, which must have been
# loaded and have nothing to say. Sets output to what it printed.
function(weft_run_host expected)
    set(ENV{VK_INSTANCE_LAYERS} VK_LAYER_KHRONOS_validation)
    set(ENV{VK_LAYER_ENABLES} VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT)
    set(ENV{VK_LOADER_DEBUG} layer)
    execute_process(COMMAND ${ARGN} OUTPUT_VARIABLE text ERROR_VARIABLE errors RESULT_VARIABLE status)
    if(NOT status EQUAL expected)
        message(FATAL_ERROR "${ARGN}: ${status}, expected ${expected}\n${text}\n${errors}")
    endif()
    if(NOT errors MATCHES "LAYER: +VK_LAYER_KHRONOS_validation")
        message(FATAL_ERROR "The validation layer was not there:\n${errors}")
    endif()
    if("${text}${errors}" MATCHES "VUID-|SYNC-HAZARD|UNASSIGNED-|Validation Error")
        message(FATAL_ERROR "The validation layer has something to say:\n${text}\n${errors}")
    endif()
    set(output "${text}" PARENT_SCOPE)
endfunction()
