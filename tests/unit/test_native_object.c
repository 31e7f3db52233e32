/* SPDX-License-Identifier: MIT */
/* weft-test: posix */
/* Native code as an object: packed, loaded and called, and what becomes of damaged and foreign ones. */
#include "core/bytes.h"
#include "core/hash.h"
#include "native/kernel.h"
#include "native/link.h"
#include "native/object.h"
#include "native/target.h"
#include "support.h"

#define HEADER  64 /* of an object */
#define HASH_AT 32

static const struct weft_native_interface interface = {.local_size = {8, 4, 2},
                                                       .lanes = 8,
                                                       .scratch_size = 4096,
                                                       .push_size = 8,
                                                       .binding_count = 2,
                                                       .bindings = {{0, 3}, {1, 7}}};

/* What the C compiler of this build made of native_sample.c. */
static uint8_t *read_sample(size_t *size) {
    return weft_test_read(WEFT_NATIVE_SAMPLE, size);
}

/* A file of tests/data/native. */
static uint8_t *read_data(const char *name, size_t *size) {
    return weft_test_read(weft_test_data(weft_test_text("native/%s", name)), size);
}

static struct weft_native_object pack_sample(struct weft_test_host *test) {
    struct weft_native_object object = {0};
    size_t size = 0;
    uint8_t *elf = read_sample(&size);
    assert_ok(weft_native_object_pack(&object, &interface, elf, size, &test->host));
    free(elf);
    return object;
}

static void set_hash(uint8_t *bytes, size_t size) {
    weft_sha256 hash;
    weft_sha256_begin(&hash);
    weft_sha256_add(&hash, bytes, HASH_AT);
    weft_sha256_add(&hash, bytes + HEADER, size - HEADER);
    const weft_digest digest = weft_sha256_end(&hash);
    memcpy(bytes + HASH_AT, digest.bytes, sizeof digest.bytes);
}

/* Loads, without calling it, what may be damaged. */
static bool loads(const uint8_t *bytes, size_t size, struct weft_test_host *test) {
    struct weft_native_kernel *kernel = NULL;
    const weft_status status = weft_native_kernel_load(&kernel, bytes, size, &test->host);
    assert_true(status == WEFT_OK || status == WEFT_BAD_FILE);
    assert_true((status == WEFT_OK) == (kernel != NULL));
    weft_native_kernel_unload(&kernel, &test->host);
    return status == WEFT_OK;
}

static bool elf_loads(const uint8_t *elf, size_t size, struct weft_test_host *test) {
    struct weft_native_object object = {0};
    assert_ok(weft_native_object_pack(&object, &interface, elf, size, &test->host));
    const bool result = loads(object.bytes, object.size, test);
    weft_free(&test->host, object.bytes);
    return result;
}

