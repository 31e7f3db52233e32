# SPDX-License-Identifier: MIT
#
# The Python package's tests, api/python/tests: pytest, a ctest test for each file. Where the processor is a device they run
# on it, without any driver, or else on one driver. `# weft-test: long` in the first lines of a file keeps it out of ./dev test:
# what needs PyTorch, which ./dev test all installs, and what takes long; `# weft-test: cases` leaves it to ./dev test cases. Models whole, on one Vulkan driver and for ./dev test cases on each.
# PyTorch has one thread: two that wait for each other beside other tests took eleven times as long.

if(NOT WEFT_BUILD_PYTHON OR WEFT_SANITIZE)
    return()
endif()

set(weft_python_driver "${weft_one_driver}")
if(weft_processors)
    set(weft_python_driver processor-8)
endif()
set(weft_python_folder "${PROJECT_SOURCE_DIR}/api/python")
file(GLOB sources CONFIGURE_DEPENDS "${weft_python_folder}/tests/test_*.py")

# weft_add_python_test(<test> <source> LABELS <label>... ENVIRONMENT <variable>...)
function(weft_add_python_test test source)
    cmake_parse_arguments(PARSE_ARGV 2 PYTHON "" "" "LABELS;ENVIRONMENT")
    weft_add_device_test("${test}" DRIVERS ${weft_python_driver} LABELS python ${PYTHON_LABELS}
        COMMAND "${Python_EXECUTABLE}" -m pytest -q -p no:cacheprovider "${source}")
    set_property(TEST "${test}.${weft_python_driver}" APPEND PROPERTY ENVIRONMENT
        "PYTHONPATH=${PROJECT_BINARY_DIR}/python" PYTHONDONTWRITEBYTECODE=1 OMP_NUM_THREADS=1 ${PYTHON_ENVIRONMENT})
endfunction()

foreach(source IN LISTS sources)
    cmake_path(GET source STEM stem)
    string(REGEX REPLACE "^test_" "" short "${stem}")
    file(STRINGS "${source}" head LIMIT_COUNT 3)
    set(labels "")
    if(head MATCHES "# weft-test: (long|cases)")
        set(labels long)
        if(CMAKE_MATCH_1 STREQUAL "cases")
            list(APPEND labels cases)
        endif()
    endif()
    weft_add_python_test("python.${short}" "${source}" LABELS ${labels})
    file(STRINGS "${source}" several REGEX "vulkan_settings\\(.*,.*\\)" LIMIT_COUNT 1)
    if(several)
        weft_add_python_test("python.cases.${short}" "${source}" LABELS long cases ENVIRONMENT WEFT_TEST_EVERY_DRIVER=1)
    endif()
endforeach()

# Types and style, with what ./dev test all installs.
weft_add_host_test(python.types LABELS python long
    COMMAND "${Python_EXECUTABLE}" -m mypy --config-file "${weft_python_folder}/pyproject.toml"
            --cache-dir "${PROJECT_BINARY_DIR}/mypy" "${PROJECT_BINARY_DIR}/python/weft")
weft_add_host_test(python.style LABELS python long
    COMMAND "${Python_EXECUTABLE}" -m ruff check --no-cache --config "${weft_python_folder}/pyproject.toml"
            "${weft_python_folder}")
