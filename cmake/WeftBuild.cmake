# SPDX-License-Identifier: MIT
#
# What weft_build() says: which commit this is, and what is in it.

set(WEFT_COMMIT "" CACHE STRING "The commit that weft_build() names; empty: what git or the archive says")

# weft_find_commit(<variable>): of the repository whose root this is, not of one around it; or of the archive that git made.
function(weft_find_commit variable)
    set(root "${PROJECT_SOURCE_DIR}")
    file(READ "${root}/packaging/commit.txt" commit LIMIT 12)
    if(commit MATCHES "^[0-9a-f]+$")
        set(${variable} "${commit}" PARENT_SCOPE)
        return()
    endif()
    set(${variable} "unknown" PARENT_SCOPE)
    find_program(WEFT_GIT git)
    mark_as_advanced(WEFT_GIT)
    if(NOT WEFT_GIT OR NOT EXISTS "${root}/.git")
        return()
    endif()
    execute_process(COMMAND "${WEFT_GIT}" rev-parse --git-path logs/HEAD --short=12 HEAD WORKING_DIRECTORY "${root}"
                    OUTPUT_VARIABLE found ERROR_QUIET RESULT_VARIABLE failed)
    if(NOT failed AND found MATCHES "^([^\n]+)\n([0-9a-f]+)")
        set(${variable} "${CMAKE_MATCH_2}" PARENT_SCOPE)
        file(REAL_PATH "${CMAKE_MATCH_1}" log BASE_DIRECTORY "${root}")
        if(EXISTS "${log}") # it grows with every commit
            set_property(DIRECTORY "${root}" APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${log}")
        endif()
    endif()
endfunction()

set(weft_commit "${WEFT_COMMIT}")
if(NOT weft_commit)
    weft_find_commit(weft_commit)
endif()
set(weft_build "commit ${weft_commit}, $<IF:$<BOOL:$<CONFIG>>,$<CONFIG>,no build type>")
if(WEFT_STATIC)
    string(APPEND weft_build ", static")
endif()
if(WEFT_HAVE_LLVM)
    string(APPEND weft_build ", LLVM ${weft_llvm_version}")
else()
    string(APPEND weft_build ", no LLVM")
endif()
string(APPEND weft_build ", VkFFT ${weft_vkfft_version}, glslang ${glslang_VERSION}")
set_property(SOURCE "${PROJECT_SOURCE_DIR}/runtime/core/status.c" APPEND PROPERTY
             COMPILE_DEFINITIONS "WEFT_BUILD=\"${weft_build}\"")
