# SPDX-License-Identifier: MIT
#
# A second implementation of the numerics, api/examples/referee, against the published vectors of docs/vectors. It has NumPy alone; that the
# vectors notice each broken rule is shown by breaking them. The library must give the vectors, too, which takes long with an empty cache.

if(NOT WEFT_BUILD_PYTHON OR WEFT_SANITIZE)
    return()
endif()

weft_add_host_test(referee.vectors LABELS referee COMMAND "${Python_EXECUTABLE}" -B api/examples/referee)
set_tests_properties(referee.vectors PROPERTIES PASS_REGULAR_EXPRESSION "(^|\n)100 of 100 vectors agree")
weft_add_host_test(referee.flaws LABELS referee COMMAND "${Python_EXECUTABLE}" -B api/examples/referee --flaws)

# A vector with one other bit in its hash is noticed by name.
file(READ "${PROJECT_SOURCE_DIR}/docs/vectors/vectors.json" weft_vectors)
string(REGEX REPLACE "(\"name\": \"softmax of 2309\"[^\n]*\"sha256\": \")[0-9a-f]" "\\1g" weft_vectors "${weft_vectors}")
file(WRITE "${CMAKE_CURRENT_BINARY_DIR}/changed-vectors.json" "${weft_vectors}")
weft_add_host_test(referee.noticed LABELS referee
    COMMAND "${Python_EXECUTABLE}" -B api/examples/referee --filter "softmax of" "${CMAKE_CURRENT_BINARY_DIR}/changed-vectors.json")
set_tests_properties(referee.noticed PROPERTIES PASS_REGULAR_EXPRESSION "softmax of 2309 .*sha256 is [0-9a-f]+, expected g")

weft_add_device_test(referee.library DRIVERS ${weft_python_driver} LABELS referee long
    COMMAND "${Python_EXECUTABLE}" -B api/examples/referee/make_vectors.py --check)
set_property(TEST "referee.library.${weft_python_driver}" APPEND PROPERTY ENVIRONMENT "PYTHONPATH=${PROJECT_BINARY_DIR}/python")
