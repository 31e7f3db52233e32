# SPDX-License-Identifier: MIT
#
# cmake "-DFOLDERS=folder;..." | -DSAMPLE=folder -P places.cmake
#
# Fails where a test names a place that somebody else may have made: an absolute path that is taken for absent, or a folder for
# everybody's temporary files. weft_test_absent and weft_test_folder (tests/support/support.h), or pytest's tmp_path, are there for
# both. SAMPLE is a folder to make an example of each in.
cmake_minimum_required(VERSION 3.25)

# What finds the folder for temporary files, and where names must be short.
set(allowed "support_system_posix.c;fuzz.c;test_ray.py")

if(SAMPLE)
    file(REMOVE_RECURSE "${SAMPLE}")
    file(WRITE "${SAMPLE}/sample.c" "open(\"/nonexistent/x\");\nopen(\"/tmp/x\");\n")
    set(FOLDERS "${SAMPLE}")
endif()

set(faults "")
set(count 0)
foreach(folder IN LISTS FOLDERS)
    file(GLOB_RECURSE sources "${folder}/*.c" "${folder}/*.h" "${folder}/*.cpp" "${folder}/*.py" "${folder}/*.sh")
    foreach(source IN LISTS sources)
        math(EXPR count "${count} + 1")
        cmake_path(GET source FILENAME name)
        if(name IN_LIST allowed)
            continue()
        endif()
        file(STRINGS "${source}" lines REGEX "[\"' =]/(non-?existent|nowhere|no/such|does/not|missing|absent|tmp)")
        foreach(line IN LISTS lines)
            string(REGEX MATCH "[\"' =]/[a-z/-]+" path "${line}")
            string(APPEND faults "  ${source}: ${path}\n")
        endforeach()
    endforeach()
endforeach()
if(count EQUAL 0 OR faults)
    message(FATAL_ERROR "of ${count} files, these name places that are not theirs:\n${faults}")
endif()
message(NOTICE "${count} files name no place but their own")
