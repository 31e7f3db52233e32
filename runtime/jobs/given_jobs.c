/* SPDX-License-Identifier: MIT */
/* Compiled with -fexceptions, so that what an attribute `cleanup` names is called for exceptions of C++, too. */
#include "jobs/given_jobs.h"

#include <pthread.h>
#include <sched.h>

#include "core/math/float_state.h"

struct weft_given_jobs {
    weft_job_system jobs;
    weft_host host;
    atomic_bool *broken;
    /* These three do not change while a call can be in the job. */
    weft_job work;
    void *job;
    uint32_t count;
    atomic_bool open;   /* calls may begin */
    atomic_uint inside; /* calls, also those that find it closed */
    atomic_bool any;    /* some call has taken a slot */
    atomic_bool runs;   /* `caller` is in a run */
    pthread_t caller;
    atomic_bool taken[]; /* slots */
};

/* Work of the job that the program gets. */
static void call(void *user, uint32_t slot) {
    struct weft_given_jobs *given = user;
    atomic_fetch_add(&given->inside, 1);
    if (atomic_load(&given->open) && slot < given->count &&
        !atomic_exchange(&given->taken[slot], true)) {
        atomic_store(&given->any, true);
        given->work(given->job, slot);
    }
    atomic_fetch_sub(&given->inside, 1);
}

/* Lets no more calls begin, and waits for those that go on. */
static void close_job(struct weft_given_jobs *given) {
    atomic_store(&given->open, false);
    while (atomic_load(&given->inside) > 0) {
        sched_yield();
    }
}

static void note_broken(struct weft_given_jobs *given) {
    if (!atomic_exchange(given->broken, true)) {
        weft_log(&given->host, WEFT_LOG_ERROR,
                 "the processor device: the job system's run did not return (an exception or "
                 "longjmp?), or called the library");
    }
    atomic_store(&given->runs, false);
}

/* Cleans up a variable that goes out of scope; after an exception it is not null. */
static void leave(struct weft_given_jobs **left) {
    if (*left) {
        close_job(*left);
        note_broken(*left);
    }
}

static void run_guarded(struct weft_given_jobs *given, uint32_t count) {
    __attribute__((cleanup(leave), unused)) struct weft_given_jobs *left = given;
    /* Not by an attribute: where run does not return, the thread goes on in the default state. */
    const weft_float_state state = weft_float_state_default();
    given->jobs.run(given->jobs.user, call, given, count);
    weft_float_state_restore(&state);
    left = NULL;
}

static void run(void *user, weft_job work, void *job, uint32_t count) {
    struct weft_given_jobs *given = user;
    given->work = work;
    given->job = job;
    given->count = count;
    for (uint32_t i = 0; i < count; i++) {
        atomic_store(&given->taken[i], false);
    }
    given->caller = pthread_self();
    atomic_store(&given->any, false);
    atomic_store(&given->runs, true);
    atomic_store(&given->open, true);
    run_guarded(given, count);
    atomic_store(&given->runs, false);
    close_job(given);
    if (!atomic_load(&given->any)) {
        work(job, 0);
    }
}

weft_status weft_given_jobs_create(struct weft_given_jobs **given, weft_job_system *jobs,
                                   const weft_job_system *asked, atomic_bool *broken,
                                   const weft_host *host) {
    struct weft_given_jobs *made =
        weft_alloc_zero(host, 1, sizeof *made + asked->concurrency * sizeof made->taken[0]);
    if (!made) {
        return weft_fail_memory(host, "a job system");
    }
    made->jobs = *asked;
    made->host = *host;
    made->broken = broken;
    *given = made;
    *jobs = (weft_job_system){.concurrency = asked->concurrency, .user = made, .run = run};
    return WEFT_OK;
}

void weft_given_jobs_destroy(struct weft_given_jobs **given) {
    if (*given) {
        const weft_host host = (*given)->host;
        weft_free(&host, *given);
        *given = NULL;
    }
}

void weft_given_jobs_look(struct weft_given_jobs *given) {
    if (given && atomic_load(&given->runs) && pthread_equal(given->caller, pthread_self())) {
        note_broken(given);
    }
}