WEFT_TEST(the_target_names_this_processor) {
    const struct weft_native_machine *machine = weft_native_machine();
    assert_ptr_equal(machine, weft_native_machine());
    assert_string_equal(machine->target, weft_native_target());
    assert_int_equal(machine->lanes, weft_native_lanes());
    assert_true(machine->lanes == 4 || machine->lanes == 8 || machine->lanes == 16);
    assert_non_null(strstr(machine->target, machine->cpu));
#if defined(__x86_64__) && defined(__linux__)
    assert_string_equal(machine->triple, "x86_64-unknown-linux-gnu");
    assert_int_equal(machine->elf, WEFT_ELF_X86_64);
    /* With or without instructions for dots of bytes. */
    const bool wide = strstr(machine->target, "x86_64-linux x86-64-v4") == machine->target;
    const bool middle = strstr(machine->target, "x86_64-linux x86-64-v3") == machine->target;
    assert_int_equal(machine->lanes, wide ? 16 : middle ? 8 : 4);
    /* The compiler's runtime asks the same questions. */
    assert_int_equal(wide || middle,
                     __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"));
    assert_int_equal(wide, __builtin_cpu_supports("avx512bw") &&
                               __builtin_cpu_supports("avx512dq") &&
                               __builtin_cpu_supports("avx512vl"));
#endif
}

static void expect_results(const struct weft_native_kernel *kernel) {
    const uint32_t push[2] = {123, 456};
    uint32_t out[16];
    const struct weft_native_range ranges[2] = {{out, sizeof out}, {out, sizeof push}};
    const struct weft_native_call call = {.ranges = ranges, .push = push, .groups = {12, 1, 1}};
    memset(out, 0xFF, sizeof out);
    kernel->entry(&call, 0, 10, 5, 12);
    /* The push constants; pick() of native_sample.c for 0 … 11, and y + z; what is left of the zeros. */
    static const uint32_t expected[16] = {123, 456, 115, 23, 2015, 92, 79, 28,
                                          20,  34,  17,  28, 20,   34, 0,  0};
    assert_memory_equal(out, expected, sizeof expected);
}

WEFT_TEST_ON_HOST(a_packed_kernel_is_loaded_and_runs, test) {
    if (weft_native_machine()->elf == 0) {
        skip();
    }
    struct weft_native_object object = pack_sample(test);
    struct weft_native_kernel *kernel = NULL;
    assert_ok(weft_native_kernel_load(&kernel, object.bytes, object.size, &test->host));
    weft_free(&test->host, object.bytes);
    assert_memory_equal(&kernel->interface, &interface, sizeof interface);
    expect_results(kernel);
    weft_native_kernel_unload(&kernel, &test->host);
    assert_null(kernel);
    weft_native_kernel_unload(&kernel, &test->host);
}

#ifdef __linux__
/* The access of the page at an address, as /proc/self/maps writes it. */
static void read_access(char access[5], const void *address) {
    FILE *maps = fopen("/proc/self/maps", "r");
    assert_non_null(maps);
    char line[1024];
    strcpy(access, "none");
    while (fgets(line, sizeof line, maps)) {
        unsigned long long from = 0, to = 0;
        char found[5] = "";
        if (sscanf(line, "%llx-%llx %4s", &from, &to, found) == 3 && (uintptr_t)address >= from &&
            (uintptr_t)address < to) {
            memcpy(access, found, 5);
        }
    }
    fclose(maps);
}

WEFT_TEST_ON_HOST(code_is_never_writable, test) {
    if (weft_native_machine()->elf == 0) {
        skip();
    }
    struct weft_native_object object = pack_sample(test);
    struct weft_native_kernel *kernel = NULL;
    assert_ok(weft_native_kernel_load(&kernel, object.bytes, object.size, &test->host));
    char access[5];
    read_access(access, kernel->code);
    assert_string_equal(access, "r-xp");
    read_access(access, (const char *)kernel->code + kernel->code_size - 1);
    assert_int_equal(access[1], '-');
#if defined( \
    __x86_64__) /* QEMU, which runs this for other processors, tells one access for code and constants */
    assert_string_equal(access, "r--p");
#endif
    weft_native_kernel_unload(&kernel, &test->host);
    weft_free(&test->host, object.bytes);
}
#endif

WEFT_TEST_ON_HOST(memory_may_run_out, test) {
    struct weft_native_object object = {0};
    size_t size = 0;
    uint8_t *elf = read_sample(&size);
    weft_status status = WEFT_OUT_OF_HOST_MEMORY;
    while (weft_test_next_failure(test, status)) {
        struct weft_native_kernel *kernel = NULL;
        status = weft_native_object_pack(&object, &interface, elf, size, &test->host);
        if (status == WEFT_OK) {
            status = weft_native_kernel_load(&kernel, object.bytes, object.size, &test->host);
            weft_free(&test->host, object.bytes);
            weft_native_kernel_unload(&kernel, &test->host);
        }
    }
    assert_int_equal(test->failures, 3); /* the object, the kernel, the layout */
    free(elf);
}

/* ---- objects that are refused ---- */

