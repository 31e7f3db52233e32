# SPDX-License-Identifier: MIT
#
# Compiles every shaders/<folder>/<name>.comp twice (reproducible, and fast with WEFT_MATH_FAST=1)
# and makes one C file with the table of all of them. Sets weft_embedded_source to what the library
# compiles and weft_spirv_modules to the modules as files, for spirv-val.

set(weft_shader_source_dir "${PROJECT_SOURCE_DIR}/shaders")
set(weft_shader_binary_dir "${PROJECT_BINARY_DIR}/shaders")

# The folders are globbed on purpose: a mixer arrives as files, without an edit here.
file(GLOB weft_shaders CONFIGURE_DEPENDS RELATIVE "${weft_shader_source_dir}"
     "${weft_shader_source_dir}/*/*.comp")
file(GLOB weft_shader_includes CONFIGURE_DEPENDS RELATIVE "${weft_shader_source_dir}/include"
     "${weft_shader_source_dir}/include/*.glsl")
# By code point, as strcmp orders the names that the runtime searches.
list(TRANSFORM weft_shaders REPLACE "\\.comp$" "")
list(SORT weft_shaders COMPARE STRING)
list(SORT weft_shader_includes COMPARE STRING)

# weft_compile_shader(<name> <mode> [definition...]): one module of weft_shader_binary_dir, as .spv and
# as a C initialiser.
function(weft_compile_shader name mode)
    set(module "${weft_shader_binary_dir}/${name}.${mode}.spv")
    set(initialiser "${weft_shader_binary_dir}/${name}.${mode}.inc")
    cmake_path(GET module PARENT_PATH folder)
    file(MAKE_DIRECTORY "${folder}")
    add_custom_command(
        OUTPUT "${initialiser}"
        BYPRODUCTS "${module}"
        COMMAND "${WEFT_GLSLANG_VALIDATOR}" --quiet -V --target-env vulkan1.2 -g0 ${ARGN}
                "-I${weft_shader_source_dir}/include" --depfile "${module}.d" -o "${module}"
                "${weft_shader_source_dir}/${name}.comp"
        COMMAND "${CMAKE_COMMAND}" "-DINPUT=${module}" "-DOUTPUT=${initialiser}" -DKIND=words
                "-DDEPFILE=${module}.d"
                -P "${PROJECT_SOURCE_DIR}/cmake/embed.cmake"
        DEPENDS "${weft_shader_source_dir}/${name}.comp" "${PROJECT_SOURCE_DIR}/cmake/embed.cmake"
        DEPFILE "${initialiser}.d"
        COMMENT "Shader ${name} (${mode})"
        VERBATIM)
    set(weft_last_module "${module}" PARENT_SCOPE)
    set(weft_last_initialiser "${initialiser}" PARENT_SCOPE)
endfunction()

# The include files, for shaders compiled at run time.
set(weft_include_initialisers "")
set(weft_include_arrays "")
set(weft_include_rows "")
set(weft_index 0)
file(MAKE_DIRECTORY "${weft_shader_binary_dir}/include")
foreach(name IN LISTS weft_shader_includes)
    set(initialiser "${weft_shader_binary_dir}/include/${name}.inc")
    add_custom_command(
        OUTPUT "${initialiser}"
        COMMAND "${CMAKE_COMMAND}" "-DINPUT=${weft_shader_source_dir}/include/${name}"
                "-DOUTPUT=${initialiser}" -DKIND=text -P "${PROJECT_SOURCE_DIR}/cmake/embed.cmake"
        DEPENDS "${weft_shader_source_dir}/include/${name}" "${PROJECT_SOURCE_DIR}/cmake/embed.cmake"
        COMMENT "Embedding shaders/include/${name}"
        VERBATIM)
    list(APPEND weft_include_initialisers "${initialiser}")
    string(APPEND weft_include_arrays
           "static const char include_${weft_index}[] = {\n#include \"${initialiser}\"\n};\n")
    string(APPEND weft_include_rows
           "    {\"${name}\", include_${weft_index}, sizeof include_${weft_index} - 1},\n")
    math(EXPR weft_index "${weft_index} + 1")
endforeach()
set(weft_include_count ${weft_index})

# weft_embed_shaders(<target> <folder> [definition...]): <folder>/embedded_shaders.c with all shaders,
# the definitions applied to their reproducible variants, and a target that makes what it includes
# (one owner, so that two libraries may compile the table without two builds of a module running into
# each other). Sets <target>_source and <target>_modules.
function(weft_embed_shaders target folder)
    set(weft_shader_binary_dir "${folder}")
    set(initialisers ${weft_include_initialisers})
    set(modules "")
    set(weft_table_arrays "${weft_include_arrays}")
    set(weft_shader_rows "")
    set(index 0)
    foreach(name IN LISTS weft_shaders)
        foreach(mode reproducible fast)
            set(definitions ${ARGN})
            if(mode STREQUAL "fast")
                set(definitions -DWEFT_MATH_FAST=1)
            endif()
            weft_compile_shader("${name}" ${mode} ${definitions})
            list(APPEND modules "${weft_last_module}")
            list(APPEND initialisers "${weft_last_initialiser}")
            string(APPEND weft_table_arrays
                   "static const uint32_t ${mode}_${index}[] = {\n"
                   "#include \"${weft_last_initialiser}\"\n};\n")
        endforeach()
        string(APPEND weft_shader_rows
               "    {\"${name}\", reproducible_${index}, sizeof reproducible_${index},\n"
               "     fast_${index}, sizeof fast_${index}},\n")
        math(EXPR index "${index} + 1")
    endforeach()
    set(weft_shader_count ${index})
    set(source "${folder}/embedded_shaders.c")
    configure_file("${PROJECT_SOURCE_DIR}/cmake/embedded_shaders.c.in" "${source}" @ONLY)
    add_custom_target(${target} DEPENDS ${initialisers})
    set_source_files_properties("${source}" PROPERTIES OBJECT_DEPENDS "${initialisers}")
    set(${target}_source "${source}" PARENT_SCOPE)
    set(${target}_modules "${modules}" PARENT_SCOPE)
endfunction()

weft_embed_shaders(weft_shaders "${weft_shader_binary_dir}")
set(weft_embedded_source "${weft_shaders_source}")
set(weft_spirv_modules "${weft_shaders_modules}")
