# SPDX-License-Identifier: MIT
#
# cmake -DINPUT=file -DOUTPUT=file -P embed.cmake
#
# Writes the bytes of INPUT as the inside of a C initialiser: chars with a terminating zero.
cmake_minimum_required(VERSION 3.25)

file(READ "${INPUT}" hex HEX)
# Escapes rather than numbers: bytes above 127 then convert to char without a warning.
string(REGEX REPLACE "(..)" "'\\\\x\\1',\n" text "${hex}")
string(APPEND text "0,\n")
file(WRITE "${OUTPUT}" "${text}")
