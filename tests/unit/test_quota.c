/* SPDX-License-Identifier: MIT */
/* weft-test: posix */
/* How many processors' time, and how much memory, control groups leave to a process. */
#include <fcntl.h>
#include <sys/stat.h>

#include "support_child.h"

#include "core/system/file.h"
#include "jobs/machine.h"
#include "jobs/quota.h"

/* ---- systems made of files ---- */

static void put(const char *root, const char *path, const char *text) {
    char *folder = weft_test_text("%s/%s", root, path);
    char *name = strrchr(folder, '/');
    *name++ = '\0';
    assert_ok(weft_make_folders(folder, NULL));
    weft_test_write(folder, name, text, strlen(text));
}

/* One whose groups are mounted in that way; `group` is /proc/self/cgroup's text. */
static char *new_system(const char *mounts, const char *group) {
    char *root = weft_test_folder();
    put(root, "proc/self/mountinfo", mounts);
    put(root, "proc/self/cgroup", group);
    return root;
}

#define OTHER  "22 1 0:21 / / rw,relatime - ext4 /dev/sda1 rw\n"
#define SECOND "30 22 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n"
#define FIRST                                                                       \
    "31 22 0:28 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n"             \
    "32 22 0:29 / /sys/fs/cgroup/cpu,cpuacct rw shared:9 master:2 - cgroup cgroup " \
    "rw,cpu,cpuacct\n"

WEFT_TEST(without_groups_there_is_no_quota) {
    assert_int_equal(weft_quota(weft_test_folder()), UINT32_MAX);
    assert_int_equal(weft_quota(new_system(OTHER, "")), UINT32_MAX);
    assert_int_equal(weft_quota(new_system(OTHER SECOND, "0::/\n")), UINT32_MAX);
}

WEFT_TEST(quotas_are_rounded_up) {
    static const struct {
        const char *max;
        uint32_t expected;
    } cases[] = {
        {"max 100000\n", UINT32_MAX}, {"100000 100000\n", 1},
        {"100001 100000\n", 2},       {"1000 100000\n", 1},
        {"150000 100000\n", 2},       {"25000 10000", 3},
        {"1600000 100000\n", 16},     {"", UINT32_MAX},
        {"nonsense\n", UINT32_MAX},   {"100000\n", UINT32_MAX},
        {"100000 0\n", UINT32_MAX},   {"99999999999999999999 1\n", UINT32_MAX},
        {"-5 100000\n", UINT32_MAX},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char *root = new_system(OTHER SECOND, "0::/\n");
        put(root, "sys/fs/cgroup/cpu.max", cases[i].max);
        assert_int_equal(weft_quota(root), cases[i].expected);
    }
}

WEFT_TEST(the_least_quota_on_the_way_to_the_root_counts) {
    char *root = new_system(OTHER SECOND, "0::/web.slice/app.service/worker\n");
    put(root, "sys/fs/cgroup/web.slice/app.service/worker/cpu.max", "max 100000\n");
    assert_int_equal(weft_quota(root), UINT32_MAX);
    put(root, "sys/fs/cgroup/web.slice/cpu.max", "300000 100000\n");
    assert_int_equal(weft_quota(root), 3);
    put(root, "sys/fs/cgroup/web.slice/app.service/cpu.max", "150000 100000\n");
    assert_int_equal(weft_quota(root), 2);
    put(root, "sys/fs/cgroup/web.slice/app.service/worker/cpu.max", "50000 100000\n");
    assert_int_equal(weft_quota(root), 1);
    put(root, "sys/fs/cgroup/web.slice/other/cpu.max", "1000 100000\n"); /* another process's */
    put(root, "sys/fs/cgroup/web.slice/app.service/worker/cpu.max", "900000 100000\n");
    assert_int_equal(weft_quota(root), 2);
}