WEFT_TEST_ON_HOST(no_part_of_an_object_is_one, test) {
    struct weft_native_object object = pack_sample(test);
    for (size_t size = 0; size < object.size; size++) {
        uint8_t *part = malloc(size + 1);
        memcpy(part, object.bytes, size);
        assert_false(loads(part, size, test));
        if (size >= HEADER) {
            set_hash(part, size);
            assert_false(loads(part, size, test));
        }
        free(part);
    }
    weft_free(&test->host, object.bytes);
}

WEFT_TEST_ON_HOST(a_part_of_an_elf_object_does_no_harm, test) {
    size_t size = 0;
    uint8_t *elf = read_sample(&size);
    for (size_t part = 0; part < size; part++) {
        uint8_t *exact = malloc(part + 1);
        memcpy(exact, elf, part);
        elf_loads(exact, part, test);
        free(exact);
    }
    free(elf);
}

WEFT_TEST_ON_HOST(damage_does_no_harm, test) {
    struct weft_native_object object = pack_sample(test);
    uint32_t still = 0;
    for (uint64_t round = 0; round < 6000; round++) {
        size_t size = 0;
        uint8_t *bytes = weft_test_mutate(object.bytes, object.size, 1, round, &size);
        if (round % 2 == 1 && size >= HEADER) {
            set_hash(bytes, size);
        }
        const bool same = size == object.size && memcmp(bytes, object.bytes, size) == 0;
        const bool loaded = loads(bytes, size, test);
        still += loaded;
        assert_true(round % 2 == 1 || same || !loaded);
        free(bytes);
        weft_test_host_reset(test);
    }
    weft_free(&test->host, object.bytes);
    assert_true(weft_native_machine()->elf == 0 ||
                still > 0); /* what stands behind the hash was reached */
}

WEFT_TEST_ON_HOST(objects_of_other_processors_are_refused, test) {
    struct weft_native_object object = pack_sample(test);
    struct weft_native_kernel *kernel = NULL;
    uint8_t *target = object.bytes + HEADER + 24 + 8 * interface.binding_count;
    assert_memory_equal(target, weft_native_target(), strlen(weft_native_target()));
    target[0] ^= 1;
    set_hash(object.bytes, object.size);
    WEFT_EXPECT_REFUSED(test, WEFT_BAD_FILE,
                        weft_native_kernel_load(&kernel, object.bytes, object.size, &test->host),
                        "this processor is", weft_native_target());
    target[0] ^= 1;
    weft_store_bytes(object.bytes + 8, 2, 4);
    set_hash(object.bytes, object.size);
    WEFT_EXPECT_REFUSED(test, WEFT_BAD_FILE,
                        weft_native_kernel_load(&kernel, object.bytes, object.size, &test->host),
                        "another version");
    weft_free(&test->host, object.bytes);

    size_t size = 0;
    const bool arm = weft_native_machine()->elf == WEFT_ELF_AARCH64;
    uint8_t *elf = read_data(arm ? "x86_64.o" : "aarch64.o", &size);
    assert_ok(weft_native_object_pack(&object, &interface, elf, size, &test->host));
    WEFT_EXPECT_REFUSED(test, WEFT_BAD_FILE,
                        weft_native_kernel_load(&kernel, object.bytes, object.size, &test->host),
                        "ELF machine");
    weft_free(&test->host, object.bytes);
    free(elf);
}

WEFT_TEST_ON_HOST(an_interface_out_of_range_is_refused, test) {
    struct weft_native_interface wrong[] = {interface, interface, interface, interface};
    wrong[0].lanes = 5;
    wrong[1].local_size[1] = 0;
    wrong[2].local_size[0] = 1u << 31;
    wrong[3].local_size[2] = 33; /* 8 * 4 * 33 > 1024 */
    for (size_t i = 0; i < 4; i++) {
        struct weft_native_object object = {0};
        struct weft_native_kernel *kernel = NULL;
        assert_ok(weft_native_object_pack(&object, &wrong[i], NULL, 0, &test->host));
        WEFT_EXPECT_REFUSED(
            test, WEFT_BAD_FILE,
            weft_native_kernel_load(&kernel, object.bytes, object.size, &test->host),
            i == 0 ? "lanes" : "local size");
        weft_free(&test->host, object.bytes);
    }
}

