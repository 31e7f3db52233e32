# SPDX-License-Identifier: MIT
#
# cmake -DPROGRAM=… -DXVFB_RUN=… -DFOLDER=… -DMODELS=… -P host_window.cmake: frames in a window of a screen that nobody sees.
# Times are the machine's and are not judged. Every run must have the bits of the whole plan, and the counts must fit together.
include("${CMAKE_CURRENT_LIST_DIR}/host_run.cmake")

file(MAKE_DIRECTORY "${FOLDER}")
set(report "${FOLDER}/window.json")
set(picture "${FOLDER}/window.ppm")
file(REMOVE "${report}" "${picture}")
weft_run_host(0 "${XVFB_RUN}" -a -s "-screen 0 1024x768x24" "${PROGRAM}" --fps 15 --batch 3 --frames 200
    --report "${report}" --screenshot "${picture}")
file(READ "${report}" json)
message(STATUS "${json}")
foreach(name frames runs runs_with_equal_bits parts parts_of_a_run next_part photographs photographs_right frames_with_parts
        parts_forced frames_without_room)
    string(JSON ${name} GET "${json}" ${name})
endforeach()

# weft_expect(<what> <condition>...)
macro(weft_expect what)
    if(NOT (${ARGN}))
        message(FATAL_ERROR "${what}\n${json}")
    endif()
endmacro()
math(EXPR expected_parts "${runs} * ${parts_of_a_run} + ${next_part}")
math(EXPR expected_photographs "3 * ${runs}")
math(EXPR all_frames "${frames_with_parts} + ${frames_without_room} - ${parts_forced}")
math(EXPR least_right "${photographs} * 7 / 10")
weft_expect("200 frames were to be drawn" frames EQUAL 200)
weft_expect("two runs at least" runs GREATER 1)
weft_expect("runs in parts have the bits of the whole plan" runs_with_equal_bits EQUAL runs)
weft_expect("a run takes several parts" parts_of_a_run GREATER 10)
weft_expect("parts of complete runs, and those of the one under way" parts EQUAL expected_parts)
weft_expect("three photographs a run" photographs EQUAL expected_photographs)
weft_expect("the model is right about seven of ten" photographs_right GREATER_EQUAL least_right)
weft_expect("a frame has parts or has no room, warm-up included" all_frames EQUAL 230)

file(READ "${picture}" head LIMIT 15 HEX)
weft_expect("the picture is a PPM of 800 by 450" head STREQUAL "50360a383030203435300a3235350a")
file(SIZE "${picture}" bytes)
weft_expect("with all of its pixels" bytes EQUAL 1080015)
