# SPDX-License-Identifier: MIT
#
# cmake -DROOT=folder [-DSENTENCE=other] -P sentence.cmake: what Weft is stands once, as the project's DESCRIPTION in CMakeLists.txt. Files that other tools read as they are
# have it word by word, whatever their lines.
cmake_minimum_required(VERSION 3.25)

set(holders README.md CITATION.cff docs/site/index.md packaging/debian/control packaging/conan/conanfile.py packaging/vcpkg/ports/weft/vcpkg.json
    api/include/weft/weft.h api/python/pyproject.toml api/python/src/weft/__init__.py)

file(READ "${ROOT}/CMakeLists.txt" project)
if(NOT project MATCHES "DESCRIPTION \"([^\"]+)\"")
    message(FATAL_ERROR "CMakeLists.txt: expected project(… DESCRIPTION \"…\")")
endif()
string(TOLOWER "${CMAKE_MATCH_1}" sentence)
if(SENTENCE)
    string(TOLOWER "${SENTENCE}" sentence)
endif()
set(faults "")
foreach(holder IN LISTS holders)
    file(READ "${ROOT}/${holder}" text)
    string(REGEX REPLACE "\\[([A-Za-z]+)\\]\\([^)]*\\)" "\\1" text "${text}")
    string(REGEX REPLACE "[ \n*]+" " " text "${text}")
    string(TOLOWER "${text}" text)
    string(FIND "${text}" "${sentence}" at)
    if(at EQUAL -1)
        string(APPEND faults "${holder} does not say what Weft is as CMakeLists.txt does: ${sentence}\n")
    endif()
endforeach()
if(faults)
    message(FATAL_ERROR "${faults}")
endif()
