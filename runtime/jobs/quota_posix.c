/* SPDX-License-Identifier: MIT */
/*
 * Control groups of Linux: version 2 has "cpu.max", "QUOTA PERIOD" or "max PERIOD", and version 1 "cpu.cfs_quota_us", -1 for none, and
 * "cpu.cfs_period_us" (Documentation/admin-guide/cgroup-v2.rst, scheduler/sched-bwc.rst); "memory.max" and, of version 1,
 * "memory.limit_in_bytes" are bytes (cgroup-v1/memory.rst). A group has no more than those that it is in, so that the least limit from the
 * process's own up to where they are mounted counts. What lies above a container's own root cannot be seen.
 */
#include "jobs/quota.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define NONE      UINT64_MAX
#define LINE_SIZE ((size_t)4096)
#define PATH_SIZE ((size_t)1024)

/* ---- files ---- */

static FILE *open_in(const char *folder, const char *name) {
    char path[3 * PATH_SIZE];
    const int length = snprintf(path, sizeof path, "%s/%s", folder, name);
    return length > 0 && (size_t)length < sizeof path ? fopen(path, "re") : NULL;
}

/* The next line, without its end; one that does not fit, such as of an overlay of many layers, is left out. */
static bool next_line(char line[LINE_SIZE], FILE *stream) {
    while (fgets(line, (int)LINE_SIZE, stream)) {
        const size_t length = strcspn(line, "\n");
        if (line[length] == '\n' || length + 1 < LINE_SIZE) {
            line[length] = '\0';
            return true;
        }
        int letter = 0;
        while (letter != '\n' && letter != EOF) {
            letter = fgetc(stream);
        }
    }
    return false;
}

static bool read_line(char line[LINE_SIZE], const char *folder, const char *name) {
    FILE *stream = open_in(folder, name);
    const bool found = stream && next_line(line, stream);
    if (stream) {
        (void)fclose(stream);
    }
    return found;
}

/* ---- the limits of a group ---- */

static uint64_t processors(uint64_t quota, uint64_t period) {
    if (quota == 0 || period == 0) {
        return NONE;
    }
    return quota / period + (quota % period != 0);
}

/* The number that a text begins with; 0 for -1, max, and what is no number. */
static uint64_t number_of(const char *text) {
    uint64_t number = 0;
    for (; *text >= '0' && *text <= '9' && number < UINT64_MAX / 10 - 1; text++) {
        number = number * 10 + (uint64_t)(*text - '0');
    }
    return number;
}

static uint64_t time_of(const char *group, bool second) {
    char quota[LINE_SIZE] = "", period[LINE_SIZE] = "";
    if (second) {
        if (!read_line(quota, group, "cpu.max")) {
            return NONE;
        }
        const char *gap = strchr(quota, ' ');
        return gap ? processors(number_of(quota), number_of(gap + 1)) : NONE;
    }
    return read_line(quota, group, "cpu.cfs_quota_us") &&
                   read_line(period, group, "cpu.cfs_period_us")
               ? processors(number_of(quota), number_of(period))
               : NONE;
}

static uint64_t memory_of(const char *group, bool second) {
    char limit[LINE_SIZE] = "";
    const bool found = read_line(limit, group, second ? "memory.max" : "memory.limit_in_bytes");
    const uint64_t bytes = found ? number_of(limit) : 0;
    return bytes == 0 ? NONE : bytes;
}

/* Limited resource. */
struct resource {
    const char *controller;                            /* of version 1 */
    uint64_t (*limit)(const char *group, bool second); /* NONE without one */
};

/* The least from a group, whose path is changed, up to that which the first `top` bytes of it are. */
static uint64_t least_limit(char *group, size_t top, bool second, const struct resource *resource) {
    uint64_t least = resource->limit(group, second);
    for (size_t length = strlen(group); length > top; length--) {
        if (group[length - 1] == '/') {
            group[length - 1] = '\0';
            const uint64_t limit = resource->limit(group, second);
            least = limit < least ? limit : least;
        }
    }
    return least;
}

/* ---- which group ---- */

static bool has_word(const char *list, const char *word) {
    const size_t length = strlen(word);
    for (const char *at = list; *at != '\0'; at += strcspn(at, ","), at += *at == ',') {
        if (strcspn(at, ",") == length && strncmp(at, word, length) == 0) {
            return true;
        }
    }
    return false;
}

