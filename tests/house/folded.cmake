# SPDX-License-Identifier: MIT
#
# cmake -DVALIDATOR=glslangValidator -DSHADERS=folder -DNUMBERS=folder [-DSAMPLE=file] -P folded.cmake
#
# Fails if a shader, in its reproducible form, calls a built-in function that glslang works out by the C library of whoever
# compiles where the arguments are constants: its last bits would be those of that library and processor. SAMPLE is written
# with such a call and looked at instead, to show that this notices.
cmake_minimum_required(VERSION 3.25)

set(shaders "")
if(SAMPLE)
    file(WRITE "${SAMPLE}" "#version 450\nconst float e = exp(1.0);\nvoid main() {}\n")
    set(shaders "${SAMPLE}")
else()
    file(GLOB shaders "${SHADERS}/*/*.comp")
endif()
set(functions "exp|exp2|log|log2|pow|sin|cos|tan|asin|acos|atan|sinh|cosh|tanh|asinh|acosh|atanh|inversesqrt|radians|degrees")
set(found "")
set(count 0)
foreach(shader IN LISTS shaders)
    file(STRINGS "${shader}" forms REGEX "^// form ") # cmake/WeftShaders.cmake
    if(NOT forms)
        set(forms "// form itself")
    endif()
    foreach(form IN LISTS forms)
        string(REGEX REPLACE "^// form [^ ]+" "" definitions "${form}")
        string(REPLACE " " ";-D" definitions "${definitions}")
        execute_process(COMMAND "${VALIDATOR}" -E "-I${SHADERS}/include" "-I${NUMBERS}" ${definitions} "${shader}" RESULT_VARIABLE result
                        OUTPUT_VARIABLE text ERROR_VARIABLE errors)
        if(NOT result EQUAL 0)
            message(FATAL_ERROR "${shader}: ${result}\n${errors}")
        endif()
        string(REGEX MATCH "[^A-Za-z0-9_.](${functions})[ ]*\\(" call "${text}")
        if(call)
            string(APPEND found "${shader} calls ${CMAKE_MATCH_1}\n")
        endif()
        math(EXPR count "${count} + 1")
    endforeach()
endforeach()
if(count EQUAL 0 OR found)
    message(FATAL_ERROR "Of ${count} shaders these have functions that the host may work out:\n${found}")
endif()
message(NOTICE "${count} shaders without functions that the host may work out")
