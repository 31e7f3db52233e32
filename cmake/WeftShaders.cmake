# SPDX-License-Identifier: MIT
#
# Compiles every kernel of shaders/<folder>/*.comp twice (reproducible, and fast with WEFT_MATH_FAST=1), makes a header of
# each one's interface, which lowering includes as "kernels/<folder>/<name>.h", and one C file with all of them. A file is one
# kernel of its name, or one for each of its lines `// form <name> [<definition>...]`. With a line `// One module for all modes …`
# it is compiled once, and fast mode has the reproducible module, as fused mode makes it. Sets
# weft_embedded_source to what the library compiles and weft_spirv_modules to the modules as files, for spirv-val.

set(weft_shader_source_dir "${PROJECT_SOURCE_DIR}/shaders")
set(weft_shader_binary_dir "${PROJECT_BINARY_DIR}/shaders")

# What comes of shaders is the same for every compiler and every target: builds beside one another need only one of them to make it.
set(WEFT_COMPILED_SHADERS "" CACHE PATH
    "The folder `shaders` of another build of these sources, where the target weft_shaders is made, in place of compiling them again")
if(WEFT_COMPILED_SHADERS)
    set(weft_shader_binary_dir "${WEFT_COMPILED_SHADERS}")
endif()

# The folders are globbed on purpose: a mixer arrives as files, without an edit here.
file(GLOB weft_shader_files CONFIGURE_DEPENDS "${weft_shader_source_dir}/*/*.comp")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${weft_shader_files}) # for their forms
set(weft_shaders "") # with weft_source_of_<kernel>, weft_definitions_of_<kernel> and weft_one_module_of_<kernel>
foreach(file IN LISTS weft_shader_files)
    cmake_path(GET file PARENT_PATH folder)
    cmake_path(GET folder FILENAME folder)
    cmake_path(GET file STEM name)
    file(STRINGS "${file}" forms REGEX "^// form ")
    file(STRINGS "${file}" one_module REGEX "^// One module for all modes ")
    if(NOT forms)
        set(forms "// form ${name}")
    endif()
    foreach(form IN LISTS forms)
        separate_arguments(definitions UNIX_COMMAND "${form}")
        list(POP_FRONT definitions slashes word name)
        list(TRANSFORM definitions PREPEND "-D")
        list(APPEND weft_shaders "${folder}/${name}")
        set("weft_source_of_${folder}/${name}" "${file}")
        set("weft_definitions_of_${folder}/${name}" "${definitions}")
        set("weft_one_module_of_${folder}/${name}" "${one_module}")
    endforeach()
endforeach()
file(GLOB weft_shader_includes CONFIGURE_DEPENDS "${weft_shader_source_dir}/include/*.glsl")
# By code point, as strcmp orders the names that the runtime searches.
list(SORT weft_shaders COMPARE STRING)
list(SORT weft_shader_includes COMPARE STRING)

# numbers.glsl: the enumerators of these headers, as macros of the same names.
set(weft_number_headers api/include/weft/graph.h api/include/weft/arithmetic.h api/include/weft/features.h api/include/weft/mixers/kernels.h
    api/include/weft/mixers/random_features.h api/include/weft/mixers/recurrent.h runtime/ops/numbers.h)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${weft_number_headers})
set(numbers "// Made from C by cmake/WeftShaders.cmake. SPDX-License-Identifier: MIT\n")
foreach(header IN LISTS weft_number_headers)
    file(READ "${PROJECT_SOURCE_DIR}/${header}" text)
    string(REGEX REPLACE "/\\*([^*]|\\*+[^*/])*\\*+/|;" "" text "${text}")
    string(REGEX MATCHALL "typedef enum [a-z_0-9]+ {[^}]*}" enums "${text}")
    foreach(enum IN LISTS enums)
        string(REGEX MATCHALL "WEFT_[A-Z_0-9]+( = [0-9]+)?" enumerators "${enum}")
        set(next 0)
        foreach(enumerator IN LISTS enumerators)
            string(REGEX MATCH "^([A-Z_0-9]+)( = ([0-9]+))?" enumerator "${enumerator}")
            if(CMAKE_MATCH_2)
                set(next ${CMAKE_MATCH_3})
            endif()
            string(APPEND numbers "#define ${CMAKE_MATCH_1} ${next}\n")
            math(EXPR next "${next} + 1")
        endforeach()
    endforeach()