/* ---- linking, for both processors on any ---- */

struct linked {
    uint8_t *file;
    size_t size;
    struct weft_elf elf;
    struct weft_native_layout layout;
    uint8_t *image;
};

static weft_status link_file(struct linked *linked, struct weft_test_host *test) {
    weft_status status = weft_elf_open(&linked->elf, linked->file, linked->size, &test->host);
    if (status == WEFT_OK) {
        status = weft_native_layout_make(&linked->layout, &linked->elf, 4096, &test->host);
    }
    if (status == WEFT_OK) {
        linked->image = aligned_alloc(4096, linked->layout.size);
        memset(linked->image, 0, linked->layout.size);
        status = weft_native_link(linked->image, &linked->layout, &test->host);
    }
    return status;
}

static void unlink_file(struct linked *linked, struct weft_test_host *test) {
    weft_native_layout_free(&linked->layout, &test->host);
    free(linked->image);
    linked->image = NULL;
}

static uint64_t field(const uint8_t *at, unsigned first, unsigned bits) {
    return weft_load_bytes(at, 4) >> first & ((UINT64_C(1) << bits) - 1);
}

static uint64_t with_sign(uint64_t number, unsigned bits) {
    return number >> (bits - 1) != 0 ? number - (UINT64_C(1) << bits) : number;
}

/*
 * What an instruction (or word) of the image refers to, decoded as the processor would: the address, or for accesses within
 * a page, its last 12 bits, which *mask says.
 */
static uint64_t decode(uint64_t *mask, const uint8_t *at, uint32_t machine, uint32_t type) {
    const uint64_t here = (uintptr_t)at;
    *mask = UINT64_MAX;
    if (type == 1 || type == 257) {
        return weft_load_bytes(at, 8);
    }
    if (machine == WEFT_ELF_X86_64 || type == 261) {
        return here + with_sign(weft_load_bytes(at, 4), 32);
    }
    if (type == 282 || type == 283) { /* B, BL */
        assert_true(field(at, 26, 6) == 5 || field(at, 26, 6) == 0x25);
        return here + with_sign(field(at, 0, 26) << 2, 28);
    }
    if (field(at, 24, 5) == 0x10 && field(at, 31, 1) == 1) { /* ADRP */
        *mask = ~UINT64_C(0xFFF);
        const uint64_t pages = field(at, 5, 19) << 2 | field(at, 29, 2);
        return (here & *mask) + (with_sign(pages, 21) << 12);
    }
    *mask = 0xFFF;
    const uint64_t immediate = field(at, 10, 12);
    if (field(at, 23, 8) == 0x22) { /* ADD (immediate) */
        return immediate;
    }
    /* LDR (unsigned offset): size in bits 31:30, and for 128 bits opc<1> in bit 23 with V */
    const bool whole_vector = field(at, 26, 1) == 1 && field(at, 23, 1) == 1;
    return immediate << (whole_vector ? 4 : field(at, 30, 2));
}