WEFT_TEST(the_first_version_has_quotas_as_well) {
    char *root = new_system(OTHER FIRST, "5:cpuset:/elsewhere\n4:cpu,cpuacct:/box\n0::/\n");
    assert_int_equal(weft_quota(root), UINT32_MAX);
    put(root, "sys/fs/cgroup/cpu,cpuacct/box/cpu.cfs_period_us", "100000\n");
    assert_int_equal(weft_quota(root), UINT32_MAX);
    put(root, "sys/fs/cgroup/cpu,cpuacct/box/cpu.cfs_quota_us", "-1\n");
    assert_int_equal(weft_quota(root), UINT32_MAX);
    put(root, "sys/fs/cgroup/cpu,cpuacct/box/cpu.cfs_quota_us", "250000\n");
    assert_int_equal(weft_quota(root), 3);
    put(root, "sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "40000\n");
    put(root, "sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "20000\n");
    assert_int_equal(weft_quota(root), 2);
}

WEFT_TEST(a_container_sees_its_own_group) {
    /* Mounted alone, without a namespace: both name it as the whole system does. */
    char *root = new_system("40 1 0:30 /docker/3f /sys/fs/cgroup/cpu ro - cgroup cgroup rw,cpu\n",
                            "3:cpu:/docker/3f\n");
    put(root, "sys/fs/cgroup/cpu/cpu.cfs_quota_us", "200000\n");
    put(root, "sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
    assert_int_equal(weft_quota(root), 2);
    /* A path that is not below what is mounted, and one from outside of the namespace. */
    static const char *const groups[] = {"0::/docker/3f\n", "0::/../../4b\n", ""};
    for (size_t i = 0; i < sizeof groups / sizeof groups[0]; i++) {
        root = new_system("40 1 0:30 /kubepods/pod7 /sys/fs/cgroup ro - cgroup2 cgroup rw\n",
                          groups[i]);
        put(root, "sys/fs/cgroup/cpu.max", "100000 100000\n");
        assert_int_equal(weft_quota(root), 1);
    }
}

WEFT_TEST(mounts_with_long_lines_and_blanks_are_understood) {
    char *layers = weft_test_keep(20001);
    memset(layers, 'l', 20000);
    char *root =
        new_system(weft_test_text("23 1 0:22 / / rw - overlay overlay rw,lowerdir=%s\n"
                                  "30 23 0:26 / /sys/my\\040groups rw - cgroup2 cgroup2 rw\n",
                                  layers),
                   "0::/a:b\n");
    put(root, "sys/my groups/a:b/cpu.max", "200000 100000\n");
    assert_int_equal(weft_quota(root), 2);
}

/* ---- memory ---- */

#define MEMORY "33 22 0:30 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"

WEFT_TEST(memory_is_limited_by_the_least_group) {
    static const struct {
        const char *limit;
        uint64_t expected;
    } cases[] = {
        {"max\n", UINT64_MAX}, {"", UINT64_MAX},           {"nonsense\n", UINT64_MAX},
        {"-1\n", UINT64_MAX},  {"2147483648", 2147483648}, {"536870912\n", 536870912},
    };
    assert_true(weft_memory_limit(new_system(OTHER SECOND, "0::/\n")) == UINT64_MAX);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char *root = new_system(OTHER SECOND, "0::/app/worker\n");
        put(root, "sys/fs/cgroup/app/memory.max", cases[i].limit);
        put(root, "sys/fs/cgroup/app/cpu.max", "100000 100000\n");
        assert_true(weft_memory_limit(root) == cases[i].expected);
        put(root, "sys/fs/cgroup/app/worker/memory.max", "1073741824\n");
        assert_true(weft_memory_limit(root) ==
                    (cases[i].expected < 1073741824 ? cases[i].expected : 1073741824));
        put(root, "sys/fs/cgroup/other/memory.max", "4096\n"); /* another process's */
        assert_true(weft_memory_limit(root) >= 536870912);
    }
}

/* Each controller has a hierarchy and a group of its own; what is no limit is written as a large number of pages. */
WEFT_TEST(the_first_version_limits_memory_as_well) {
    char *root = new_system(OTHER FIRST MEMORY, "5:memory:/box\n4:cpu,cpuacct:/elsewhere\n");
    assert_true(weft_memory_limit(root) == UINT64_MAX);
    put(root, "sys/fs/cgroup/cpu,cpuacct/box/memory.limit_in_bytes", "1\n");
    put(root, "sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
    assert_true(weft_memory_limit(root) == UINT64_C(9223372036854771712));
    put(root, "sys/fs/cgroup/memory/box/memory.limit_in_bytes", "268435456\n");
    assert_true(weft_memory_limit(root) == 268435456);
    assert_int_equal(weft_quota(root), UINT32_MAX);
}

WEFT_TEST(the_device_has_no_more_memory_than_the_process) {
    weft_device_info infos[16];
    uint32_t count = sizeof infos / sizeof infos[0];
    const uint64_t limit = weft_memory_limit("");
    assert_true(weft_machine_memory() ==
                (limit < weft_physical_memory() ? limit : weft_physical_memory()));
    assert_ok(weft_device_list(infos, &count, NULL));
    for (uint32_t i = 0; i < count; i++) {
        assert_true(infos[i].type != WEFT_DEVICE_PROCESSOR ||
                    infos[i].device_memory == weft_machine_memory());
    }
}

/* ---- this system ---- */

static bool write_to(const char *folder, const char *name, const char *text) {
    char path[256];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    const int file = open(path, O_WRONLY | O_CLOEXEC);
    const bool written = file >= 0 && write(file, text, strlen(text)) == (ssize_t)strlen(text);
    if (file >= 0) {
        (void)close(file);
    }
    return written;
}

/* In a new group with a quota of one processor; false where this system does not let us. */
static bool enter_group(char *group, size_t size) {
    static const char *const parents[] = {"/sys/fs/cgroup/cpu", "/sys/fs/cgroup"};
    for (size_t i = 0; i < 2; i++) {
        (void)snprintf(group, size, "%s/weft-test-%ld", parents[i], (long)getpid());
        if (mkdir(group, 0755) != 0) {
            continue;
        }
        if ((write_to(group, "cpu.max", "100000 100000") ||
             write_to(group, "cpu.cfs_quota_us", "100000")) &&
            write_to(group, "cgroup.procs", "0")) {
            return true;
        }
        (void)rmdir(group);
    }
    return false;
}

static bool counts_one(void *user) {
    char group[128];
    weft_device_info infos[16];
    uint32_t count = sizeof infos / sizeof infos[0];
    (void)user;
    if (!enter_group(group, sizeof group)) {
        print_message("no control group can be made here\n");
        _exit(WEFT_CHILD_SKIPS);
    }
    const uint32_t processors = weft_processor_count();
    const weft_status status = weft_device_list(infos, &count, NULL);
    char parent[128];
    (void)snprintf(parent, sizeof parent, "%.*s", (int)(strrchr(group, '/') - group), group);
    (void)write_to(parent, "cgroup.procs", "0");
    (void)rmdir(group);
    WEFT_CHILD_EXPECT(processors == 1);
    WEFT_CHILD_EXPECT(status == WEFT_OK);
    for (uint32_t i = 0; i < count; i++) {
        WEFT_CHILD_EXPECT(infos[i].type != WEFT_DEVICE_PROCESSOR || infos[i].threads == 1);
    }
    return true;
}

WEFT_TEST(a_quota_of_one_processor_counts) {
    if (weft_affine_processors() < 2) {
        skip();
    }
    assert_int_equal(weft_processor_count(), weft_quota("") < weft_affine_processors()
                                                 ? weft_quota("")
                                                 : weft_affine_processors());
    weft_test_set_variable("WEFT_PROCESSOR_THREADS", NULL);
    weft_test_in_child(counts_one, NULL);
}
