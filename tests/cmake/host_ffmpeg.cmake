# SPDX-License-Identifier: MIT
#
# cmake -DPROGRAM=… -DFOLDER=… -DMODELS=… -P host_ffmpeg.cmake: a video of 40 photographs, four of each class in order, on a device of
# FFmpeg's and on one that FFmpeg is given. Logits must have the bits of the host's own frames, and most labels be right.
include("${CMAKE_CURRENT_LIST_DIR}/host_run.cmake")

file(MAKE_DIRECTORY "${FOLDER}")
set(video "${FOLDER}/photographs.mkv")
file(REMOVE "${video}")
execute_process(COMMAND "${PROGRAM}" --make "${video}" COMMAND_ERROR_IS_FATAL ANY)

set(classes "T-shirt/top" "Trouser" "Pullover" "Dress" "Coat" "Sandal" "Shirt" "Sneaker" "Bag" "Ankle boot")
foreach(device "" --ours)
    weft_run_host(0 "${PROGRAM}" ${device} "${video}" "${MODELS}/fashion-fmmformer")
    if(NOT output MATCHES "\n40 frames, 40 with the bits of the host's frames\n")
        message(FATAL_ERROR "${output}")
    endif()
    set(right 0)
    foreach(frame RANGE 39)
        math(EXPR class "${frame} / 4")
        list(GET classes ${class} name)
        if(output MATCHES "frame +${frame}: ${name} +[0-9]")
            math(EXPR right "${right} + 1")
        endif()
    endforeach()
    if(right LESS 30)
        message(FATAL_ERROR "${right} labels of 40 are right:\n${output}")
    endif()
    message(STATUS "${device}: ${right} of 40 right")
endforeach()

# What is no video is an error that says so.
foreach(path "${MODELS}/fashion-fmmformer/config.json" "${FOLDER}/none.mkv")
    execute_process(COMMAND "${PROGRAM}" "${path}" RESULT_VARIABLE status ERROR_VARIABLE errors OUTPUT_QUIET)
    if(NOT status EQUAL 1 OR NOT errors MATCHES "${path}: ")
        message(FATAL_ERROR "${path}: exit ${status}\n${errors}")
    endif()
endforeach()
