/* SPDX-License-Identifier: MIT */
/* A compiled plan, as its parts see it. */
#ifndef WEFT_PLAN_PLAN_H
#define WEFT_PLAN_PLAN_H

#include <weft/vulkan.h>

#include "lower/lowering.h"

struct weft_port {
    char *name;
    weft_dtype dtype;
    weft_shape shape;
    uint64_t bytes;
    bool is_output;
    bool is_state;
    struct weft_state_rings rings; /* of a state */
    /* Range of i32 inputs that index tables or are lengths: the least value and the one after the largest; else 0. */
    uint32_t index_first, index_limit;
    const char *index_of; /* what it indexes, for messages */
};

/** One dispatch or a part of one, so that no submission takes too long. */
struct weft_dispatch_part {
    uint32_t dispatch;
    uint32_t base[3];
    uint32_t groups[3];
    bool new_submission; /* starts the next command buffer */
};

struct weft_steps {
    struct weft_dispatch_part *at;
    uint32_t count, room;
    uint32_t submissions;
};

enum weft_plan_pass {
    WEFT_PASS_GRAPH,
    WEFT_PASS_FUSE,
    WEFT_PASS_CHOOSE,
    WEFT_PASS_PLACE,
    WEFT_PASS_ORDER,
    WEFT_PASS_CHOICES, /* what choose and lower chose between, and why */
    WEFT_PLAN_PASS_COUNT
};
extern const char *const weft_plan_passes[WEFT_PLAN_PASS_COUNT];

/*
 * Memory that one run at a time uses alone: the plan's own, which its bindings share, or that of bindings with their
 * own arena.
 */
struct weft_workspace {
    VkBuffer arena;
    struct weft_allocation *arena_allocation;
    VkDescriptorPool descriptor_pool;
    VkDescriptorSet *sets; /* per dispatch; null handles for dispatches that bind ports */
    VkQueryPool queries;   /* two per step, or null */
    atomic_uint_least64_t newest_run; /* timeline value, 0: none */
    /* As weft_plan_get_stats found them. */
    uint64_t seen; /* first stamp of the newest run that it has seen finished */
    uint64_t runs_timed;
    double newest_ms, sum_ms, max_ms;
};

/* Runs that were submitted and, as far as anybody has looked, not finished: up to a ticket each. Guarded by locks.queue. */
struct weft_pending_runs {
    struct weft_pending {
        uint64_t ticket, runs;
    } at[64];
    uint32_t first, count;
    uint64_t finished;
};

/** How weft_plan_execute has a port in this process's memory, where the device works on that. */
struct weft_host_port {
    void *room;    /* the plan's own, for what cannot be in place; null: the device has it */
    bool in_place; /* this run has it where the caller does */
};

struct weft_plan {
    weft_device *device;
    struct weft_lowering lowering; /* storages and dispatches, kept for recording */
    struct weft_port *ports;
    uint32_t port_count;
    struct weft_digest_map port_names; /* their numbers */
    weft_checkpoints checkpoints;
    uint32_t checkpoint_count; /* the last of the ports */
    weft_opening opening;
    weft_graph
        *opens; /* what weft_plan_open takes parts of, with its checkpoints as outputs; or null */
    struct weft_workspace workspace;
    struct weft_steps steps;
    weft_bindings *bindings; /* all that there are, by `next` */
    /* Per dispatch, as they were found last; null without time stamps. Atomic: each bindings' thread may ask. */
    _Atomic double *dispatch_ms;
    atomic_bool measured; /* whether they were */
    atomic_uint_least64_t runs_submitted, runs_recorded, parts_recorded;
    struct weft_pending_runs pending;
    weft_plan_info info;
    char *text
        [WEFT_PLAN_PASS_COUNT]; /* what weft_plan_describe gives, in the order of weft_plan_passes */
    weft_bindings *execute_bindings; /* weft_plan_execute's own, made on first use */
    weft_buffer **execute_buffers;
    struct weft_host_port *host_ports; /* as many as ports */
    const weft_host_tensor **given;    /* weft_plan_execute's, per port */
    weft_plan *states_of;              /* whose states weft_plan_execute has; null: its own */
};

/** A port that is an image. */
struct weft_image_port {
    bool is_set;
    weft_image_params params;
    uint32_t layers;
    VkBuffer buffer; /* what the plan reads or writes; kept when the port is a buffer again */
    struct weft_allocation *allocation;
};

struct weft_bindings {
    weft_plan *plan;
    weft_bindings *next, *previous;   /* of the plan's */
    struct weft_workspace *workspace; /* the plan's, or: */
    struct weft_workspace own;
    VkBuffer *buffers; /* per port; null handle: not set */
    uint64_t *offsets;
    struct weft_image_port *images; /* per port; null: none was ever set */
    VkDescriptorPool descriptor_pool;
    VkDescriptorSet *sets;      /* per dispatch; null handles for dispatches that bind no port */
    VkCommandPool command_pool; /* made with the first of: */
    VkCommandBuffer *commands;  /* one per submission, recorded on first submit after a change */
    uint32_t command_count;
    bool sets_current;
    bool has_host; /* or had: a buffer of the host's memory */
    bool commands_current;
    uint64_t newest_run;
};

