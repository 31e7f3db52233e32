/* SPDX-License-Identifier: MIT */
#include "core/system/disk_cache_clean.h"

#include <stdlib.h>
#include <string.h>

#include "core/hash.h"
#include "core/system/file.h"

#define SECOND          ((int64_t)1000000000)
#define AGE_OF_ORPHANS  (60 * SECOND)
#define AGE_OF_ANYBODYS (86400 * SECOND)
#define NAME_SIZE       160 /* of the cache's own files, with its end */

struct entry {
    char name[NAME_SIZE];
    uint64_t room;
    int64_t changed;
};

struct listing {
    const struct weft_private_folder *folder;
    const weft_host *host;
    int64_t now;
    struct entry *entries;
    uint32_t count, capacity;
    uint64_t room;
};

uint64_t weft_cache_room(uint64_t size) {
    return (size + WEFT_CACHE_BLOCK - 1) / WEFT_CACHE_BLOCK * WEFT_CACHE_BLOCK;
}

/* Rest of a name after "KIND-DIGEST", or null if it does not begin so. */
static const char *behind_entry_name(const char *name) {
    const size_t kind = strspn(name, "abcdefghijklmnopqrstuvwxyz");
    const char *digest = name + kind + 1;
    const size_t length = WEFT_DIGEST_TEXT_SIZE - 1;
    return kind > 0 && name[kind] == '-' && strlen(digest) >= length &&
                   weft_is_digest_text(digest, length)
               ? digest + length
               : NULL;
}

static bool is_orphan(unsigned long process, const weft_file_facts *facts, int64_t now) {
    const int64_t age = now - facts->changed;
    return age > AGE_OF_ANYBODYS || (age > AGE_OF_ORPHANS && !weft_system_process_lives(process));
}

static bool add(struct listing *listing, const char *name, const weft_file_facts *facts) {
    if (!weft_grow(listing->host, &listing->entries, listing->count, &listing->capacity,
                   sizeof *listing->entries)) {
        return false;
    }
    struct entry *entry = &listing->entries[listing->count++];
    *entry = (struct entry){.room = weft_cache_room(facts->size), .changed = facts->changed};
    memcpy(entry->name, name, strlen(name) + 1);
    listing->room += entry->room;
    return true;
}

static bool take(void *user, const char *name) {
    struct listing *listing = user;
    const char *end = behind_entry_name(name);
    unsigned long process = 0;
    const bool temporary = end && weft_is_name_beside(&process, end);
    weft_file_facts facts;
    if (!end || (*end != '\0' && !temporary) || strlen(name) >= NAME_SIZE ||
        weft_private_facts(&facts, listing->folder, name) != 0 || facts.kind != WEFT_FILE_REGULAR) {
        return true;
    }
    if (!temporary) {
        return add(listing, name, &facts);
    }
    if (is_orphan(process, &facts, listing->now)) {
        (void)weft_private_remove(listing->folder, name);
    }
    return true;
}

static int by_age(const void *a, const void *b) {
    const struct entry *left = a, *right = b;
    return (left->changed > right->changed) - (left->changed < right->changed);
}

void weft_cache_clean(const struct weft_private_folder *folder, uint64_t limit,
                      const weft_host *host) {
    struct listing listing = {.folder = folder, .host = host, .now = weft_system_now()};
    (void)weft_private_list(folder, take, &listing); /* what is not listed stays */
    if (listing.room > limit) {
        qsort(listing.entries, listing.count, sizeof *listing.entries, by_age);
    }
    /* One that another process has removed takes no room either. */
    const uint64_t goal = listing.room > limit ? limit - limit / 8 : limit;
    for (uint32_t i = 0; i < listing.count && listing.room > goal; i++) {
        (void)weft_private_remove(folder, listing.entries[i].name);
        listing.room -= listing.entries[i].room;
    }
    weft_free(host, listing.entries);
}
