# SPDX-License-Identifier: MIT
#
# cmake -DNM=program -DLIBRARY=file -DSHARED=bool -P symbols.cmake
#
# Every symbol libweft defines for others is named weft_*. The C++ library's templates that the
# SentencePiece shim instantiates are weak in every program that uses them, and are allowed.
set(options -g --defined-only --format=posix)
if(SHARED)
    list(APPEND options -D)
endif()
execute_process(COMMAND "${NM}" ${options} "${LIBRARY}" RESULT_VARIABLE result
                OUTPUT_VARIABLE text ERROR_VARIABLE errors)
if(NOT result EQUAL 0)
    message(FATAL_ERROR "${NM} ${LIBRARY}: ${result}\n${errors}")
endif()
string(REGEX MATCHALL "[^\n]+" lines "${text}")
set(ours 0)
set(strangers "")
foreach(line IN LISTS lines)
    if(line MATCHES "^weft_[A-Za-z0-9_]+ [A-Z]")
        math(EXPR ours "${ours} + 1")
    elseif(line MATCHES "^[^ ]+ [A-Za-z]" AND NOT line MATCHES "^(_Z|DW\\.ref\\.)[^ ]* [uVW]")
        string(APPEND strangers "  ${line}\n")
    endif()
endforeach()
if(ours EQUAL 0)
    message(FATAL_ERROR "${LIBRARY} defines nothing named weft_*")
endif()
if(strangers)
    message(FATAL_ERROR "${LIBRARY} defines symbols that could clash with a program's own:\n${strangers}")
endif()
message(NOTICE "${ours} symbols, all named weft_*")
