# SPDX-License-Identifier: MIT
#
# cmake -DSOURCE=root -DOUTPUT=file -P certify_bits.cmake
#
# What `weft certify` knows of tests/data: of each case the first 64 bits of its name's SHA-256, and the first 128 of the SHA-256 of its
# output, in reproducible mode and, where they are others, in fused mode; the cases that execute every kernel; and one SHA-256 of all that.
cmake_minimum_required(VERSION 3.25)

# weft_rows(<variable> <folder>): a row of C for each case of its files, ascending.
function(weft_rows variable folder)
    file(GLOB files "${SOURCE}/tests/data/${folder}/*.json")
    set(rows "")
    foreach(file IN LISTS files)
        file(STRINGS "${file}" lines REGEX "\": \"[0-9a-f]+\"")
        foreach(line IN LISTS lines)
            if(NOT line MATCHES "^ *\"(.+)\": \"([0-9a-f]+)\",?$")
                message(FATAL_ERROR "${file}: expected a case and its SHA-256, found '${line}'")
            endif()
            set(digest "${CMAKE_MATCH_2}")
            string(SHA256 key "${CMAKE_MATCH_1}")
            string(SUBSTRING "${key}" 0 16 key)
            string(SUBSTRING "${digest}" 0 16 high)
            string(SUBSTRING "${digest}" 16 16 low)
            list(APPEND rows "{0x${key}ULL, {0x${high}ULL, 0x${low}ULL}}")
        endforeach()
    endforeach()
    list(SORT rows)
    list(JOIN rows ",\n    " text)
    set(${variable} "${text}" PARENT_SCOPE)
endfunction()

weft_rows(reproducible bits)
weft_rows(fused bits-fused)

file(STRINGS "${SOURCE}/tests/data/cases.txt" lines REGEX "^[^#].* kernels")
set(listed "")
foreach(line IN LISTS lines)
    string(REGEX REPLACE " .*" "" name "${line}")
    string(SHA256 key "${name}")
    string(SUBSTRING "${key}" 0 16 key)
    list(APPEND listed "0x${key}ULL")
endforeach()
list(SORT listed)
list(JOIN listed ",\n    " listed)

string(SHA256 table "${reproducible}\n${fused}\n${listed}")
file(WRITE "${OUTPUT}" "static const struct row reproducible[] = {
    ${reproducible}};
static const struct row fused[] = {
    ${fused}};
static const uint64_t listed[] = {
    ${listed}};
static const char table_digest[] = \"${table}\";
")
