/* SPDX-License-Identifier: MIT */
#include "eval/names.h"

#include <string.h>

#include "core/system/system.h"

const char *weft_cli_last_part(const char *path, int *length) {
    size_t end = strlen(path);
    while (end > 1 && weft_system_is_separator(path[end - 1])) {
        end--;
    }
    size_t begin = end;
    while (begin > 0 && !weft_system_is_separator(path[begin - 1])) {
        begin--;
    }
    *length = (int)(end - begin);
    return path + begin;
}

int weft_cli_common_prefix(const char *const *models, uint32_t count) {
    int length;
    const char *first = weft_cli_last_part(models[0], &length);
    int common = count > 1 ? length - 1 : 0;
    for (uint32_t index = 1; index < count; index++) {
        int other_length;
        const char *other = weft_cli_last_part(models[index], &other_length);
        int same = 0;
        while (same < common && same < other_length - 1 && first[same] == other[same]) {
            same++;
        }
        common = same;
    }
    while (common > 0 && first[common - 1] != '-') {
        common--;
    }
    return common;
}

bool weft_cli_last_parts_differ(const char *const *models, uint32_t count) {
    for (uint32_t first = 0; first < count; first++) {
        for (uint32_t second = first + 1; second < count; second++) {
            int lengths[2];
            const char *one = weft_cli_last_part(models[first], &lengths[0]);
            const char *other = weft_cli_last_part(models[second], &lengths[1]);
            if (lengths[0] == lengths[1] && strncmp(one, other, (size_t)lengths[0]) == 0) {
                return false;
            }
        }
    }
    return true;
}
