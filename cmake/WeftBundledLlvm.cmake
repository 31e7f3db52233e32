# SPDX-License-Identifier: MIT
#
# The compiler that comes with Weft (WEFT_LLVM=BUNDLED): target weft-llvm, file libweft-llvm-VERSION.so, for wheels and archives,
# whose users may have no LLVM, or another one. Of LLVM's static archives it has this processor's code generator and the passes;
# with zlib and the C++ library inside it needs nothing but the C library. It shows the functions of C that Weft calls and no others,
# so that another LLVM in the process, such as a driver's, and this one do not know of each other. It is a file of its own,
# opened when something is to be compiled: loading it costs 3 ms, which nobody else has to spend.
# With WEFT_STATIC the command is linked to the same archives, weft_linked_llvm.

if(WIN32)
    message(FATAL_ERROR "WEFT_LLVM=BUNDLED is for ELF; on Windows LLVM-C.dll may lie beside Weft.")
endif()
if(NOT weft_llvm_archives)
    message(FATAL_ERROR "LLVM is to be part of what is built, but LLVM ${weft_llvm_version} has no static archives for ${weft_llvm_target}.")
endif()

# It can compress debugging information: with zlib, and versions after 15 with zstd.
foreach(name z zstd)
    find_library(WEFT_STATIC_${name} "lib${name}.a")
    mark_as_advanced(WEFT_STATIC_${name})
endforeach()
if(NOT WEFT_STATIC_z)
    message(FATAL_ERROR "LLVM is to be part of what is built, but zlib's archive libz.a (zlib1g-dev) was not found.")
endif()
set(weft_llvm_below "${WEFT_STATIC_z}")
if(WEFT_STATIC_zstd)
    list(APPEND weft_llvm_below "${WEFT_STATIC_zstd}")
endif()

if(WEFT_STATIC)
    # What tells this LLVM from others, in the keys of caches.
    set(weft_hashes "")
    foreach(archive IN LISTS weft_llvm_archives)
        file(SHA256 "${archive}" weft_hash)
        string(APPEND weft_hashes "${weft_hash}")
    endforeach()
    string(SHA256 weft_hashes "${weft_hashes}")
    target_compile_definitions(weft_llvm INTERFACE "WEFT_LLVM_LINKED=\"${weft_hashes}\"")
    set(weft_linked_llvm -Wl,--start-group ${weft_llvm_archives} -Wl,--end-group ${weft_llvm_below})
    return()
endif()

add_library(weft-llvm MODULE "${PROJECT_SOURCE_DIR}/packaging/compiler/no_terminal.c" ${WEFT_OLD_GLIBC_SOURCES})
add_dependencies(weft-llvm weft_llvm_functions)
weft_compile_options(weft-llvm)
weft_link_options(weft-llvm)
set_target_properties(weft-llvm PROPERTIES
    OUTPUT_NAME "weft-llvm-${weft_llvm_major}" LINKER_LANGUAGE CXX LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}"
    LINK_DEPENDS "${weft_llvm_dir}/llvm_functions.stamp")
target_link_options(weft-llvm PRIVATE -static-libstdc++ -Wl,--gc-sections -Wl,-Bsymbolic -Wl,--no-undefined -Wl,--as-needed)
target_link_libraries(weft-llvm PRIVATE "${weft_llvm_dir}/llvm_exports.ld"
    -Wl,--start-group ${weft_llvm_archives} -Wl,--end-group ${weft_llvm_below} Threads::Threads ${CMAKE_DL_LIBS} m)
