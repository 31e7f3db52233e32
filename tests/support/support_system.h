/* SPDX-License-Identifier: MIT */
/* Temporary folders: support_system_posix.c, support_system_windows.c, which have weft_test_set_variable, too. */
#ifndef WEFT_TESTS_SUPPORT_SYSTEM_H
#define WEFT_TESTS_SUPPORT_SYSTEM_H

#define WEFT_TEST_FOLDER_SIZE 1024

/** Makes a new one; fails the test if that fails. */
void weft_test_make_folder(char path[WEFT_TEST_FOLDER_SIZE]);
/** With all that is in it. */
void weft_test_remove_folder(const char *path);

#endif
