# SPDX-License-Identifier: MIT
#
# cmake -DWAY=install|find_package|components|preset|example|pkg_config|add_subdirectory ... -P consume.cmake
cmake_minimum_required(VERSION 3.25)

# run(<command>...): stops the test with the output if the command fails.
function(run)
    execute_process(COMMAND ${ARGN} RESULT_VARIABLE result
                    OUTPUT_VARIABLE text ERROR_VARIABLE text ECHO_OUTPUT_VARIABLE ECHO_ERROR_VARIABLE)
    if(NOT result EQUAL 0)
        list(JOIN ARGN " " line)
        message(FATAL_ERROR "${WAY}: '${line}' came to ${result}")
    endif()
    set(output "${text}" PARENT_SCOPE)
endfunction()

# expect_version(<program>): the consumer prints the version it got from the library.
function(expect_version)
    run(${ARGN})
    string(STRIP "${output}" output)
    if(NOT output STREQUAL "weft ${VERSION} WEFT_OK")
        message(FATAL_ERROR "${WAY}: the consumer printed '${output}', expected 'weft ${VERSION} WEFT_OK'")
    endif()
endfunction()

set(prefix "${STAGE}/prefix")
set(work "${STAGE}/${WAY}${PRESET}")
file(REMOVE_RECURSE "${work}")

# configure_and_build(<with C++> <-D...>...): the consumer project. Without C++ in the project at all,
# CMake links by the C compiler, and libweft itself must say that it needs the C++ library.
function(configure_and_build with_cxx)
    set(work "${work}/cxx-${with_cxx}")
    run("${CMAKE_COMMAND}" -S "${CONSUMER}" -B "${work}" -G "${GENERATOR}"
        "-DCMAKE_MAKE_PROGRAM=${MAKE}" "-DCMAKE_C_COMPILER=${CC}" "-DCMAKE_CXX_COMPILER=${CXX}"
        "-DWEFT_WAY=${WAY}" "-DWEFT_WITH_CXX=${with_cxx}" ${ARGN})
    run("${CMAKE_COMMAND}" --build "${work}" --parallel 2)
    expect_version("${work}/consumer_c")
    if(with_cxx)
        expect_version("${work}/consumer_cxx")
    endif()
endfunction()

if(WAY STREQUAL "install")
    # What is installed beside the command is built with it: nobody has to build all to install.
    if(WITH_COMMAND AND GENERATOR STREQUAL "Ninja")
        execute_process(COMMAND "${MAKE}" -C "${BINARY}" -t commands weft-cli OUTPUT_VARIABLE commands
                        COMMAND_ERROR_IS_FATAL ANY)
        cmake_path(GET LIBRARY FILENAME library)
        string(FIND "${commands}" "${library}" position)
        if(position EQUAL -1)
            message(FATAL_ERROR "install: building the command alone does not build ${library}")
        endif()
    endif()
    file(REMOVE_RECURSE "${prefix}")
    run("${CMAKE_COMMAND}" --install "${BINARY}" --prefix "${prefix}")
    file(GLOB_RECURSE expected RELATIVE "${SOURCE}/api" "${SOURCE}/api/include/*.h" "${SOURCE}/api/include/*.hpp")
    if(WITH_COMMAND)
        list(APPEND expected bin/weft share/man/man1/weft.1 share/bash-completion/completions/weft
             share/zsh/site-functions/_weft share/fish/vendor_completions.d/weft.fish)
    endif()
    list(APPEND expected share/doc/weft/LICENSE share/doc/weft/THIRD-PARTY-NOTICES.txt share/doc/weft/weft.cdx.json)
    foreach(file IN LISTS expected)
        if(NOT EXISTS "${prefix}/${file}")
            message(FATAL_ERROR "install: ${prefix}/${file} is missing")
        endif()
    endforeach()
    # Nothing that is installed may point back at this machine's source or build tree.
    file(GLOB_RECURSE texts "${prefix}/*.cmake" "${prefix}/*.pc" "${prefix}/*.h" "${prefix}/*.hpp")
    foreach(file IN LISTS texts)
        file(READ "${file}" text)
        foreach(tree "${SOURCE}/" "${BINARY}/")
            string(FIND "${text}" "${tree}" position)
            if(NOT position EQUAL -1)
                message(FATAL_ERROR "install: ${file} mentions ${tree}")
            endif()
        endforeach()
    endforeach()
elseif(WAY STREQUAL "find_package")
    configure_and_build(OFF "-DCMAKE_PREFIX_PATH=${prefix}")
    configure_and_build(ON "-DCMAKE_PREFIX_PATH=${prefix}")
