# SPDX-License-Identifier: MIT
#
# cmake -DWHOLE=FOLDER -DLIST=FOLDER -P lists.cmake: for each kernel of the pipelines in one folder there is one in the other, both
# of weft-pipelines: the cases that are marked kernels in tests/data/cases.txt execute each kernel of those that are marked quick.

foreach(which WHOLE LIST)
    file(GLOB ${which}_kernels RELATIVE "${${which}}" "${${which}}/*.spv")
    list(TRANSFORM ${which}_kernels REPLACE "\\..*" "")
    # Made for one transform, or of a text: each is a kernel of its own, and all are one here.
    list(TRANSFORM ${which}_kernels REPLACE "^(vkfft-[a-z0-9]+|feature-map)-.*" "\\1")
    list(REMOVE_DUPLICATES ${which}_kernels)
endforeach()
list(LENGTH WHOLE_kernels count)
list(REMOVE_ITEM WHOLE_kernels ${LIST_kernels})
if(count EQUAL 0 OR WHOLE_kernels)
    message(FATAL_ERROR "Of ${count} kernels these are in no case that is marked kernels: ${WHOLE_kernels}\n"
            "./dev cases marks cases anew.")
endif()
message(STATUS "${count} kernels")
