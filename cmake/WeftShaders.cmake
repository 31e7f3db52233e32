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

# weft_compile_shader(<name> <folder of its source> <mode> [definition...]): one module of
# weft_shader_binary_dir, as .spv and as a C initialiser.
function(weft_compile_shader name source_dir mode)
    set(module "${weft_shader_binary_dir}/${name}.${mode}.spv")
    set(initialiser "${weft_shader_binary_dir}/${name}.${mode}.inc")
    cmake_path(GET module PARENT_PATH folder)
    file(MAKE_DIRECTORY "${folder}")
    add_custom_command(
        OUTPUT "${initialiser}"
        BYPRODUCTS "${module}"
        COMMAND "${WEFT_GLSLANG_VALIDATOR}" --quiet -V --target-env vulkan1.2 -g0 ${ARGN}
                "-I${weft_shader_source_dir}/include" --depfile "${module}.d" -o "${module}"
                "${source_dir}/${name}.comp"
        COMMAND "${CMAKE_COMMAND}" "-DINPUT=${module}" "-DOUTPUT=${initialiser}" -DKIND=words
                "-DDEPFILE=${module}.d"
                -P "${PROJECT_SOURCE_DIR}/cmake/embed.cmake"
        DEPENDS "${source_dir}/${name}.comp" "${PROJECT_SOURCE_DIR}/cmake/embed.cmake"
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

# weft_embed_shaders(<target> <folder> [MORE <shader folder>] [definition...]):
# <folder>/embedded_shaders.c with all shaders, the definitions applied to their reproducible variants,
# and a target that makes what it includes (one owner, so that two libraries may compile the table
# without two builds of a module running into each other). With MORE, the shaders of that folder too, and
# the others as they were compiled for the library. Sets <target>_source and <target>_modules, which has
# only what is compiled here.
function(weft_embed_shaders target folder)
    cmake_parse_arguments(PARSE_ARGV 2 arg "" "MORE" "")
    set(library_binary_dir "${weft_shader_binary_dir}")
    set(weft_shader_binary_dir "${folder}")
    set(names ${weft_shaders})
    set(more "")
    if(arg_MORE)
        file(GLOB more CONFIGURE_DEPENDS RELATIVE "${arg_MORE}" "${arg_MORE}/*/*.comp")
        list(TRANSFORM more REPLACE "\\.comp$" "")
        list(APPEND names ${more})
        list(SORT names COMPARE STRING)
    endif()
    set(initialisers ${weft_include_initialisers})
    set(modules "")
    set(weft_table_arrays "${weft_include_arrays}")
    set(weft_shader_rows "")
    set(index 0)
    foreach(name IN LISTS names)
        foreach(mode reproducible fast)
            set(definitions ${arg_UNPARSED_ARGUMENTS})
            if(mode STREQUAL "fast")
                set(definitions -DWEFT_MATH_FAST=1)
            endif()
            if(NOT arg_MORE OR name IN_LIST more)
                set(source_dir "${weft_shader_source_dir}")
                if(name IN_LIST more)
                    set(source_dir "${arg_MORE}")
                endif()
                weft_compile_shader("${name}" "${source_dir}" ${mode} ${definitions})
                list(APPEND modules "${weft_last_module}")
            else()
                set(weft_last_initialiser "${library_binary_dir}/${name}.${mode}.inc")
            endif()
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
    if(arg_MORE)
        add_dependencies(${target} weft_shaders)
    endif()
    set_source_files_properties("${source}" PROPERTIES OBJECT_DEPENDS "${initialisers}")
    set(${target}_source "${source}" PARENT_SCOPE)
    set(${target}_modules "${modules}" PARENT_SCOPE)
endfunction()

weft_embed_shaders(weft_shaders "${weft_shader_binary_dir}")
set(weft_embedded_source "${weft_shaders_source}")
set(weft_spirv_modules "${weft_shaders_modules}")
