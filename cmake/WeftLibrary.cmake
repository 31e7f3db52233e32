# SPDX-License-Identifier: MIT
#
# Targets: weft (alias weft::weft), the library; weft_core, the part of it that knows no Vulkan, which the
# command links beside it; weft_internal, all objects for tests that reach hidden functions. Globbing is
# deliberate: adding a mixer must not need an edit here.

file(GLOB_RECURSE weft_c_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/runtime/*.c")
file(GLOB_RECURSE weft_core_sources CONFIGURE_DEPENDS
     "${PROJECT_SOURCE_DIR}/runtime/core/*.c" "${PROJECT_SOURCE_DIR}/runtime/spirv/*.c"
     "${PROJECT_SOURCE_DIR}/runtime/interpret/*.c")
if(NOT weft_c_sources OR NOT weft_core_sources)
    message(FATAL_ERROR "No C source was found below ${PROJECT_SOURCE_DIR}/runtime.")
endif()
list(REMOVE_ITEM weft_c_sources ${weft_core_sources})
weft_keep_platform(weft_c_sources)
weft_keep_platform(weft_core_sources)
# The processor's compiler, or what stands in its place.
set(weft_compiler_c_sources ${weft_c_sources})
list(FILTER weft_compiler_c_sources INCLUDE REGEX "/runtime/native/llvm/")
list(REMOVE_ITEM weft_c_sources ${weft_compiler_c_sources})
if(WEFT_HAVE_LLVM)
    list(REMOVE_ITEM weft_c_sources "${PROJECT_SOURCE_DIR}/runtime/native/no_compiler.c")
endif()
# What opens libraries, or what stands in its place.
set(weft_opening core/system/library_posix.c device/volk_unit.c native/llvm/find.c native/llvm/build_id.c native/llvm/jumps.c)
set(weft_not_opening core/system/library_none.c device/no_loader.c native/llvm/linked.c)
set(weft_left_out ${weft_not_opening})
if(WEFT_STATIC)
    set(weft_left_out ${weft_opening})
endif()
list(TRANSFORM weft_left_out PREPEND "${PROJECT_SOURCE_DIR}/runtime/")
list(REMOVE_ITEM weft_c_sources ${weft_left_out})
list(REMOVE_ITEM weft_core_sources ${weft_left_out})
list(REMOVE_ITEM weft_compiler_c_sources ${weft_left_out})

# What every part of the library compiles against, and what a static libweft needs at its last link.
add_library(weft_requirements INTERFACE)
target_include_directories(weft_requirements INTERFACE
    "${PROJECT_SOURCE_DIR}/api/include" "${PROJECT_SOURCE_DIR}/runtime"
    "${weft_shader_binary_dir}") # kernels/…
target_include_directories(weft_requirements SYSTEM INTERFACE
    "${WEFT_GLSLANG_C_INCLUDE_DIR}" "${WEFT_SPIRV_HEADERS_INCLUDE_DIR}" "${WEFT_OPENCL_HEADERS_INCLUDE_DIR}")

set(weft_link_libraries
    PkgConfig::WEFT_JANSSON PkgConfig::WEFT_LIBZIP PkgConfig::WEFT_UTF8PROC weft_dep::glslang)
# glslang is C++: a consumer whose project is C only still has to link the C++ library.
set(weft_cxx_libraries ${CMAKE_CXX_IMPLICIT_LINK_LIBRARIES})
list(FILTER weft_cxx_libraries INCLUDE REGEX "^(stdc\\+\\+|c\\+\\+|c\\+\\+abi)$")
list(REMOVE_DUPLICATES weft_cxx_libraries)
list(APPEND weft_link_libraries ${weft_cxx_libraries} Threads::Threads ${CMAKE_DL_LIBS} m)
if(WEFT_STATIC)
    list(PREPEND weft_link_libraries ${weft_linked_llvm})
endif()
target_link_libraries(weft_requirements INTERFACE Vulkan::Headers ${weft_link_libraries})

# Memory, files and their formats, hashing, and reading SPIR-V. Without Vulkan's headers, to hold it to that.
# The static library has the same objects as libweft, and is for programs of this repository: it is not installed.
add_library(weft_core_objects OBJECT ${weft_core_sources})
target_include_directories(weft_core_objects PUBLIC
    "${PROJECT_SOURCE_DIR}/api/include" "${PROJECT_SOURCE_DIR}/runtime")
target_include_directories(weft_core_objects SYSTEM PUBLIC "${WEFT_SPIRV_HEADERS_INCLUDE_DIR}")
target_link_libraries(weft_core_objects PUBLIC PkgConfig::WEFT_JANSSON PkgConfig::WEFT_LIBZIP m)
target_compile_definitions(weft_core_objects PRIVATE WEFT_BUILDING=1)
# Where a program finds what was installed with the library: seen from its own folder, which stands beside it.
set(weft_library_folder "${CMAKE_INSTALL_LIBDIR}")
if(IS_ABSOLUTE "${weft_library_folder}")
    set(weft_library_folder lib)
endif()
set_source_files_properties("${PROJECT_SOURCE_DIR}/runtime/core/system/library_posix.c" PROPERTIES
    COMPILE_DEFINITIONS "WEFT_LIBRARY_FOLDER=\"${weft_library_folder}\"")
# The interpreter's loops over the invocations of a workgroup want a vectorizer in every build but those for debugging.
set(weft_interpret_sources ${weft_core_sources})
list(FILTER weft_interpret_sources INCLUDE REGEX "/runtime/interpret/")
set_source_files_properties(${weft_interpret_sources} PROPERTIES
    COMPILE_OPTIONS "$<$<NOT:$<CONFIG:Debug>>:-O3>")
add_library(weft_core STATIC EXCLUDE_FROM_ALL $<TARGET_OBJECTS:weft_core_objects>)
target_include_directories(weft_core PUBLIC
    "${PROJECT_SOURCE_DIR}/api/include" "${PROJECT_SOURCE_DIR}/runtime")
target_include_directories(weft_core SYSTEM PUBLIC "${WEFT_SPIRV_HEADERS_INCLUDE_DIR}")
target_link_libraries(weft_core PUBLIC PkgConfig::WEFT_JANSSON PkgConfig::WEFT_LIBZIP m)

add_library(weft_objects OBJECT ${weft_c_sources} "${PROJECT_SOURCE_DIR}/runtime/shader/glslang_guard.cpp" "${weft_embedded_source}")
add_dependencies(weft_objects weft_shaders)
weft_compile_options(weft_objects)
weft_compile_options(weft_core_objects)
target_link_libraries(weft_objects PRIVATE weft_requirements)
target_include_directories(weft_objects SYSTEM PRIVATE "${PROJECT_BINARY_DIR}/volk" "${WEFT_VOLK_INCLUDE_DIR}")
target_compile_definitions(weft_objects PRIVATE WEFT_BUILDING=1)

# VkFFT is one third-party header of 39 000 lines: no warnings, no undefined-behaviour checks, and
# -O1, because it only prepares shaders and -O2 doubles its compile time. With sanitizers -O0 and no counters for fuzzers, which
# compiles in a tenth of the time.
set(weft_vkfft_unit "${PROJECT_SOURCE_DIR}/runtime/mixers/vkfft/vkfft_unit.c")
if(weft_vkfft_unit IN_LIST weft_c_sources)
    set(weft_vkfft_options -w -O1 -fexceptions)
    if(WEFT_SANITIZE)
        list(APPEND weft_vkfft_options -O0)
    endif()
    foreach(sanitizer undefined float-cast-overflow fuzzer-no-link)
        if(WEFT_SANITIZE MATCHES "${sanitizer}")
            list(APPEND weft_vkfft_options -fno-sanitize=${sanitizer})
        endif()
    endforeach()
    set_source_files_properties("${weft_vkfft_unit}" PROPERTIES
        COMPILE_OPTIONS "${weft_vkfft_options}"
        INCLUDE_DIRECTORIES "${weft_vkfft_dir}")
endif()

# Exceptions of C++ may come through this one, from the program's job system.
set_source_files_properties("${PROJECT_SOURCE_DIR}/runtime/jobs/given_jobs.c" PROPERTIES COMPILE_OPTIONS -fexceptions)
# And through these from glslang, up to glslang_guard.cpp.
set_source_files_properties("${PROJECT_SOURCE_DIR}/runtime/shader/glsl.c"
    "${PROJECT_SOURCE_DIR}/runtime/mixers/vkfft/fft_program.c" PROPERTIES COMPILE_OPTIONS -fexceptions)

set(weft_compiler_objects "")
if(WEFT_HAVE_LLVM)
    add_library(weft_compiler_objects OBJECT ${weft_compiler_c_sources})
    add_dependencies(weft_compiler_objects weft_llvm_functions)
    weft_compile_options(weft_compiler_objects)
    target_include_directories(weft_compiler_objects PRIVATE
        "${PROJECT_SOURCE_DIR}/api/include" "${PROJECT_SOURCE_DIR}/runtime")
    target_include_directories(weft_compiler_objects SYSTEM PRIVATE "${WEFT_SPIRV_HEADERS_INCLUDE_DIR}")
    target_link_libraries(weft_compiler_objects PRIVATE weft_llvm)
    target_compile_definitions(weft_compiler_objects PRIVATE WEFT_BUILDING=1)
    # Optimisers across files do not see what assembly in C defines.
    set_source_files_properties("${PROJECT_SOURCE_DIR}/runtime/native/llvm/jumps.c" PROPERTIES
        COMPILE_OPTIONS -fno-lto OBJECT_DEPENDS "${weft_llvm_dir}/llvm_functions.h")
    set(weft_compiler_objects $<TARGET_OBJECTS:weft_compiler_objects>)
endif()

set(weft_all_objects
    $<TARGET_OBJECTS:weft_core_objects> $<TARGET_OBJECTS:weft_objects> ${weft_compiler_objects})
# Until 1.0 a minor version may change the ABI.
set(weft_soversion ${PROJECT_VERSION_MAJOR})
if(weft_soversion EQUAL 0)
    string(APPEND weft_soversion ".${PROJECT_VERSION_MINOR}")
endif()
add_library(weft ${weft_all_objects})
add_library(weft::weft ALIAS weft)
set_target_properties(weft PROPERTIES
    LINKER_LANGUAGE CXX VERSION ${PROJECT_VERSION} SOVERSION ${weft_soversion}
    EXPORT_NAME weft)
target_include_directories(weft PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/api/include>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_link_libraries(weft PUBLIC Vulkan::Headers PRIVATE ${weft_link_libraries})
weft_link_options(weft)
if(BUILD_SHARED_LIBS AND UNIX AND NOT APPLE)
    # glslang's archives have default visibility; without this libweft.so would export them all.
    target_link_options(weft PRIVATE -Wl,--exclude-libs,ALL)
endif()

if(TARGET weft-llvm) # opened at run time
    add_dependencies(weft weft-llvm)
endif()

add_library(weft_internal STATIC EXCLUDE_FROM_ALL ${weft_all_objects})
set_target_properties(weft_internal PROPERTIES LINKER_LANGUAGE CXX)
target_link_libraries(weft_internal PUBLIC weft_requirements)
target_compile_definitions(weft_internal PUBLIC
    $<$<BOOL:${WEFT_HAVE_LLVM}>:WEFT_HAVE_LLVM=1>)
