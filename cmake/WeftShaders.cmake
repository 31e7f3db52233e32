# SPDX-License-Identifier: MIT
#
# Compiles every shaders/<folder>/<name>.comp twice (reproducible, and fast with WEFT_MATH_FAST=1)
# and makes one C file with the table of all of them. Sets weft_embedded_sources to what the library
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

# weft_compile_shader(<name> <mode> [definition...]): one module, as .spv and as a C initialiser.
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

set(weft_spirv_modules "")
set(weft_initialisers "")
set(weft_table_arrays "")
set(weft_shader_rows "")
set(weft_include_rows "")
set(weft_index 0)
foreach(name IN LISTS weft_shaders)
    foreach(mode reproducible fast)
        if(mode STREQUAL "fast")
            weft_compile_shader("${name}" ${mode} -DWEFT_MATH_FAST=1)
        else()
            weft_compile_shader("${name}" ${mode})
        endif()
        list(APPEND weft_spirv_modules "${weft_last_module}")
        list(APPEND weft_initialisers "${weft_last_initialiser}")
        string(APPEND weft_table_arrays
               "static const uint32_t ${mode}_${weft_index}[] = {\n"
               "#include \"${name}.${mode}.inc\"\n};\n")
    endforeach()
    string(APPEND weft_shader_rows
           "    {\"${name}\", reproducible_${weft_index}, sizeof reproducible_${weft_index},\n"
           "     fast_${weft_index}, sizeof fast_${weft_index}},\n")
    math(EXPR weft_index "${weft_index} + 1")
endforeach()
set(weft_shader_count ${weft_index})

set(weft_index 0)
foreach(name IN LISTS weft_shader_includes)
    set(initialiser "${weft_shader_binary_dir}/include/${name}.inc")
    file(MAKE_DIRECTORY "${weft_shader_binary_dir}/include")
    add_custom_command(
        OUTPUT "${initialiser}"
        COMMAND "${CMAKE_COMMAND}" "-DINPUT=${weft_shader_source_dir}/include/${name}"
                "-DOUTPUT=${initialiser}" -DKIND=text -P "${PROJECT_SOURCE_DIR}/cmake/embed.cmake"
        DEPENDS "${weft_shader_source_dir}/include/${name}" "${PROJECT_SOURCE_DIR}/cmake/embed.cmake"
        COMMENT "Embedding shaders/include/${name}"
        VERBATIM)
    list(APPEND weft_initialisers "${initialiser}")
    string(APPEND weft_table_arrays
           "static const char include_${weft_index}[] = {\n#include \"include/${name}.inc\"\n};\n")
    string(APPEND weft_include_rows
           "    {\"${name}\", include_${weft_index}, sizeof include_${weft_index} - 1},\n")
    math(EXPR weft_index "${weft_index} + 1")
endforeach()
set(weft_include_count ${weft_index})

# C has no empty arrays; a table without rows keeps one null row that its count of 0 hides.
if(weft_shader_count EQUAL 0)
    set(weft_shader_rows "    {0, 0, 0, 0, 0},\n")
endif()
if(weft_include_count EQUAL 0)
    set(weft_include_rows "    {0, 0, 0},\n")
endif()
configure_file("${PROJECT_SOURCE_DIR}/cmake/embedded_shaders.c.in"
               "${weft_shader_binary_dir}/embedded_shaders.c" @ONLY)

# One target owns the generated files, so that two libraries may compile the table without two
# builds of a module running into each other.
add_custom_target(weft_shaders DEPENDS ${weft_initialisers})
set(weft_embedded_source "${weft_shader_binary_dir}/embedded_shaders.c")
set_source_files_properties("${weft_embedded_source}" PROPERTIES
    OBJECT_DEPENDS "${weft_initialisers}"
    INCLUDE_DIRECTORIES "${weft_shader_binary_dir}")
