# SPDX-License-Identifier: MIT
#
# cmake -DFUNCTIONS=<llvm_functions.h> "-DHEADERS=<folder;...>" -DMAJOR=<version> -DOUTPUT=<folder> [-DMORE=<function>]
#     -P llvm_bridge.cmake
#
# LLVM-C.dll for Wine on x86-64 Linux: exports LLVM's C functions, those that Weft names, in Windows' convention and calls
# those of this machine's libLLVM in its own. No LLVM for Windows comes with Debian; what LLVM's own installer brings has the
# same functions. Writes llvm_bridge.spec and llvm_bridge.c for winegcc. Fails for a function whose arguments llvm_bridge.c does not
# pass as they are: one that it has no place for, or a function to be called back, which LLVM would call in its own convention. MORE:
# so that a test sees that.
cmake_minimum_required(VERSION 3.25)

# These llvm_bridge.c has itself, with what calls back in between.
set(written LLVMContextSetDiagnosticHandler LLVMContextDispose)
set(most_arguments 8)

file(READ "${FUNCTIONS}" text)
string(REGEX MATCHALL "LLVM[A-Z][A-Za-z0-9_]+" names "${text}")
list(FILTER names EXCLUDE REGEX "AArch64")
if(MAJOR GREATER_EQUAL 16) # which is asked for by name alone, as 15 has none
    list(APPEND names LLVMGetVersion)
endif()
list(APPEND names ${MORE})
list(REMOVE_DUPLICATES names)

# ---- what the headers say of them ----

set(text "")
foreach(folder IN LISTS HEADERS)
    file(GLOB headers "${folder}/llvm-c/*.h" "${folder}/llvm-c/Transforms/*.h")
    foreach(header IN LISTS headers)
        file(READ "${header}" more)
        string(APPEND text "${more}")
    endforeach()
endforeach()
string(REGEX REPLACE "//[^\n]*|/\\*([^*]|\\*+[^*/])*\\*+/" "" text "${text}")
string(REGEX REPLACE "[ \t\r\n]+" " " text "${text}")
string(REGEX MATCHALL "typedef [^;]*\\( ?\\* ?[A-Za-z0-9_]+ ?\\)" functions "${text}")
list(TRANSFORM functions REPLACE ".*\\( ?\\* ?([A-Za-z0-9_]+) ?\\)$" "\\1")
list(JOIN functions "|" callbacks)
if(callbacks STREQUAL "")
    message(FATAL_ERROR "No header of LLVM's C interface in ${HEADERS} has the type of a function")
endif()

# Sets `fault` to what the bridge cannot do with a function, or to nothing.
function(find_fault fault name)
    set(${fault} "" PARENT_SCOPE)
    if(name MATCHES "^LLVMInitialize" OR name IN_LIST written) # the former a macro declares, without arguments
        return()
    endif()
    if(NOT text MATCHES "[ *]${name} ?\\(([^;]*)\\) ?;")
        set(${fault} "no header declares it" PARENT_SCOPE)
        return()
    endif()
    set(all "${CMAKE_MATCH_1}")
    string(REGEX REPLACE " ?, ?" ";" arguments "${all}")
    list(LENGTH arguments count)
    if(count GREATER 1) # a double may be the second
        list(REMOVE_AT arguments 1)
    endif()
    if(count GREATER most_arguments)
        set(${fault} "${count} arguments, of which ${most_arguments} are passed" PARENT_SCOPE)
    elseif(all MATCHES "\\(|(^|[^A-Za-z0-9_])(${callbacks})([^A-Za-z0-9_]|$)")
        set(${fault} "it calls back, and llvm_bridge.c has nothing in between" PARENT_SCOPE)
    elseif(all MATCHES "float " OR "${arguments}" MATCHES "double ([^*]|$)")
        set(${fault} "a number of floating point that is not its second argument and a double" PARENT_SCOPE)
    endif()
endfunction()

# ---- the bridge ----

set(spec "")
set(functions "")
set(faults "")
foreach(name IN LISTS names)
    find_fault(fault ${name})
    if(NOT fault STREQUAL "")
        list(APPEND faults "${name}: ${fault}")
    endif()
    string(APPEND spec "@ cdecl ${name}() bridge_${name}\n")
    if(NOT name IN_LIST written)
        string(APPEND functions "BRIDGE(${name})\n")
    endif()
endforeach()
if(faults)
    list(JOIN faults "\n  " faults)
    message(FATAL_ERROR "The bridge to LLVM cannot pass on\n  ${faults}")
endif()
file(WRITE "${OUTPUT}/llvm_bridge.spec" "${spec}")
file(WRITE "${OUTPUT}/llvm_bridge_functions.h" "${functions}")
