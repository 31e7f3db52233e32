# SPDX-License-Identifier: MIT
#
# Each api/examples/<name>.c is a program of its own, <build>/examples/<name>, and <name>.cpp one called <name>-cpp.

file(GLOB weft_examples CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/api/examples/*.c"
     "${PROJECT_SOURCE_DIR}/api/examples/*.cpp")
find_package(OpenCL QUIET) # opencl.c has OpenCL of its own: the loader is linked
if(NOT TARGET OpenCL::OpenCL)
    list(FILTER weft_examples EXCLUDE REGEX "/opencl\\.c$")
endif()
foreach(source IN LISTS weft_examples)
    cmake_path(GET source STEM name)
    if(source MATCHES "\\.cpp$")
        string(APPEND name "-cpp")
    endif()
    add_executable(weft-example-${name} "${source}")
    weft_compile_options(weft-example-${name})
    target_link_libraries(weft-example-${name} PRIVATE weft::weft m)
    if(name STREQUAL "opencl")
        target_link_libraries(weft-example-opencl PRIVATE OpenCL::OpenCL)
    endif()
    set_target_properties(weft-example-${name} PROPERTIES
        OUTPUT_NAME "${name}" RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/examples")
    weft_finish_program(weft-example-${name})
endforeach()

# Programs of other libraries' that take Weft in, each a folder: built where their libraries and Vulkan's loader are.
# weft_example_host(<name> <what it needs> <variable that says whether that was found>)
function(weft_example_host name needs found)
    string(TOUPPER "WEFT_EXAMPLE_${name}" option)
    set(${option} AUTO CACHE STRING "api/examples/${name}, with ${needs}: AUTO (if installed, and not cross-compiling), ON or OFF")
    set_property(CACHE ${option} PROPERTY STRINGS AUTO ON OFF)
    if(${option} STREQUAL "ON" AND NOT (${found} AND TARGET Vulkan::Vulkan))
        message(FATAL_ERROR "${option} is ON, but ${needs} or Vulkan's loader was not found.\n"
                "On Debian, ./dev test all installs everything.")
    endif()
    if(${option} STREQUAL "ON" OR
       (${option} STREQUAL "AUTO" AND ${found} AND TARGET Vulkan::Vulkan AND NOT CMAKE_CROSSCOMPILING))
        add_subdirectory("${PROJECT_SOURCE_DIR}/api/examples/${name}" "${PROJECT_BINARY_DIR}/examples/${name}-build")
        message(STATUS "Example ${name}: built")
    endif()
endfunction()

find_package(glfw3 3.3 QUIET)
pkg_check_modules(WEFT_HAVE_LIBPLACEBO QUIET "libplacebo>=4.202")
pkg_check_modules(WEFT_HAVE_FFMPEG QUIET "libavutil>=57" "libavcodec>=59" "libavformat>=59")
find_program(WEFT_GODOT NAMES godot godot4)
mark_as_advanced(WEFT_GODOT)
weft_example_host(window "GLFW 3.3 (libglfw3-dev)" glfw3_FOUND)
weft_example_host(libplacebo "libplacebo 4.202 (libplacebo-dev)" WEFT_HAVE_LIBPLACEBO_FOUND)
weft_example_host(ffmpeg "FFmpeg 5 (libavcodec-dev, libavformat-dev, libavutil-dev)" WEFT_HAVE_FFMPEG_FOUND)
weft_example_host(godot "Godot 4.4 (godot)" WEFT_GODOT)
