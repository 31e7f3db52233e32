# SPDX-License-Identifier: MIT
#
# cmake -DROOT=folder [-DSAMPLE=file] -P pipes.cmake
#
# Fails if a script that bash runs with pipefail pipes into a command that may end before it has read everything. What
# writes to it is then ended by SIGPIPE, now and then, and the script fails with 141 or takes the other branch of an if.
# sed -n 1p reads everything, as does [[ -z $(... | grep ...) ]]. SAMPLE is written with such a pipe and looked at as
# well, to show that this notices.
cmake_minimum_required(VERSION 3.25)

file(GLOB files "${ROOT}/packaging/*.sh" "${ROOT}/packaging/provision/*.sh" "${ROOT}/bench/*/*.sh"
     "${ROOT}/tests/packaging/*.sh")
list(APPEND files "${ROOT}/dev" "${ROOT}/.ci/run")
if(SAMPLE)
    file(WRITE "${SAMPLE}" "set -o pipefail\nsort names | head -n 1\n")
    list(APPEND files "${SAMPLE}")
endif()
set(found "")
set(count 0)
foreach(file IN LISTS files)
    file(READ "${file}" text)
    # The parts of ./dev have no options of their own.
    if(NOT text MATCHES "pipefail" AND NOT file MATCHES "/packaging/provision/|/bench/compilers/")
        continue()
    endif()
    math(EXPR count "${count} + 1")
    string(REGEX MATCH "\\|[ \\\n]*(head|read|grep +-[a-zA-Z]*[qmlL][a-zA-Z]*)[ \n]" call "${text}")
    if(call)
        string(APPEND found "${file} pipes into ${CMAKE_MATCH_1}\n")
    endif()
endforeach()
if(count LESS 15 OR found)
    message(FATAL_ERROR "Of ${count} scripts with pipefail these pipe into what may end early:\n${found}")
endif()
message(NOTICE "${count} scripts whose pipes are read to their ends")
