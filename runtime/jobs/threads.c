/* SPDX-License-Identifier: MIT */
/*
 * The job system of a device's own threads.
 *
 * A job is offered in one atomic word: how many calls there may be, how many have been taken, and which job it is. Whoever
 * offers it takes the first call, and when that has returned, takes the offer back: a thread that has not woken up by
 * then is not waited for. So a short job costs what it takes the caller, however busy the machine is.
 */
#include <stdatomic.h>

#include "jobs/machine.h"
#include "jobs/thread.h"
#include "jobs/threads.h"

#define SPIN_NS \
    UINT64_C(30000)    /* before a thread sleeps: longer than what is between two dispatches */
#define SPIN_LOOKS  32 /* between two looks at the clock */
#define CACHE_LINE  64
#define TAKEN_BITS  UINT64_C(0xffff)
#define LIMIT_SHIFT 16
#define JOB_SHIFT   32

struct weft_threads {
    pthread_mutex_t lock;
    pthread_cond_t wake;     /* for the threads: there is a job, or the end */
    pthread_cond_t returned; /* for the caller: a call has returned */
    weft_job work; /* these two do not change while a job has calls that have not returned */
    void *job;
    bool
        spins; /* false where there are more threads than processors: a thread that spins then keeps others from work */
    uint32_t wanted, started; /* fewer are started in a forked child, until there is a job */
    char apart[CACHE_LINE];
    atomic_uint_least64_t
        offer; /* calls taken, calls allowed << LIMIT_SHIFT, number of the job << JOB_SHIFT */
    atomic_uint done; /* calls of other threads that have returned */
    char apart_too[CACHE_LINE];
    atomic_uint asleep; /* threads in `wake` */
    atomic_bool waits;  /* the caller is in `returned` */
    atomic_bool stop;
    pthread_t handles[];
};

static void relax(void) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

static uint32_t taken_of(uint64_t offer) {
    return (uint32_t)(offer & TAKEN_BITS);
}

static bool is_open(uint64_t offer) {
    return taken_of(offer) < ((offer >> LIMIT_SHIFT) & TAKEN_BITS);
}

/* Takes a call of the job on offer. */
static bool take(struct weft_threads *threads, uint32_t *slot) {
    uint64_t offer = atomic_load(&threads->offer);
    while (is_open(offer)) {
        if (atomic_compare_exchange_weak(&threads->offer, &offer, offer + 1)) {
            *slot = taken_of(offer);
            return true;
        }
    }
    return false;
}

static void give_back(struct weft_threads *threads) {
    atomic_fetch_add(&threads->done, 1);
    if (atomic_load(&threads->waits)) {
        pthread_mutex_lock(&threads->lock);
        pthread_cond_signal(&threads->returned);
        pthread_mutex_unlock(&threads->lock);
    }
}

/* ---- the threads ---- */

static bool has_news(struct weft_threads *threads) {
    return is_open(atomic_load(&threads->offer)) || atomic_load(&threads->stop);
}

static bool spin_for_news(struct weft_threads *threads) {
    if (!threads->spins) {
        return false;
    }
    const uint64_t start = weft_clock_ns();
    do {
        for (int look = 0; look < SPIN_LOOKS; look++) {
            if (has_news(threads)) {
                return true;
            }
            relax();
        }
    } while (weft_clock_ns() - start < SPIN_NS);
    return false;
}

static void sleep_for_news(struct weft_threads *threads) {
    pthread_mutex_lock(&threads->lock);
    /* Counted before looking: whoever makes an offer looks at this after it. */
    atomic_fetch_add(&threads->asleep, 1);
    while (!has_news(threads)) {
        pthread_cond_wait(&threads->wake, &threads->lock);
    }
    atomic_fetch_sub(&threads->asleep, 1);
    pthread_mutex_unlock(&threads->lock);
}

static void *thread_main(void *argument) {
    WEFT_ENTER; /* it began as one that computes as kernels do, where weft_device_open made it */
    struct weft_threads *threads = argument;
    while (!atomic_load(&threads->stop)) {
        uint32_t slot = 0;
        if (take(threads, &slot)) {
            threads->work(threads->job, slot);
            give_back(threads);
        } else if (!spin_for_news(threads)) {
            sleep_for_news(threads);
        }
    }
    return NULL;
}

/* ---- the caller ---- */

static void wake(struct weft_threads *threads, uint32_t wanted) {
    const uint32_t asleep = atomic_load(&threads->asleep);
    if (asleep == 0) {
        return;
    }
    pthread_mutex_lock(&threads->lock);
    if (wanted >= asleep) {
        pthread_cond_broadcast(&threads->wake);
    } else {
        for (uint32_t i = 0; i < wanted; i++) {
            pthread_cond_signal(&threads->wake);
        }
    }
    pthread_mutex_unlock(&threads->lock);
}