elseif(WAY STREQUAL "components")
    # What it is and has is found, and nothing else.
    set(has "")
    set(lacks unheard-of)
    foreach(component shared static processor sentencepiece)
        if(HAS_${component})
            list(APPEND has ${component})
        else()
            list(APPEND lacks ${component})
        endif()
    endforeach()
    configure_and_build(OFF "-DCMAKE_PREFIX_PATH=${prefix}" "-DWEFT_COMPONENTS=${has}")
    foreach(component IN LISTS lacks)
        execute_process(COMMAND "${CMAKE_COMMAND}" -S "${CONSUMER}" -B "${work}/lacks-${component}" -G "${GENERATOR}"
                "-DCMAKE_MAKE_PROGRAM=${MAKE}" "-DCMAKE_C_COMPILER=${CC}" "-DCMAKE_PREFIX_PATH=${prefix}"
                "-DWEFT_WAY=find_package" "-DWEFT_COMPONENTS=${component}"
            RESULT_VARIABLE result OUTPUT_QUIET ERROR_VARIABLE text)
        if(result EQUAL 0 OR NOT text MATCHES "${component}")
            message(FATAL_ERROR "components: ${component} was found, or the message does not name it: ${text}")
        endif()
    endforeach()
elseif(WAY STREQUAL "preset")
    # As one does by hand: the preset, and where Weft is in the environment.
    set(ENV{CMAKE_PREFIX_PATH} "${prefix}")
    set(ENV{WEFT_SOURCE} "${SOURCE}")
    file(COPY "${CONSUMER}" DESTINATION "${work}")
    run("${CMAKE_COMMAND}" -S "${work}/consumer" --preset "${PRESET}" -G "${GENERATOR}" "-DCMAKE_MAKE_PROGRAM=${MAKE}"
        "-DCMAKE_C_COMPILER=${CC}" "-DCMAKE_CXX_COMPILER=${CXX}" "-DVKFFT_INCLUDE_DIR=${VKFFT}")
    execute_process(COMMAND "${CMAKE_COMMAND}" --build --preset "${PRESET}" --parallel 2 WORKING_DIRECTORY "${work}/consumer"
                    COMMAND_ERROR_IS_FATAL ANY)
    expect_version("${work}/consumer/build/${PRESET}/consumer_c")
    expect_version("${work}/consumer/build/${PRESET}/consumer_cxx")
    if(PRESET STREQUAL "shared")
        file(GLOB_RECURSE libraries "${work}/consumer/build/libweft.so.${VERSION}")
        run("${CMAKE_COMMAND}" "-DREADELF=${READELF}" "-DFILES=${libraries}" "-DTREES=${SOURCE};${work};${VKFFT}"
            -P "${CMAKE_CURRENT_LIST_DIR}/hardening.cmake")
    endif()
elseif(WAY STREQUAL "example")
    run("${CMAKE_COMMAND}" -S "${SOURCE}/api/examples/mixer" -B "${work}" -G "${GENERATOR}"
        "-DCMAKE_MAKE_PROGRAM=${MAKE}" "-DCMAKE_C_COMPILER=${CC}" -DCMAKE_BUILD_TYPE=Release
        "-DCMAKE_PREFIX_PATH=${prefix}" -DCMAKE_COMPILE_WARNING_AS_ERROR=ON)
    run("${CMAKE_COMMAND}" --build "${work}" --parallel 2)
elseif(WAY STREQUAL "add_subdirectory")
    configure_and_build(ON "-DWEFT_SOURCE=${SOURCE}" "-DVKFFT_INCLUDE_DIR=${VKFFT}"
                        "-DCMAKE_BUILD_TYPE=Debug")
elseif(WAY STREQUAL "pkg_config")
    file(MAKE_DIRECTORY "${work}")
    set(ENV{PKG_CONFIG_PATH} "${prefix}/${LIBDIR}/pkgconfig")
    set(ENV{LD_LIBRARY_PATH} "${prefix}/${LIBDIR}")
    run("${PKG_CONFIG}" --exact-version "${VERSION}" weft)
    run("${PKG_CONFIG}" --cflags --libs weft)
    separate_arguments(flags UNIX_COMMAND "${output}")
    run("${CC}" -std=c11 "${CONSUMER}/consumer.c" -o "${work}/consumer_c" ${flags})
    expect_version("${work}/consumer_c")
    run("${CXX}" -std=c++17 -x c++ "${CONSUMER}/consumer.c" -x none -o "${work}/consumer_cxx" ${flags})
    expect_version("${work}/consumer_cxx")
else()
    message(FATAL_ERROR "WAY is '${WAY}'")
endif()
