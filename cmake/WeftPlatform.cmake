# SPDX-License-Identifier: MIT
#
# What differs between operating systems is in files of its own, NAME_posix.c beside NAME_windows.c.

# weft_keep_platform(<list variable>): leaves out the files that are for other systems than this build's.
function(weft_keep_platform variable)
    set(sources ${${variable}})
    if(WIN32)
        list(FILTER sources EXCLUDE REGEX "_posix\\.(c|cpp)$")
    else()
        list(FILTER sources EXCLUDE REGEX "_windows\\.(c|cpp)$")
    endif()
    set(${variable} ${sources} PARENT_SCOPE)
endfunction()
