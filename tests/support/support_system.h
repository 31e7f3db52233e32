/* SPDX-License-Identifier: MIT */
/* Temporary folders, handles and processes: support_system_posix.c, support_system_windows.c, which have weft_test_set_variable, too. */
#ifndef WEFT_TESTS_SUPPORT_SYSTEM_H
#define WEFT_TESTS_SUPPORT_SYSTEM_H

#include <stdbool.h>
#include <stdint.h>

#include <weft/external.h>

#define WEFT_TEST_FOLDER_SIZE 1024

/** Makes a new one; fails the test if that fails. */
void weft_test_make_folder(char path[WEFT_TEST_FOLDER_SIZE]);
/** With all that is in it. */
void weft_test_remove_folder(const char *path);

bool weft_test_can_write_file(const char *path);

/** How many handles this process has open. */
uint32_t weft_test_open_handles(void);
void weft_test_close_handle(weft_external_handle handle);
/** Runs this file's tests again, in a process of their own, with these handles open in it as they are here; the status that it ends with. */
int weft_test_run_again(const weft_external_handle *handles, uint32_t count);

#endif
