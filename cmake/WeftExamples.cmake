# SPDX-License-Identifier: MIT
#
# Each api/examples/<name>.c is a program of its own, <build>/examples/<name>.

file(GLOB weft_examples CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/api/examples/*.c")
foreach(source IN LISTS weft_examples)
    cmake_path(GET source STEM name)
    add_executable(weft-example-${name} "${source}")
    weft_compile_options(weft-example-${name})
    target_link_libraries(weft-example-${name} PRIVATE weft::weft m)
    set_target_properties(weft-example-${name} PROPERTIES
        OUTPUT_NAME "${name}" RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/examples")
    weft_finish_program(weft-example-${name})
endforeach()

# Programs of other libraries' that take Weft in, each a folder: built where their libraries are.
# weft_example_host(<name> <what it needs> <found>)
function(weft_example_host name needs found)
    string(TOUPPER "WEFT_EXAMPLE_${name}" option)
    set(${option} AUTO CACHE STRING "api/examples/${name}, which needs ${needs}: AUTO (if installed), ON or OFF")
    set_property(CACHE ${option} PROPERTY STRINGS AUTO ON OFF)
    if(${option} STREQUAL "ON" AND NOT found)
        message(FATAL_ERROR "${option} is ON, but ${needs} was not found.")
    endif()
    if(NOT ${option} STREQUAL "OFF" AND found)
        add_subdirectory("${PROJECT_SOURCE_DIR}/api/examples/${name}" "${PROJECT_BINARY_DIR}/examples/${name}-build")
        message(STATUS "Example ${name}: built")
    endif()
endfunction()

set(weft_have_loader FALSE)
if(TARGET Vulkan::Vulkan)
    set(weft_have_loader TRUE)
endif()
find_package(glfw3 3.3 QUIET)
set(weft_have_window FALSE)
if(glfw3_FOUND AND weft_have_loader)
    set(weft_have_window TRUE)
endif()
weft_example_host(window "GLFW 3.3 (libglfw3-dev)" ${weft_have_window})

find_package(PkgConfig QUIET)
pkg_check_modules(WEFT_EXAMPLE_HAVE_LIBPLACEBO QUIET "libplacebo>=4.202")
set(weft_have_libplacebo FALSE)
if(WEFT_EXAMPLE_HAVE_LIBPLACEBO_FOUND AND weft_have_loader)
    set(weft_have_libplacebo TRUE)
endif()
weft_example_host(libplacebo "libplacebo 4.202 (libplacebo-dev)" ${weft_have_libplacebo})
