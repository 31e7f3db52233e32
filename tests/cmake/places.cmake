# SPDX-License-Identifier: MIT
#
# No test reads or writes what its user keeps: for each, HOME is a folder of the build, and so is XDG_CACHE_HOME.

set(weft_test_home "${PROJECT_BINARY_DIR}/test-home")
file(MAKE_DIRECTORY "${weft_test_home}")
get_property(weft_tests DIRECTORY PROPERTY TESTS)
foreach(test IN LISTS weft_tests)
    get_test_property("${test}" ENVIRONMENT environment)
    set_property(TEST "${test}" APPEND PROPERTY ENVIRONMENT "HOME=${weft_test_home}")
    if(NOT environment MATCHES "XDG_CACHE_HOME=")
        set_property(TEST "${test}" APPEND PROPERTY ENVIRONMENT ${weft_same_kernels})
    endif()
endforeach()
