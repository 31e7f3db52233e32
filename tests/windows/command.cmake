# SPDX-License-Identifier: MIT
#
# cmake "-DCOMMAND=<wine>;<weft.exe>" -DFOLDER=<folder> -P command.cmake
#
# Arguments and names of files with letters that no code page of Windows has together, and lines that end as everywhere.
cmake_minimum_required(VERSION 3.25)

set(name "${FOLDER}/Ελληνικά-日本-ö.txt")
file(WRITE "${name}" "Bonjour à tous, je suis une phrase en français, et j'en suis contente.\n")
execute_process(COMMAND ${COMMAND} run api/examples/models/langid --file "${name}" --top 1 RESULT_VARIABLE exit_code
    OUTPUT_VARIABLE output ERROR_VARIABLE errors)
file(REMOVE "${name}")
if(NOT exit_code EQUAL 0 OR NOT output MATCHES "fr +[0-9.]+ %")
    message(FATAL_ERROR "the text was not read (${exit_code}):\n${output}${errors}")
endif()
string(FIND "${output}" "\r" carriage_return)
if(NOT carriage_return EQUAL -1)
    message(FATAL_ERROR "lines end with CR LF:\n${output}")
endif()
execute_process(COMMAND ${COMMAND} run api/examples/models/langid --file "${name}" RESULT_VARIABLE exit_code
    OUTPUT_VARIABLE output ERROR_VARIABLE errors)
if(exit_code EQUAL 0 OR NOT errors MATCHES "Ελληνικά-日本-ö.txt: cannot open: No such file or directory")
    message(FATAL_ERROR "a file that is not there (${exit_code}):\n${output}${errors}")
endif()