/* The path of this process's group, "HIERARCHY:CONTROLLERS:PATH" in a line each; of version 2 there are no controllers. */
static bool find_group(char path[PATH_SIZE], const char *root, bool second,
                       const struct resource *resource) {
    char line[LINE_SIZE];
    bool found = false;
    FILE *stream = open_in(root, "proc/self/cgroup");
    while (stream && !found && next_line(line, stream)) {
        char *controllers = strchr(line, ':');
        char *group = controllers ? strchr(controllers + 1, ':') : NULL;
        if (group) {
            *group++ = '\0';
            found = (second ? strcmp(line, "0:") == 0
                            : has_word(controllers + 1, resource->controller)) &&
                    strlen(group) < PATH_SIZE;
        }
        if (found) {
            (void)snprintf(path, PATH_SIZE, "%s", group);
        }
    }
    if (stream) {
        (void)fclose(stream);
    }
    return found;
}

/* Blanks in paths of mountinfo are \040, and so on. */
static void decode(char *path) {
    char *to = path;
    for (const char *from = path; *from != '\0'; from++) {
        if (from[0] == '\\' && strspn(from + 1, "01234567") >= 3) {
            *to++ = (char)((from[1] - '0') * 64 + (from[2] - '0') * 8 + (from[3] - '0'));
            from += 3;
        } else {
            *to++ = *from;
        }
    }
    *to = '\0';
}

struct mount {
    char of[PATH_SIZE]; /* the group that is mounted */
    char at[PATH_SIZE];
    bool second;
};

/* "ID PARENT DEVICE OF AT OPTIONS … - TYPE SOURCE OPTIONS" */
static bool is_mount_of_groups(struct mount *mount, const char *line,
                               const struct resource *resource) {
    char type[16] = "", options[PATH_SIZE] = "";
    const char *end = strstr(line, " - ");
    if (!end || sscanf(line, "%*s %*s %*s %1023s %1023s", mount->of, mount->at) != 2 ||
        sscanf(end + 3, "%15s %*s %1023s", type, options) != 2) {
        return false;
    }
    decode(mount->of);
    decode(mount->at);
    mount->second = strcmp(type, "cgroup2") == 0;
    return mount->second ||
           (strcmp(type, "cgroup") == 0 && has_word(options, resource->controller));
}

/*
 * The group's path below the mount. Where the two do not fit, as in a container that sees its own group mounted and the path of the whole
 * system, the group that is mounted is the nearest that can be seen.
 */
static const char *below(const char *group, const char *mounted) {
    const size_t length = strcmp(mounted, "/") == 0 ? 0 : strlen(mounted);
    const bool fits = strncmp(group, mounted, length) == 0 &&
                      (group[length] == '/' || group[length] == '\0') && !strstr(group, "/..");
    return fits && strcmp(group + length, "/") != 0 ? group + length : "";
}

static uint64_t limit_in(const struct mount *mount, const char *root,
                         const struct resource *resource) {
    char group[PATH_SIZE], path[3 * PATH_SIZE];
    const char *rest =
        find_group(group, root, mount->second, resource) ? below(group, mount->of) : "";
    const int top = snprintf(path, sizeof path, "%s%s", root, mount->at);
    if (top < 0 || (size_t)top + strlen(rest) >= sizeof path) {
        return NONE;
    }
    memcpy(path + top, rest, strlen(rest) + 1);
    return least_limit(path, (size_t)top, mount->second, resource);
}

static uint64_t limit_of(const struct resource *resource, const char *root) {
    char line[LINE_SIZE];
    struct mount mount;
    uint64_t least = NONE;
    FILE *stream = open_in(root, "proc/self/mountinfo");
    while (stream && next_line(line, stream)) {
        if (is_mount_of_groups(&mount, line, resource)) {
            const uint64_t limit = limit_in(&mount, root, resource);
            least = limit < least ? limit : least;
        }
    }
    if (stream) {
        (void)fclose(stream);
    }
    return least;
}

uint32_t weft_quota(const char *root) {
    static const struct resource time = {"cpu", time_of};
    const uint64_t count = limit_of(&time, root);
    return count < UINT32_MAX ? (uint32_t)count : UINT32_MAX;
}

uint64_t weft_memory_limit(const char *root) {
    static const struct resource memory = {"memory", memory_of};
    return limit_of(&memory, root);
}
