# SPDX-License-Identifier: MIT
#
# Install rules, the CMake package (find_package(weft)) and weft.pc.

if(WEFT_STATIC) # one folder, from which the command may be copied alone
    install(TARGETS weft-cli RUNTIME DESTINATION .)
    install(FILES ${weft_licence_files} "${PROJECT_SOURCE_DIR}/packaging/compiler/RELINKING.txt" "${PROJECT_BINARY_DIR}/weft.cdx.json"
            ${weft_manual} DESTINATION .)
    return()
endif()

include(CMakePackageConfigHelpers)
include(WeftPkgConfig)

set(weft_package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/weft")
install(TARGETS weft EXPORT weftTargets
    LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}"
    ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}"
    RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
if(TARGET weft-llvm)
    install(TARGETS weft-llvm LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}")
endif()
if(weft_kernels_folder)
    install(DIRECTORY "${weft_kernels_folder}" DESTINATION "${CMAKE_INSTALL_LIBDIR}")
endif()
if(TARGET weft-cli)
    install(TARGETS weft-cli RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
    # The man page and the completions, where the shells look for them.
    set(weft_completion "${PROJECT_SOURCE_DIR}/api/cli/completion")
    if(weft_manual)
        install(FILES "${weft_manual}" DESTINATION "${CMAKE_INSTALL_MANDIR}/man1")
    endif()
    install(FILES "${weft_completion}/weft.bash" RENAME weft
            DESTINATION "${CMAKE_INSTALL_DATADIR}/bash-completion/completions")
    install(FILES "${weft_completion}/weft.zsh" RENAME _weft
            DESTINATION "${CMAKE_INSTALL_DATADIR}/zsh/site-functions")
    install(FILES "${weft_completion}/weft.fish" DESTINATION "${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d")
    # Who built the command alone, as ./dev demo does, can install.
    add_dependencies(weft-cli weft)
endif()
install(DIRECTORY "${PROJECT_SOURCE_DIR}/api/include/weft" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
    FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp")
install(FILES ${weft_licence_files} "${PROJECT_BINARY_DIR}/weft.cdx.json" DESTINATION "${CMAKE_INSTALL_DOCDIR}")

install(EXPORT weftTargets NAMESPACE weft:: DESTINATION "${weft_package_dir}")
configure_package_config_file(
    "${PROJECT_SOURCE_DIR}/cmake/weftConfig.cmake.in" "${PROJECT_BINARY_DIR}/weftConfig.cmake"
    INSTALL_DESTINATION "${weft_package_dir}"
    NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file("${PROJECT_BINARY_DIR}/weftConfigVersion.cmake"
    COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/weftConfig.cmake" "${PROJECT_BINARY_DIR}/weftConfigVersion.cmake"
              "${PROJECT_SOURCE_DIR}/cmake/WeftDependencies.cmake"
        DESTINATION "${weft_package_dir}")

# weft_archive_flags(<result> <item>...): the link flags for ITEMs and everything their targets bring,
# users before what they use, for a pkg-config file that has no CMake targets to ask.
function(weft_archive_flags result_variable)
    set(flags "")
    # Each item's own walk puts it in front of what it needs; the later of two mentions counts.
    foreach(item IN LISTS ARGN)
        string(REGEX REPLACE "^\\$<LINK_ONLY:(.*)>$" "\\1" item "${item}")
        set(below "")
        if(TARGET "${item}")
            get_target_property(type "${item}" TYPE)
            get_target_property(uses "${item}" INTERFACE_LINK_LIBRARIES)
            if(uses)
                weft_archive_flags(below ${uses})
            endif()
            if(NOT type STREQUAL "INTERFACE_LIBRARY")
                set(location "")
                get_target_property(configurations "${item}" IMPORTED_CONFIGURATIONS)
                foreach(property IMPORTED_LOCATION IMPORTED_LOCATION_RELEASE IMPORTED_LOCATION_NONE)
                    get_target_property(value "${item}" ${property})
                    if(value AND NOT location)
                        set(location "${value}")
                    endif()
                endforeach()
                if(NOT location AND configurations)
                    list(GET configurations 0 configuration)
                    get_target_property(location "${item}" IMPORTED_LOCATION_${configuration})
                endif()
                cmake_path(GET location PARENT_PATH folder)
                cmake_path(GET location STEM stem)
                if(folder IN_LIST CMAKE_C_IMPLICIT_LINK_DIRECTORIES)
                    string(REGEX REPLACE "^lib" "-l" location "${stem}")
                endif()
                list(PREPEND below "${location}")
            endif()
        elseif(item MATCHES "^[-/]")
            set(below "${item}")
        elseif(item)
            set(below "-l${item}")
        endif()
        if(below)
            list(REMOVE_ITEM flags ${below})
            list(APPEND flags ${below})
        endif()
    endforeach()
    set(${result_variable} "${flags}" PARENT_SCOPE)
endfunction()

# A static libweft has no way to bring its libraries along, so its users need them all in Libs;
# --static would be wrong, since jansson, libzip and utf8proc themselves are linked as shared libraries.
set(weft_pc_libs "-lweft")
set(weft_pc_requires "")
if(NOT BUILD_SHARED_LIBS)
    set(weft_pc_requires "jansson, libzip, libutf8proc")
    set(weft_pc_items ${weft_link_libraries})
    list(REMOVE_ITEM weft_pc_items PkgConfig::WEFT_JANSSON PkgConfig::WEFT_LIBZIP PkgConfig::WEFT_UTF8PROC)
    weft_archive_flags(weft_pc_flags ${weft_pc_items})
    list(JOIN weft_pc_flags " " weft_pc_flags)
    string(APPEND weft_pc_libs " ${weft_pc_flags}")
endif()
set(weft_pc_cflags "-I\${includedir}")
get_target_property(weft_vulkan_include Vulkan::Headers INTERFACE_INCLUDE_DIRECTORIES)
if(NOT weft_vulkan_include IN_LIST CMAKE_C_IMPLICIT_INCLUDE_DIRECTORIES)
    string(APPEND weft_pc_cflags " -I${weft_vulkan_include}")
endif()
weft_pc_folders("${CMAKE_INSTALL_LIBDIR}" "${CMAKE_INSTALL_INCLUDEDIR}" "${CMAKE_INSTALL_PREFIX}")
configure_file("${PROJECT_SOURCE_DIR}/cmake/weft.pc.in" "${PROJECT_BINARY_DIR}/weft.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/weft.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
