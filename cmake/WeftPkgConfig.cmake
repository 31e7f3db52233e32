# SPDX-License-Identifier: MIT
#
# weft_pc_folders(<library folder> <include folder> <prefix>): sets weft_pc_prefix, weft_pc_libdir and weft_pc_includedir for weft.pc.in.
# Folders are relative to the prefix or absolute, as packagers give them (GNUInstallDirs). Relative ones are found from where the
# file is, so that `cmake --install --prefix` and moved trees work; where the file's own folder is absolute, so is the prefix.
function(weft_pc_folders libdir includedir prefix)
    if(IS_ABSOLUTE "${libdir}")
        set(weft_pc_prefix "${prefix}" PARENT_SCOPE)
    else()
        file(RELATIVE_PATH up "/${libdir}/pkgconfig" "/")
        string(REGEX REPLACE "/$" "" up "${up}")
        set(weft_pc_prefix "\${pcfiledir}/${up}" PARENT_SCOPE)
    endif()
    foreach(folder libdir includedir)
        if(IS_ABSOLUTE "${${folder}}")
            set(weft_pc_${folder} "${${folder}}" PARENT_SCOPE)
        else()
            set(weft_pc_${folder} "\${prefix}/${${folder}}" PARENT_SCOPE)
        endif()
    endforeach()
endfunction()