/* Lets no more calls be taken. How many other threads have taken one. */
static uint32_t close_offer(struct weft_threads *threads) {
    uint64_t offer = atomic_load(&threads->offer), closed = 0;
    do {
        closed = (offer >> JOB_SHIFT << JOB_SHIFT) | (uint64_t)taken_of(offer) << LIMIT_SHIFT |
                 taken_of(offer);
    } while (!atomic_compare_exchange_weak(&threads->offer, &offer, closed));
    return taken_of(offer) - 1;
}

static void wait_for(struct weft_threads *threads, uint32_t calls) {
    const uint64_t start =
        threads->spins && atomic_load(&threads->done) < calls ? weft_clock_ns() : 0;
    while (threads->spins && atomic_load(&threads->done) < calls &&
           weft_clock_ns() - start < SPIN_NS) {
        relax();
    }
    if (atomic_load(&threads->done) == calls) {
        return;
    }
    pthread_mutex_lock(&threads->lock);
    atomic_store(&threads->waits, true);
    while (atomic_load(&threads->done) < calls) {
        pthread_cond_wait(&threads->returned, &threads->lock);
    }
    atomic_store(&threads->waits, false);
    pthread_mutex_unlock(&threads->lock);
}

/* True if all are there. */
static bool start(struct weft_threads *threads) {
    while (threads->started < threads->wanted &&
           weft_thread_start(&threads->handles[threads->started], thread_main, threads)) {
        threads->started++;
    }
    return threads->started == threads->wanted;
}

static void run(void *user, weft_job work, void *job, uint32_t count) {
    struct weft_threads *threads = user;
    (void)start(threads); /* whoever is missing takes no calls */
    const uint64_t number = (atomic_load(&threads->offer) >> JOB_SHIFT) + 1;
    threads->work = work;
    threads->job = job;
    atomic_store(&threads->done, 0);
    atomic_store(&threads->offer, number << JOB_SHIFT | (uint64_t)count << LIMIT_SHIFT | 1);
    wake(threads, count - 1);
    work(job, 0);
    wait_for(threads, close_offer(threads));
}

/* ---- from start to end ---- */

static bool create_locks(struct weft_threads *threads) {
    if (pthread_mutex_init(&threads->lock, NULL) != 0) {
        return false;
    }
    if (!weft_condition_create(&threads->wake)) {
        pthread_mutex_destroy(&threads->lock);
        return false;
    }
    if (!weft_condition_create(&threads->returned)) {
        pthread_cond_destroy(&threads->wake);
        pthread_mutex_destroy(&threads->lock);
        return false;
    }
    return true;
}

weft_status weft_threads_start(struct weft_threads **threads, weft_job_system *jobs, uint32_t count,
                               const weft_host *host) {
    struct weft_threads *made =
        weft_alloc_zero(host, 1, sizeof *made + count * sizeof made->handles[0]);
    if (!made) {
        return weft_fail_memory(host, "threads");
    }
    if (!create_locks(made)) {
        weft_free(host, made);
        return weft_fail_memory(host, "threads");
    }
    made->spins = count <= weft_processor_count();
    made->wanted = count - 1;
    if (!start(made)) { /* the system has no more: jobs run on those that there are */
        weft_log(host, WEFT_LOG_WARNING, "only %u of %u threads could be started",
                 made->started + 1, count);
        made->wanted = made->started;
    }
    *threads = made;
    *jobs = (weft_job_system){.concurrency = count, .user = made, .run = run};
    return WEFT_OK;
}

bool weft_threads_inherit(struct weft_threads *threads) {
    if (!threads) {
        return true;
    }
    threads->started = 0;
    atomic_store(&threads->asleep, 0);
    atomic_store(&threads->waits, false);
    return create_locks(threads);
}

void weft_threads_end(struct weft_threads **threads, const weft_host *host) {
    struct weft_threads *old = *threads;
    if (!old) {
        return;
    }
    pthread_mutex_lock(&old->lock);
    atomic_store(&old->stop, true);
    pthread_cond_broadcast(&old->wake);
    pthread_mutex_unlock(&old->lock);
    for (uint32_t i = 0; i < old->started; i++) {
        pthread_join(old->handles[i], NULL);
    }
    pthread_cond_destroy(&old->returned);
    pthread_cond_destroy(&old->wake);
    pthread_mutex_destroy(&old->lock);
    weft_free(host, old);
    *threads = NULL;
}
