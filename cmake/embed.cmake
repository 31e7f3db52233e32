# SPDX-License-Identifier: MIT
#
# cmake -DINPUT=file -DOUTPUT=file -DKIND=words|text [-DDEPFILE=file] -P embed.cmake
#
# Writes the bytes of INPUT as the inside of a C initialiser: little-endian 32-bit words, or chars
# with a terminating zero. DEPFILE, written by glslangValidator for the module, is copied to
# OUTPUT.d with OUTPUT as its target.
cmake_minimum_required(VERSION 3.25)

file(READ "${INPUT}" hex HEX)
if(KIND STREQUAL "words")
    string(REGEX REPLACE "(..)(..)(..)(..)" "0x\\4\\3\\2\\1,\n" text "${hex}")
elseif(KIND STREQUAL "text")
    # Escapes rather than numbers: bytes above 127 then convert to char without a warning.
    string(REGEX REPLACE "(..)" "'\\\\x\\1',\n" text "${hex}")
    string(APPEND text "0,\n")
else()
    message(FATAL_ERROR "embed.cmake: KIND is '${KIND}', expected words or text")
endif()
file(WRITE "${OUTPUT}" "${text}")

if(DEFINED DEPFILE)
    file(READ "${DEPFILE}" rule)
    string(REGEX REPLACE "^[^:]*:" "" rule "${rule}")
    file(WRITE "${OUTPUT}.d" "${OUTPUT}:${rule}")
endif()
