# SPDX-License-Identifier: MIT
#
# cmake "-DNM=program" "-DFILES=object or archive;..." -DLIST=c_library.txt -P c_library.cmake
#
# Fails unless what the files want of the C library is in the list, so that a function that Android's does not have is
# noticed without an NDK. Names of the libraries that libweft stands on, and of the compiler's own helpers, do not count.
cmake_minimum_required(VERSION 3.25)

execute_process(COMMAND "${NM}" --extern-only --format=posix ${FILES} RESULT_VARIABLE result
                OUTPUT_VARIABLE text ERROR_VARIABLE errors)
if(NOT result EQUAL 0)
    message(FATAL_ERROR "${NM}: ${result}\n${errors}")
endif()
string(REGEX MATCHALL "[^ \n]+ U" wanted "${text}")
string(REGEX MATCHALL "[^ \n]+ [ABCDGRSTVW] " defined "${text}")
list(TRANSFORM wanted REPLACE " U$" "")
list(TRANSFORM defined REPLACE " [A-Z] $" "")
# A checked call stands for the function that it checks.
list(TRANSFORM wanted REPLACE "^__([a-z0-9]+)_chk$" "\\1")
list(REMOVE_DUPLICATES wanted)
list(REMOVE_ITEM wanted ${defined})
list(FILTER wanted EXCLUDE REGEX "^(__|_Z|_Unwind_|_GLOBAL_OFFSET_TABLE_|glslang_|json_|utf8proc_|zip_)")

file(STRINGS "${LIST}" allowed REGEX "^[^#]")
list(TRANSFORM allowed REPLACE " .*" "")
set(unknown ${wanted})
list(REMOVE_ITEM unknown ${allowed})
list(LENGTH wanted count)
if(count EQUAL 0 OR unknown)
    list(JOIN unknown ", " unknown)
    message(FATAL_ERROR "Of ${count} functions of the C library these are not in ${LIST}: ${unknown}\n"
            "Look up whether Android's has them, and since when.")
endif()
message(NOTICE "${count} functions of the C library, each in the list")
