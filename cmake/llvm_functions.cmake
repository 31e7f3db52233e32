# SPDX-License-Identifier: MIT
#
# cmake "-DSOURCES=file;..." "-DHEADERS=folder;..." -DOUTPUT=folder -P llvm_functions.cmake
#
# Writes for each function that LLVM's C headers declare and the sources name: WEFT_LLVM_FUNCTION(LLVMName) into
# llvm_functions.h, a macro that turns LLVMName into weft_LLVMName into llvm_names.h, and for GNU's linker into llvm_exports.ld
# that a library of LLVM's archives has these functions and shows no others. Files that are right stay as they are, so that not
# everything is compiled again after every change of a source. llvm_identity.h tells the sources' hash: kernels in caches are
# compiled again when it changes, or the LLVM that is opened.
cmake_minimum_required(VERSION 3.25)

set(declared "")
foreach(folder IN LISTS HEADERS)
    file(GLOB headers "${folder}/llvm-c/*.h" "${folder}/llvm-c/Transforms/*.h")
    foreach(header IN LISTS headers)
        file(READ "${header}" text)
        string(REGEX MATCHALL "LLVM[A-Za-z0-9_]+\\(" names "${text}")
        list(APPEND declared ${names})
    endforeach()
endforeach()
list(TRANSFORM declared REPLACE "\\($" "")
# These are inline functions over those of one target, which macros declare; and what 15 does not have is asked for by name.
list(FILTER declared EXCLUDE REGEX "^LLVMInitialize(Native|All)|^LLVMGetVersion$")
list(REMOVE_DUPLICATES declared)

set(functions "")
set(hashes "")
foreach(source IN LISTS SOURCES)
    file(READ "${source}" text)
    file(SHA256 "${source}" hash)
    string(APPEND hashes "${hash}")
    string(REGEX MATCHALL "LLVM[A-Za-z0-9_]+" names "${text}")
    list(APPEND functions ${names})
endforeach()
list(REMOVE_DUPLICATES functions)
set(needed "")
foreach(name IN LISTS functions)
    if(name IN_LIST declared)
        list(APPEND needed "${name}")
    endif()
endforeach()
foreach(target X86 AArch64)
    foreach(part TargetInfo Target TargetMC AsmPrinter)
        list(APPEND native_${target} "LLVMInitialize${target}${part}")
    endforeach()
endforeach()
list(SORT needed)

set(rows "")
set(macros "")
foreach(name IN LISTS needed)
    string(APPEND rows "WEFT_LLVM_FUNCTION(${name})\n")
endforeach()
string(APPEND rows "#ifdef __x86_64__\n")
foreach(name IN LISTS native_X86)
    string(APPEND rows "WEFT_LLVM_FUNCTION(${name})\n")
endforeach()
string(APPEND rows "#else\n")
foreach(name IN LISTS native_AArch64)
    string(APPEND rows "WEFT_LLVM_FUNCTION(${name})\n")
endforeach()
string(APPEND rows "#endif\n")
list(APPEND needed ${native_X86} ${native_AArch64})
foreach(name IN LISTS needed)
    string(APPEND macros "#define ${name} weft_${name}\n")
endforeach()
file(CONFIGURE OUTPUT "${OUTPUT}/llvm_functions.h" CONTENT "${rows}" @ONLY)
file(CONFIGURE OUTPUT "${OUTPUT}/llvm_names.h" CONTENT "${macros}" @ONLY)
list(JOIN needed " " wanted)
list(JOIN needed ";\n" shown)
file(CONFIGURE OUTPUT "${OUTPUT}/llvm_exports.ld" CONTENT
     "EXTERN(${wanted})\nVERSION { WEFT_LLVM { global:\n${shown};\nlocal: *; }; }\n" @ONLY)
string(SHA256 identity "${hashes}")
file(CONFIGURE OUTPUT "${OUTPUT}/llvm_identity.h" CONTENT
     "#define WEFT_COMPILER_SOURCES \"${identity}\"\n" @ONLY)
file(TOUCH "${OUTPUT}/llvm_functions.stamp")
