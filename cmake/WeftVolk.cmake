# SPDX-License-Identifier: MIT
#
# volk defines a global for every Vulkan function, named like the function. In a static libweft they would clash with
# the host program's own volk or loader, so volk_unit.c compiles volk under other names: this writes the header that
# renames everything volk.h declares, for whatever version of volk is installed.

file(READ "${WEFT_VOLK_INCLUDE_DIR}/volk.h" weft_volk_text)
string(REGEX MATCHALL "extern PFN_vk[A-Za-z0-9_]+ vk[A-Za-z0-9_]+|[ \n]volk[A-Z][A-Za-z0-9]*\\(" weft_volk_declarations
       "${weft_volk_text}")
set(weft_volk_renames "")
foreach(declaration IN LISTS weft_volk_declarations)
    string(REGEX MATCH "(vk|volk)[A-Z][A-Za-z0-9_]*\\(?$" name "${declaration}")
    string(REPLACE "(" "" name "${name}")
    list(APPEND weft_volk_renames "#define ${name} weft_volk_${name}")
endforeach()
list(REMOVE_DUPLICATES weft_volk_renames)
list(JOIN weft_volk_renames "\n" weft_volk_renames)
file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/volk/volk_names.h"
     CONTENT "/* Generated from volk.h by cmake/WeftVolk.cmake. */\n@weft_volk_renames@\n" @ONLY)
