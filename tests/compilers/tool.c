/* SPDX-License-Identifier: MIT */
#include "tool.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static bool redirect(posix_spawn_file_actions_t *actions, int to, const char *path) {
    return posix_spawn_file_actions_addopen(actions, to, path, O_WRONLY | O_CREAT | O_TRUNC,
                                            0644) == 0;
}

bool weft_run_tool(const char *const arguments[], const char *output, const char *errors) {
    posix_spawn_file_actions_t actions;
    pid_t process = 0;
    int status = 0;
    if (posix_spawn_file_actions_init(&actions) != 0) {
        return false;
    }
    const bool is_started =
        redirect(&actions, STDOUT_FILENO, output) && redirect(&actions, STDERR_FILENO, errors) &&
        posix_spawnp(&process, arguments[0], &actions, NULL, (char *const *)arguments, environ) ==
            0;
    posix_spawn_file_actions_destroy(&actions);
    return is_started && waitpid(process, &status, 0) == process && WIFEXITED(status) &&
           WEXITSTATUS(status) == 0;
}
