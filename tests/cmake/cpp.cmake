# SPDX-License-Identifier: MIT
#
# The C++ headers: they are what the C headers say, compile with gcc and clang as C++17 and C++20 without exceptions and RTTI,
# and do in a program what C does.

set(weft_cpp_source "${CMAKE_CURRENT_SOURCE_DIR}/cpp/wrapper.cpp")
set(weft_cpp_flags -Wall -Wextra -Wconversion -Wshadow -Wpedantic -Werror -fno-exceptions -fno-rtti)
foreach(standard 17 20)
    set(target weft-test-cpp-${standard})
    add_executable(${target} "${weft_cpp_source}")
    weft_compile_options(${target})
    set_target_properties(${target} PROPERTIES
        CXX_STANDARD ${standard} OUTPUT_NAME "wrapper-${standard}" RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests/cpp")
    target_compile_options(${target} PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:${weft_cpp_flags}>") # sanitizers add C
    target_compile_definitions(${target} PRIVATE "WEFT_SOURCE_DIR=\"${PROJECT_SOURCE_DIR}\"")
    target_link_libraries(${target} PRIVATE weft::weft ${CMAKE_DL_LIBS})
    weft_finish_program(${target})
endforeach()
# One of them with Vulkan of its own, the other without any.
if(UNIX)
    target_compile_definitions(weft-test-cpp-17 PRIVATE WITH_VULKAN)
endif()
weft_add_device_test(cpp.wrapper-17 ONE_DRIVER LABELS cpp COMMAND weft-test-cpp-17)
set(weft_cpp_driver "${weft_one_driver}")
if(weft_processors)
    set(weft_cpp_driver processor-8)
endif()
add_dependencies(weft-quick weft-test-cpp-20)
weft_add_device_test(cpp.wrapper-20 DRIVERS ${weft_cpp_driver} LABELS cpp unit COMMAND weft-test-cpp-20)

# Exceptions out of callbacks, on the processor device.
if(WEFT_HAVE_LLVM)
    add_executable(weft-test-cpp-callbacks "${CMAKE_CURRENT_SOURCE_DIR}/cpp/callbacks.cpp")
    weft_compile_options(weft-test-cpp-callbacks)
    set_target_properties(weft-test-cpp-callbacks PROPERTIES
        CXX_STANDARD 17 OUTPUT_NAME callbacks RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests/cpp")
    target_link_libraries(weft-test-cpp-callbacks PRIVATE weft::weft)
    weft_finish_program(weft-test-cpp-callbacks)
    weft_add_host_test(cpp.callbacks LABELS cpp COMMAND weft-test-cpp-callbacks)
endif()

# The compiler that this build does not have.
set(weft_other_cxx clang++)
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    set(weft_other_cxx g++)
endif()
find_program(WEFT_OTHER_CXX ${weft_other_cxx})
mark_as_advanced(WEFT_OTHER_CXX)
if(WEFT_OTHER_CXX AND NOT WEFT_SANITIZE AND NOT CMAKE_CROSSCOMPILING)
    foreach(standard 17 20)
        weft_add_host_test(cpp.compiles-${weft_other_cxx}-${standard} LABELS cpp
            COMMAND "${WEFT_OTHER_CXX}" -std=c++${standard} ${weft_cpp_flags} -DWITH_VULKAN "-DWEFT_SOURCE_DIR=\"\""
                    "-I$<JOIN:$<TARGET_PROPERTY:weft,INTERFACE_INCLUDE_DIRECTORIES>,;-I>" -fsyntax-only "${weft_cpp_source}"
            COMMAND_EXPAND_LISTS)
    endforeach()
endif()
# What is asked for: a value that throws.
if(NOT WEFT_SANITIZE)
    weft_add_host_test(cpp.exceptions LABELS cpp
        COMMAND "${CMAKE_CXX_COMPILER}" -std=c++17 -Wall -Wextra -Wpedantic -Werror "-I${PROJECT_SOURCE_DIR}/api/include"
                -fsyntax-only "${CMAKE_CURRENT_SOURCE_DIR}/cpp/exceptions.cpp")
endif()

# The headers in the repository are those that the generator makes; it notices a function of a form that it does not know, and
# the comparison one that it does.
find_package(Python 3.9 QUIET COMPONENTS Interpreter)
if(Python_Interpreter_FOUND AND NOT WEFT_SANITIZE)
    set(weft_cpp_check "${CMAKE_COMMAND}" "-DPYTHON=${Python_EXECUTABLE}" "-DWORK=${CMAKE_CURRENT_BINARY_DIR}/cpp")
    weft_add_host_test(cpp.headers LABELS cpp COMMAND ${weft_cpp_check} -DNAME=headers -P tests/cpp/headers.cmake)
    weft_add_host_test(cpp.headers.new LABELS cpp
        COMMAND ${weft_cpp_check} -DNAME=new "-DADD=weft_status weft_plan_turn(weft_plan *plan, uint32_t times)"
                -P tests/cpp/headers.cmake)
    set_tests_properties(cpp.headers.new PROPERTIES PASS_REGULAR_EXPRESSION "weft\\.hpp is not what")
    weft_add_host_test(cpp.headers.unknown LABELS cpp
        COMMAND ${weft_cpp_check} -DNAME=unknown "-DADD=weft_status weft_plan_turn(weft_plan *plan, uint32_t **times)"
                -P tests/cpp/headers.cmake)
    set_tests_properties(cpp.headers.unknown PROPERTIES PASS_REGULAR_EXPRESSION "weft_plan_turn: there is no rule")
endif()

# The example prints what its twin in C does.
if(WEFT_BUILD_EXAMPLES AND NOT CMAKE_CROSSCOMPILING)
    weft_add_device_test(cpp.quickstart DRIVERS ${weft_cpp_driver} LABELS cpp
        COMMAND "${CMAKE_COMMAND}" "-DC=$<TARGET_FILE:weft-example-quickstart>"
                "-DCXX=$<TARGET_FILE:weft-example-quickstart-cpp>" -P tests/cpp/quickstart.cmake)
endif()