/* Where a relocation should lead: to what its symbol names, or for functions of the host to a stub with their address. */
static void expect_target(const struct linked *linked, const struct weft_elf_relocation *relocation,
                          uint64_t found, uint64_t mask, bool slot) {
    const struct weft_elf_symbol symbol = weft_elf_symbol_at(&linked->elf, relocation->symbol);
    if (symbol.section != 0) {
        const uint64_t expected = (uintptr_t)linked->image +
                                  linked->layout.sections[symbol.section] + symbol.value +
                                  relocation->addend;
        assert_true((found & mask) == (expected & mask));
        return;
    }
    /* The addend of x86-64 counts from the end of the field. */
    uint64_t address = found - relocation->addend;
    if (mask != UINT64_MAX) { /* one of a pair of instructions: both mean the symbol's slot */
        const uint64_t expected =
            (uintptr_t)linked->image + linked->layout.slots + 8 * relocation->symbol;
        assert_true(slot && (address & mask) == (expected & mask));
        address = expected;
    }
    if (slot) {
        address = weft_load_bytes((const uint8_t *)(uintptr_t)address, 8);
    }
    const uint64_t functions[3] = {(uintptr_t)memcpy, (uintptr_t)memmove, (uintptr_t)memset};
    static const char *const names[3] = {"memcpy", "memmove", "memset"};
    const uint64_t called = weft_load_bytes((const uint8_t *)(uintptr_t)address + 8, 8);
    bool known = false;
    for (size_t i = 0; i < 3; i++) {
        known = known || (strcmp(symbol.name, names[i]) == 0 && called == functions[i]);
    }
    assert_true(known);
    assert_in_range(address - (uintptr_t)linked->image, linked->layout.stubs,
                    linked->layout.text_size - 1);
}

/* Returns how many relocations there are in the image. */
static uint32_t expect_relocations(const struct linked *linked) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < linked->elf.section_count; i++) {
        const struct weft_elf_section section = weft_elf_section_at(&linked->elf, i);
        if (section.type != WEFT_ELF_RELA || linked->layout.sections[section.info] == SIZE_MAX) {
            continue;
        }
        for (uint64_t k = 0; k < section.size / WEFT_ELF_RELOCATION_SIZE; k++, count++) {
            const struct weft_elf_relocation relocation =
                weft_elf_relocation_at(&linked->elf, &section, k);
            uint64_t mask = 0;
            const uint64_t found = decode(
                &mask, linked->image + linked->layout.sections[section.info] + relocation.offset,
                linked->elf.machine, relocation.type);
            const bool slot = linked->elf.machine == WEFT_ELF_X86_64
                                  ? relocation.type == 9
                                  : relocation.type == 311 || relocation.type == 312;
            expect_target(linked, &relocation, found, mask, slot);
        }
    }
    return count;
}

WEFT_TEST_ON_HOST(relocations_lead_where_symbols_are, test) {
    static const struct {
        const char *name;
        uint32_t relocations; /* of tests/data/native/sample.ll, as readelf lists them */
    } cases[2] = {{"aarch64.o", 20}, {"x86_64.o", 12}};
    for (size_t i = 0; i < 2; i++) {
        struct linked linked = {0};
        linked.file = read_data(cases[i].name, &linked.size);
        assert_ok(link_file(&linked, test));
        assert_int_equal(expect_relocations(&linked), cases[i].relocations);
        assert_true(linked.layout.entry < linked.layout.text_size);
        unlink_file(&linked, test);
        free(linked.file);
    }
}

WEFT_TEST_ON_HOST(damaged_elf_objects_do_no_harm, test) {
    static const char *const names[2] = {"x86_64.o", "aarch64.o"};
    for (size_t i = 0; i < 2; i++) {
        size_t size = 0;
        uint32_t links = 0;
        uint8_t *file = read_data(names[i], &size);
        for (uint64_t round = 0; round < 6000; round++) {
            struct linked linked = {0};
            linked.file = weft_test_mutate(file, size, 2 + i, round, &linked.size);
            const weft_status status = link_file(&linked, test);
            assert_true(status == WEFT_OK || status == WEFT_BAD_FILE);
            links += status == WEFT_OK;
            unlink_file(&linked, test);
            free(linked.file);
            weft_test_host_reset(test);
        }
        free(file);
        assert_in_range(links, 100, 5900);
    }
}

/* ---- ELF objects that are no kernels ---- */

