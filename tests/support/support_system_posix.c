/* SPDX-License-Identifier: MIT */
#include "support_system.h"

#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support.h"

void weft_test_make_folder(char path[WEFT_TEST_FOLDER_SIZE]) {
    const char *parent = getenv("TMPDIR");
    const int length = snprintf(path, WEFT_TEST_FOLDER_SIZE, "%s/weft-test-XXXXXX",
                                parent && parent[0] != '\0' ? parent : "/tmp");
    assert_in_range(length, 1, WEFT_TEST_FOLDER_SIZE - 1);
    assert_non_null(mkdtemp(path));
}

static int remove_entry(const char *path, const struct stat *about, int type, struct FTW *place) {
    (void)about;
    (void)type;
    (void)place;
    return remove(path);
}

void weft_test_remove_folder(const char *path) {
    nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

void weft_test_set_variable(const char *name, const char *value) {
    assert_int_equal(value ? setenv(name, value, 1) : unsetenv(name), 0);
}

bool weft_test_can_write_file(const char *path) {
    return access(path, R_OK | W_OK) == 0;
}

uint32_t weft_test_open_handles(void) {
    uint32_t count = 0;
    DIR *folder = opendir("/proc/self/fd");
    assert_non_null(folder);
    while (readdir(folder)) {
        count++;
    }
    closedir(folder);
    return count;
}

void weft_test_close_handle(weft_external_handle handle) {
    assert_int_equal(close((int)handle), 0);
}

int weft_test_run_again(const weft_external_handle *handles, uint32_t count) {
    int status = -1;
    const char *name = weft_test_name();
    const pid_t child = fork();
    if (child == 0) {
        for (uint32_t i = 0; i < count; i++) {
            (void)fcntl((int)handles[i], F_SETFD, 0); /* it keeps them */
        }
        execl("/proc/self/exe", "again", name, (char *)NULL);
        _exit(127);
    }
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}
