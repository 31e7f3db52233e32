# SPDX-License-Identifier: MIT
#
# cmake -DDEPFILE=file -DOUTPUT=file -P depfile.cmake
#
# Copies a rule that glslangValidator wrote for a module to OUTPUT.d, with OUTPUT as its target.
cmake_minimum_required(VERSION 3.25)

file(READ "${DEPFILE}" rule)
string(REGEX REPLACE "^[^:]*:" "" rule "${rule}")
file(WRITE "${OUTPUT}.d" "${OUTPUT}:${rule}")
