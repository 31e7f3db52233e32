# SPDX-License-Identifier: MIT
#
# cmake -DPYTHON=program -DWORK=folder -DNAME=name [-DADD=declaration] -P headers.cmake, in the repository's root
#
# Fails unless weft.hpp and vulkan.hpp are what api/cpp/generate.py makes of the C headers, to graph.h of which ADD is added.
cmake_minimum_required(VERSION 3.25)
set(work "${WORK}/${NAME}")
file(REMOVE_RECURSE "${work}")
file(COPY api/include/weft DESTINATION "${work}/include")
if(ADD)
    file(READ "${work}/include/weft/graph.h" text)
    string(REPLACE "#ifdef __cplusplus\n}" "WEFT_API ${ADD};\n\n#ifdef __cplusplus\n}" text "${text}")
    file(WRITE "${work}/include/weft/graph.h" "${text}")
endif()
execute_process(COMMAND "${PYTHON}" -B api/cpp/generate.py "${work}/include" "${work}/made" COMMAND_ERROR_IS_FATAL ANY)
foreach(header weft.hpp vulkan.hpp)
    execute_process(COMMAND "${CMAKE_COMMAND}" -E compare_files "api/include/weft/${header}" "${work}/made/weft/${header}"
                    RESULT_VARIABLE differs)
    if(differs)
        message(FATAL_ERROR "api/include/weft/${header} is not what the C headers make it: ./dev headers writes it")
    endif()
endforeach()