endforeach()
set(weft_numbers_dir "${weft_shader_binary_dir}/numbers")
if(NOT WEFT_COMPILED_SHADERS)
    file(CONFIGURE OUTPUT "${weft_numbers_dir}/numbers.glsl" CONTENT "${numbers}" @ONLY)
endif()
list(APPEND weft_shader_includes "${weft_numbers_dir}/numbers.glsl")

# What reads a kernel's interface from its modules and writes it as C runs on the machine that builds: when cross-compiling
# without an emulator, give a kernel-header that was built for it.
set(WEFT_KERNEL_HEADER "" CACHE FILEPATH "The tool kernel-header of a native build, for cross-compiling")
if(NOT WEFT_KERNEL_HEADER)
    file(GLOB weft_spirv_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/runtime/spirv/*.c")
    add_executable(kernel-header "${PROJECT_SOURCE_DIR}/cmake/kernel_header.c"
        "${PROJECT_SOURCE_DIR}/runtime/core/math/float_state.c"
        "${PROJECT_SOURCE_DIR}/runtime/core/harmless.c"
        "${PROJECT_SOURCE_DIR}/runtime/core/host.c"
        ${weft_spirv_sources})
    target_include_directories(kernel-header PRIVATE
        "${PROJECT_SOURCE_DIR}/api/include" "${PROJECT_SOURCE_DIR}/runtime")
    target_include_directories(kernel-header SYSTEM PRIVATE "${WEFT_SPIRV_HEADERS_INCLUDE_DIR}")
    weft_compile_options(kernel-header)
    target_link_options(kernel-header PRIVATE -s)
    # A header that it reads may have another comment: where its own code is the same, no shader is compiled again.
    set(weft_kernel_header "${PROJECT_BINARY_DIR}/kernel-header-used${CMAKE_EXECUTABLE_SUFFIX}")
    add_custom_command(OUTPUT "${weft_kernel_header}"
        COMMAND "${CMAKE_COMMAND}" -E copy_if_different "$<TARGET_FILE:kernel-header>" "${weft_kernel_header}"
        DEPENDS kernel-header VERBATIM)
else()
    set(weft_kernel_header "${WEFT_KERNEL_HEADER}")
endif()

# weft_compile_kernel(<name> [definition of the reproducible variant...]): both modules of a shader, and in
# <weft_shader_binary_dir>/kernels its header (.h) and the object that holds it (.inc).
function(weft_compile_kernel name)
    set(source "${weft_source_of_${name}}")
    set(module "${weft_shader_binary_dir}/${name}")
    set(output "${weft_shader_binary_dir}/kernels/${name}")
    set(weft_last_object "${output}.inc" PARENT_SCOPE)
    set(modules "${module}.reproducible.spv" "${module}.fast.spv")
    if(weft_one_module_of_${name})
        list(POP_BACK modules)
    endif()
    list(GET modules -1 last_module)
    set(weft_last_modules ${modules} PARENT_SCOPE)
    if(weft_shader_binary_dir STREQUAL WEFT_COMPILED_SHADERS)
        return()
    endif()
    cmake_path(GET module PARENT_PATH folder)
    file(MAKE_DIRECTORY "${folder}")
    cmake_path(GET output PARENT_PATH folder)
    file(MAKE_DIRECTORY "${folder}")
    set(compile "${WEFT_GLSLANG_VALIDATOR}" --quiet -V --target-env vulkan1.1 --depfile "${module}.d"
        "-I${weft_shader_source_dir}/include" "-I${weft_numbers_dir}" ${weft_definitions_of_${name}})
    set(compile_fast "")
    if(NOT weft_one_module_of_${name})
        set(compile_fast COMMAND ${compile} -DWEFT_MATH_FAST=1 -o "${module}.fast.spv" "${source}")
    endif()
    add_custom_command(
        OUTPUT "${output}.inc"
        BYPRODUCTS ${modules} "${output}.h"
        COMMAND ${compile} ${ARGN} -o "${module}.reproducible.spv" "${source}"
        ${compile_fast}
        COMMAND ${weft_kernel_header} "${name}" "${module}.reproducible.spv" "${last_module}" "${output}"
        COMMAND "${CMAKE_COMMAND}" "-DDEPFILE=${module}.d" "-DOUTPUT=${output}.inc"
                -P "${PROJECT_SOURCE_DIR}/cmake/depfile.cmake"
        DEPENDS "${source}" "${PROJECT_SOURCE_DIR}/cmake/depfile.cmake"
                ${weft_kernel_header}
        DEPFILE "${output}.inc.d"
        COMMENT "Shader ${name}"
        VERBATIM)
endfunction()

# The include files, for shaders compiled at run time.
set(weft_include_initialisers "")
set(weft_include_arrays "")
set(weft_include_rows "")
set(weft_index 0)
if(NOT WEFT_COMPILED_SHADERS)
    file(MAKE_DIRECTORY "${weft_shader_binary_dir}/include")
endif()
foreach(file IN LISTS weft_shader_includes)
    cmake_path(GET file FILENAME name)
    set(initialiser "${weft_shader_binary_dir}/include/${name}.inc")
    if(NOT WEFT_COMPILED_SHADERS)
        weft_embed("${file}" "${initialiser}" "${name}")
    endif()
    list(APPEND weft_include_initialisers "${initialiser}")
    string(APPEND weft_include_arrays
           "static const char include_${weft_index}[] = {\n#include \"${initialiser}\"\n};\n")
    string(APPEND weft_include_rows
           "    {\"${name}\", include_${weft_index}, sizeof include_${weft_index} - 1},\n")
    math(EXPR weft_index "${weft_index} + 1")
endforeach()
set(weft_include_count ${weft_index})

# weft_embed_shaders(<target> <folder> [<pattern> definition...]):
# <folder>/embedded_shaders.c with all shaders, and a target that makes what it includes (one owner, so that two libraries may
# compile the table without two builds of a module running into each other). Sets <target>_source and <target>_modules. With a
# pattern, the shaders whose names match it are compiled again, their reproducible variants with the definitions; the others are
# the library's, whose target is weft_shaders.
function(weft_embed_shaders target folder)
    set(library_folder "${weft_shader_binary_dir}")
    list(POP_FRONT ARGN pattern)
    set(objects ${weft_include_initialisers})
    set(modules "")
    set(weft_table_arrays "${weft_include_arrays}")
    set(weft_shader_rows "")
    foreach(name IN LISTS weft_shaders)
        set(weft_shader_binary_dir "${folder}")
        if(pattern AND NOT name MATCHES "${pattern}")
            set(weft_shader_binary_dir "${library_folder}")
            set(weft_last_object "${library_folder}/kernels/${name}.inc")
            set(weft_last_modules "")
        else()
            weft_compile_kernel("${name}" ${ARGN})
        endif()
        list(APPEND modules ${weft_last_modules})
        list(APPEND objects "${weft_last_object}")
        string(REPLACE "/" "_" symbol "${name}")
        string(APPEND weft_table_arrays "extern const struct weft_shader weft_shader_${symbol};\n"
               "#include \"${weft_last_object}\"\n")
        string(APPEND weft_shader_rows "    &weft_shader_${symbol},\n")
    endforeach()
    list(LENGTH weft_shaders weft_shader_count)
    set(source "${folder}/embedded_shaders.c")
    if(NOT folder STREQUAL WEFT_COMPILED_SHADERS)
        configure_file("${PROJECT_SOURCE_DIR}/cmake/embedded_shaders.c.in" "${source}" @ONLY)
    endif()
    add_custom_target(${target} DEPENDS ${objects})
    set_source_files_properties("${source}" PROPERTIES OBJECT_DEPENDS "${objects}")
    set(${target}_source "${source}" PARENT_SCOPE)
    set(${target}_modules "${modules}" PARENT_SCOPE)
endfunction()

weft_embed_shaders(weft_shaders "${weft_shader_binary_dir}")
set(weft_embedded_source "${weft_shaders_source}")
set(weft_spirv_modules "${weft_shaders_modules}")