/* Where `bytes` stand in a file, which has them. */
static uint8_t *find_bytes(uint8_t *file, size_t size, const char *bytes, size_t length) {
    for (size_t i = 0; i + length <= size; i++) {
        if (memcmp(file + i, bytes, length) == 0) {
            return file + i;
        }
    }
    fail_msg("%s is not in the file", bytes);
    return NULL;
}

/* The header of the section of that name, in a file. */
static uint8_t *find_header(struct linked *linked, const char *name, struct weft_test_host *test) {
    assert_ok(weft_elf_open(&linked->elf, linked->file, linked->size, &test->host));
    for (uint32_t i = 0; i < linked->elf.section_count; i++) {
        if (strcmp(weft_elf_section_at(&linked->elf, i).name, name) == 0) {
            return linked->file + linked->elf.sections_at + 64 * i;
        }
    }
    fail_msg("%s is not in the file", name);
    return NULL;
}

#define EXPECT_NO_KERNEL(linked, test, ...)                                             \
    do {                                                                                \
        WEFT_EXPECT_REFUSED(test, WEFT_BAD_FILE, link_file(linked, test), __VA_ARGS__); \
        unlink_file(linked, test);                                                      \
    } while (0)

WEFT_TEST_ON_HOST(a_function_that_is_not_there_is_named, test) {
    struct linked linked = {0};
    linked.file = read_data("x86_64.o", &linked.size);
    memcpy(find_bytes(linked.file, linked.size, "memset", 7), "malloc", 6);
    EXPECT_NO_KERNEL(&linked, test, "malloc is a function", "not there");
    memcpy(find_bytes(linked.file, linked.size, "malloc", 7), "memset", 6);
    memcpy(find_bytes(linked.file, linked.size, WEFT_NATIVE_ENTRY, 14), "left", 4);
    EXPECT_NO_KERNEL(&linked, test, "does not define the function " WEFT_NATIVE_ENTRY);
    free(linked.file);
}

WEFT_TEST_ON_HOST(variables_are_refused, test) {
    struct linked linked = {0};
    linked.file = read_data("x86_64.o", &linked.size);
    uint8_t *header = find_header(&linked, ".rodata", test);
    header[8] |= WEFT_ELF_WRITE;
    EXPECT_NO_KERNEL(&linked, test, ".rodata is a section of variables");
    header[8] ^= WEFT_ELF_WRITE;
    header[4] = WEFT_ELF_NOBITS;
    EXPECT_NO_KERNEL(&linked, test, ".rodata is a section that is neither code nor constants");
    header[4] = WEFT_ELF_PROGBITS;
    header[48] = 48; /* alignment */
    EXPECT_NO_KERNEL(&linked, test, ".rodata has an alignment");
    header[48] = 16;
    header = find_header(&linked, ".text", test);
    header[8] |= WEFT_ELF_WRITE;
    EXPECT_NO_KERNEL(&linked, test, ".text is a section of variables");
    free(linked.file);
}

WEFT_TEST_ON_HOST(code_that_depends_on_its_place_is_refused, test) {
    struct linked linked = {0};
    linked.file = read_data("x86_64.o", &linked.size);
    const uint8_t *header = find_header(&linked, ".rela.text", test);
    uint8_t *relocation = linked.file + weft_load_bytes(header + 24, 8);
    assert_int_equal(relocation[8], 2);
    relocation[8] = 11; /* R_X86_64_32S */
    EXPECT_NO_KERNEL(&linked, test, ".text: relocation 11", "position-independent");
    relocation[8] = 2;
    weft_store_bytes(relocation + 16, UINT64_C(1) << 31, 8);
    EXPECT_NO_KERNEL(&linked, test, ".text: relocation 2", "out of reach");
    weft_store_bytes(relocation, UINT64_C(1) << 40, 8);
    EXPECT_NO_KERNEL(&linked, test, ".text has a relocation that begins beyond it");
    weft_store_bytes(relocation + 12, 1000, 4);
    EXPECT_NO_KERNEL(&linked, test, "a symbol that is not there");
    free(linked.file);
}
