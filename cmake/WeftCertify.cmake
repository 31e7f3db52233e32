# SPDX-License-Identifier: MIT
#
# What `weft certify` has in it, so that it needs no other file: the hashes of tests/data/bits, and three example models with their test
# set. Sets weft_certify_dir to a folder of headers and weft_certify_source to the C file with the table of the models' files.

set(weft_certify_dir "${PROJECT_BINARY_DIR}/certify")
file(MAKE_DIRECTORY "${weft_certify_dir}")
file(GLOB weft_certify_bits CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/data/bits/*.json"
     "${PROJECT_SOURCE_DIR}/tests/data/bits-fused/*.json")
add_custom_command(
    OUTPUT "${weft_certify_dir}/certify_bits.inc"
    COMMAND "${CMAKE_COMMAND}" "-DSOURCE=${PROJECT_SOURCE_DIR}" "-DOUTPUT=${weft_certify_dir}/certify_bits.inc"
            -P "${PROJECT_SOURCE_DIR}/cmake/certify_bits.cmake"
    DEPENDS ${weft_certify_bits} "${PROJECT_SOURCE_DIR}/tests/data/cases.txt"
            "${PROJECT_SOURCE_DIR}/cmake/certify_bits.cmake"
    COMMENT "Embedding the hashes of tests/data/bits"
    VERBATIM)

set(weft_certify_files data/langid1024.npz)
foreach(model IN ITEMS langid1024-fnet langid1024-tnn langid1024-fmmformer)
    foreach(file IN ITEMS config.json model.safetensors logits-12.sha256 logits-fused.sha256)
        list(APPEND weft_certify_files "models/${model}/${file}")
    endforeach()
endforeach()
set(weft_certify_arrays "")
set(weft_certify_rows "")
set(weft_certify_initialisers "")
set(weft_certify_index 0)
foreach(name IN LISTS weft_certify_files)
    set(file "${PROJECT_SOURCE_DIR}/api/examples/${name}")
    set(initialiser "${weft_certify_dir}/file_${weft_certify_index}.inc")
    weft_embed("${file}" "${initialiser}" "${name}")
    list(APPEND weft_certify_initialisers "${initialiser}")
    string(APPEND weft_certify_arrays
           "static const char file_${weft_certify_index}[] = {\n#include \"${initialiser}\"\n};\n")
    string(APPEND weft_certify_rows
           "    {\"${name}\", file_${weft_certify_index}, sizeof file_${weft_certify_index} - 1},\n")
    math(EXPR weft_certify_index "${weft_certify_index} + 1")
endforeach()
set(weft_certify_source "${weft_certify_dir}/certify_files.c")
configure_file("${PROJECT_SOURCE_DIR}/cmake/certify_files.c.in" "${weft_certify_source}" @ONLY)
set_source_files_properties("${weft_certify_source}" PROPERTIES OBJECT_DEPENDS "${weft_certify_initialisers}")
