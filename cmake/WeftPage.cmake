# SPDX-License-Identifier: MIT
#
# The page that `weft bench --html` writes, as C arrays: bench/page/* and Chart.js, which goes into every page so that it needs
# nothing else. Sets weft_page_source to the C file with the table of them.

find_file(WEFT_CHART_JS NAMES chart.min.js Chart.min.js
    PATHS /usr/share/javascript/chart.js /usr/share/nodejs/chart.js/dist NO_DEFAULT_PATH NO_CMAKE_FIND_ROOT_PATH
    DOC "Chart.js 3, the minified file that defines Chart")
if(NOT WEFT_CHART_JS)
    message(FATAL_ERROR "The weft command cannot be built here: Chart.js (libjs-chart.js) was not found.\n"
            "On Debian, ./dev setup installs everything; elsewhere, download Chart.js 3 and pass "
            "-DWEFT_CHART_JS=<its chart.min.js>. -DWEFT_BUILD_CLI=OFF builds the library alone.")
endif()
file(STRINGS "${WEFT_CHART_JS}" weft_chart_version LIMIT_COUNT 5 REGEX "Chart\\.js v[0-9]")
if(NOT weft_chart_version MATCHES "v3\\.")
    message(FATAL_ERROR "WEFT_CHART_JS is ${WEFT_CHART_JS}: expected Chart.js 3, found '${weft_chart_version}'.")
endif()

file(GLOB weft_page_files CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/bench/page/*.html"
     "${PROJECT_SOURCE_DIR}/bench/page/*.css" "${PROJECT_SOURCE_DIR}/bench/page/*.js")
set(weft_page_dir "${PROJECT_BINARY_DIR}/page")
file(MAKE_DIRECTORY "${weft_page_dir}")
set(weft_page_arrays "")
set(weft_page_rows "")
set(weft_page_initialisers "")
set(weft_page_index 0)

# weft_embed_page_part(<name in the page> <file>)
macro(weft_embed_page_part name file)
    set(initialiser "${weft_page_dir}/${name}.inc")
    weft_embed("${file}" "${initialiser}" "${name}")
    list(APPEND weft_page_initialisers "${initialiser}")
    string(APPEND weft_page_arrays
           "static const char part_${weft_page_index}[] = {\n#include \"${initialiser}\"\n};\n")
    string(APPEND weft_page_rows
           "    {\"${name}\", part_${weft_page_index}, sizeof part_${weft_page_index} - 1},\n")
    math(EXPR weft_page_index "${weft_page_index} + 1")
endmacro()

weft_embed_page_part(chart.js "${WEFT_CHART_JS}")
foreach(file IN LISTS weft_page_files)
    cmake_path(GET file FILENAME name)
    weft_embed_page_part("${name}" "${file}")
endforeach()
set(weft_page_source "${weft_page_dir}/page_parts.c")
configure_file("${PROJECT_SOURCE_DIR}/cmake/page_parts.c.in" "${weft_page_source}" @ONLY)
set_source_files_properties("${weft_page_source}" PROPERTIES OBJECT_DEPENDS "${weft_page_initialisers}")