/** A pool and sets for the dispatches that do (or do not) bind ports; sets[i] stays null for the others. */
weft_status weft_descriptors_create(VkDescriptorPool *pool, VkDescriptorSet *sets,
                                    const weft_plan *plan, bool ports);

/** Points a dispatch's set at its memory. buffers and offsets are per port and may be null when it binds none. */
void weft_descriptors_write(const weft_plan *plan, VkBuffer arena, uint32_t dispatch,
                            VkDescriptorSet set, const VkBuffer *buffers, const uint64_t *offsets);

/** An arena with the sets and time stamps that belong to it, for a plan that is split; where it fails, for weft_workspace_end. */
weft_status weft_workspace_begin(struct weft_workspace *workspace, const weft_plan *plan,
                                 bool timestamps);
/** Waits for the newest run that was submitted. */
void weft_workspace_end(struct weft_workspace *workspace, const weft_plan *plan);

/** Notes in plan->given what a run is given, or says what is missing or wrong. */
weft_status weft_plan_check_tensors(weft_plan *plan, const weft_host_tensor *tensors,
                                    uint32_t count);

/** Frees the plan's list of them. */
void weft_host_ports_free(weft_plan *plan);

/** The port of that name, or WEFT_INDEX_NONE. */
uint32_t weft_plan_port_of(const weft_plan *plan, const char *name);

/** Finds a port; WEFT_NOT_FOUND lists the existing ones. */
weft_status weft_plan_find_port(uint32_t *index, const weft_plan *plan, const char *name);

/** A port is there from now on. */
void weft_bindings_point(weft_bindings *bindings, uint32_t port, VkBuffer buffer, uint64_t offset);

/** Copies of the images that are inputs, in front of a run, or of those that are outputs, behind it. */
void weft_images_record(const weft_bindings *bindings, VkCommandBuffer commands, bool outputs);
/** Frees what images took. */
void weft_images_end(weft_bindings *bindings);

/** Has the command buffers of a run, prepared as follows: one for each submission. */
weft_status weft_bindings_record(weft_bindings *bindings);
/** Notes the newest submission of a run. */
void weft_bindings_submitted(weft_bindings *bindings, uint64_t ticket);

/** WEFT_INVALID_ARGUMENT naming the first port that is not set; writes the descriptor sets that are out of date. */
weft_status weft_bindings_prepare(weft_bindings *bindings);

/**
 * Splits the dispatches into steps and submissions that stay under the device's limit, and steps also under part_ms, if not 0: by
 * what was measured, or what is expected. `steps` is empty before, and has what there is to free also after a failure.
 */
weft_status weft_plan_split(struct weft_steps *steps, const weft_plan *plan, double part_ms,
                            bool measured);

/** Counts a run that was submitted. */
void weft_stats_submitted(weft_plan *plan, uint64_t ticket);
/** Counts parts that were recorded; `last`: and with them a run. */
void weft_stats_recorded(weft_plan *plan, uint32_t parts, bool last);

/** VK_NOT_READY where the newest run has not finished; stamps [2 * steps]. Waits for nothing. */
VkResult weft_stamps_read(uint64_t *stamps, const struct weft_workspace *workspace,
                          const weft_plan *plan);
/** Milliseconds between two stamps; the second is later. */
double weft_stamps_ms(const weft_plan *plan, uint64_t begin, uint64_t end);
/** Milliseconds from `begin` to a stamp, negative if the stamp is the earlier one. */
double weft_stamps_since_ms(const weft_plan *plan, uint64_t begin, uint64_t stamp);

/** The plan has these steps from now on, instead of those that it had. */
void weft_plan_take_steps(weft_plan *plan, struct weft_steps *steps);

/** Two queries per step, none of which is available yet. */
weft_status weft_queries_create(VkQueryPool *queries, const weft_plan *plan, uint32_t steps);

/** Expected time of a dispatch on the device, by its operations and bytes. */
double weft_dispatch_ms(const weft_device *device, const struct weft_dispatch *dispatch);

/**
 * How many parts from `first` on are expected to take at most budget_ms together, one at least if `at_least_one`; *ms is what they
 * are expected to take.
 */
uint32_t weft_parts_that_fit(const weft_plan *plan, uint32_t first, double budget_ms,
                             bool at_least_one, double *ms);

/** Appends a barrier behind all compute work before. */
void weft_record_barrier(const weft_device *device, VkCommandBuffer commands);

/** Appends a step of the plan's. `ordered`: it comes right behind a barrier. */
void weft_record_step(const weft_plan *plan, VkCommandBuffer commands,
                      const weft_bindings *bindings, uint32_t index, bool ordered);

/** Records the commands before the steps of a run. */
void weft_record_begin(const weft_bindings *bindings, VkCommandBuffer commands);
/** Records the commands after the steps of a run. */
void weft_record_end(const weft_bindings *bindings, VkCommandBuffer commands);

/** The text of a pass over the graph or the lowering, for weft_plan_describe; freed with the device's host. */
char *weft_describe_graph(const weft_graph *graph, bool implementations, const weft_host *host);
char *weft_describe_placement(const struct weft_lowering *lowering, uint64_t arena_bytes,
                              uint64_t lower_bound);
char *weft_describe_order(const weft_plan *plan);

#endif
