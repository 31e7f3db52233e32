/* SPDX-License-Identifier: MIT */
/* The locks of a device; which guards what is said in device.h. */
#include "device/device.h"

#define LOCKS 5

static void list(pthread_mutex_t *mutexes[LOCKS], struct weft_device_locks *locks) {
    mutexes[0] = &locks->constants;
    mutexes[1] = &locks->pipelines;
    mutexes[2] = &locks->memory;
    mutexes[3] = &locks->commands;
    mutexes[4] = &locks->queue;
}

bool weft_device_locks_create(struct weft_device_locks *locks) {
    pthread_mutex_t *mutexes[LOCKS];
    list(mutexes, locks);
    uint32_t made = 0;
    while (made < LOCKS && pthread_mutex_init(mutexes[made], NULL) == 0) {
        made++;
    }
    if (made == LOCKS && pthread_cond_init(&locks->constant_made, NULL) == 0) {
        return true;
    }
    while (made-- > 0) {
        pthread_mutex_destroy(mutexes[made]);
    }
    return false;
}

bool weft_device_locks_are_free(struct weft_device_locks *locks) {
    pthread_mutex_t *mutexes[LOCKS];
    list(mutexes, locks);
    bool are_free = true;
    for (uint32_t i = 0; i < LOCKS; i++) {
        const bool is_free = pthread_mutex_trylock(mutexes[i]) == 0;
        if (is_free) {
            pthread_mutex_unlock(mutexes[i]);
        }
        are_free = are_free && is_free;
    }
    return are_free;
}

void weft_device_locks_destroy(struct weft_device_locks *locks) {
    pthread_mutex_t *mutexes[LOCKS];
    list(mutexes, locks);
    pthread_cond_destroy(&locks->constant_made);
    for (uint32_t i = 0; i < LOCKS; i++) {
        pthread_mutex_destroy(mutexes[i]);
    }
}
