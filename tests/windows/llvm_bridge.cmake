# SPDX-License-Identifier: MIT
#
# cmake -DFUNCTIONS=<llvm_functions.h> -DMAJOR=<version> -DOUTPUT=<folder> -P llvm_bridge.cmake
#
# LLVM-C.dll for Wine on x86-64 Linux: exports LLVM's C functions, those that Weft names, in Windows' convention and calls
# those of this machine's libLLVM in its own. No LLVM for Windows comes with Debian; what LLVM's own installer brings has the
# same functions. Writes llvm_bridge.spec and llvm_bridge.c for winegcc.
cmake_minimum_required(VERSION 3.25)

file(READ "${FUNCTIONS}" text)
string(REGEX MATCHALL "LLVM[A-Z][A-Za-z0-9_]+" names "${text}")
list(FILTER names EXCLUDE REGEX "AArch64")
if(MAJOR GREATER_EQUAL 16) # which is asked for by name alone, as 15 has none
    list(APPEND names LLVMGetVersion)
endif()
list(REMOVE_DUPLICATES names)
set(spec "")
set(functions "")
foreach(name IN LISTS names)
    string(APPEND spec "@ cdecl ${name}() bridge_${name}\n")
    string(APPEND functions "BRIDGE(${name})\n")
endforeach()
file(WRITE "${OUTPUT}/llvm_bridge.spec" "${spec}")
file(WRITE "${OUTPUT}/llvm_bridge_functions.h" "${functions}")
