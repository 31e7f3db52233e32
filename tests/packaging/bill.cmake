# SPDX-License-Identifier: MIT
#
# cmake -DBILL=weft.cdx.json -DVERSION=version -P bill.cmake
#
# The bill of materials has what CycloneDX 1.5 asks of it, Weft's version, and of each part that the notices name a licence, a purl
# and, where its version can be read, that; every reference is to something in it.
cmake_minimum_required(VERSION 3.25)

file(READ "${BILL}" bill)

# expect(<value> <key>...): what is there.
function(expect value)
    string(JSON found ERROR_VARIABLE error GET "${bill}" ${ARGN})
    if(error OR NOT found STREQUAL value)
        message(FATAL_ERROR "${BILL}: ${ARGN} is '${found}', expected '${value}'")
    endif()
endfunction()
expect(CycloneDX bomFormat)
expect(1.5 specVersion)
expect(1 version)
expect(weft metadata component name)
expect("${VERSION}" metadata component version)
expect(weft dependencies 0 ref)

set(refs "")
string(JSON count LENGTH "${bill}" components)
math(EXPR last "${count} - 1")
foreach(index RANGE ${last})
    expect(library components ${index} type)
    foreach(key name bom-ref purl)
        string(JSON ${key} GET "${bill}" components ${index} ${key})
    endforeach()
    string(JSON licence GET "${bill}" components ${index} licenses 0 expression)
    string(JSON version ERROR_VARIABLE error GET "${bill}" components ${index} version)
    if(NOT purl MATCHES "^pkg:[a-z]+/[^@]+(@[0-9].*)?$" OR licence STREQUAL "" OR bom-ref IN_LIST refs)
        message(FATAL_ERROR "${BILL}: ${name} has the purl ${purl} and the licence '${licence}'")
    endif()
    if(error AND NOT name MATCHES "^(SPIRV-Headers|OpenCL-Headers|LLVM|glibc)$")
        message(FATAL_ERROR "${BILL}: ${name} has no version")
    endif()
    list(APPEND refs "${bom-ref}")
    expect("${bom-ref}" dependencies 0 dependsOn ${index})
endforeach()
foreach(name VkFFT volk glslang jansson libzip utf8proc Chart.js)
    if(NOT name IN_LIST refs)
        message(FATAL_ERROR "${BILL}: ${name} is missing")
    endif()
endforeach()
message(NOTICE "${count} components: ${refs}")
