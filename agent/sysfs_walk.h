/* sysfs_walk.h — the files of a Neuron driver below /sys, walked and never known beforehand: releases add and rename them.
 *
 *	ROOT/devices/virtual/neuron_device/neuron<D>/		a device
 *	    core_count						a number that nobody may write
 *	    info/…/<name>					a text or a number
 *	    stats/…/<name>/{total,present,peak}			a counter; with peak, or below memory_usage, a level in bytes
 *	    stats/…/<name>					a number; STATUS,unix,min,max,avg; or a list of components
 *	    neuron_core<N>/stats/…				the same of a core
 *
 * A folder whose name ends in digits is a label: neuron_core3 becomes core=3. What is left of the path is the name:
 * status/success, memory_usage/device_mem/tensors, other_info/flop_count, power/utilization.
 *
 * The driver clears a counter that is written to, and resets the device when reset is: files are opened for reading only, reset
 * and links never, and outside of stats nothing that anybody may write. Folders in depth, names, bytes of a file and time are
 * bounded. Runs on: a thread that may wait. */
#ifndef AGENT_SYSFS_WALK_H
#define AGENT_SYSFS_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"
#include "base/thread.h"
#include "profile/window.h"

enum { SYSFS_DEPTH_MAX = 12, SYSFS_NAMES_MAX = 200000, SYSFS_FILE_MAX = 4096, SYSFS_LABELS_MAX = 6 };

enum sysfs_kind {
	SYSFS_COUNTER, /* it only grows, until the driver is loaded anew */
	SYSFS_LEVEL,   /* as it is now, in bytes or a count */
	SYSFS_PEAK,    /* the most a level has been */
	SYSFS_POWER,   /* value: the average; low and high */
	SYSFS_PART,    /* text: a component that is in the list; once for each */
	SYSFS_TEXT,    /* of info */
	SYSFS_KINDS
};

struct sysfs_value { /* texts live for the call */
	enum sysfs_kind kind;
	struct str path; /* from the device on, its own name included: a key that no other value has */
	struct str name;
	struct label labels[SYSFS_LABELS_MAX];
	size_t n_labels;
	double value, low, high;
	int64_t unix_s; /* SYSFS_POWER: when it was measured */
	struct str text;
};

struct sysfs_walk {
	void (*visit)(void *arg, const struct sysfs_value *v);
	void *arg;
	int64_t limit_ns; /* how long it may take */
	const struct thread *thread; /* it ends early when that is to stop; NULL is fine */
	/* out */
	size_t devices, files;
	uint64_t denied; /* files or folders that we may not read */
	uint64_t odd;	 /* below stats, in none of the forms above */
	bool cut;	 /* a bound was hit, so not all was seen */
};

/* root: "/sys", or a test's. E_NOT_FOUND without the driver's folder. */
int sysfs_walk(struct sysfs_walk *w, const char *root, struct err *e) MUST_USE;
/* Of the driver, ROOT/module/neuron/version; empty where it does not say. out lives as long as room. */
struct str sysfs_driver_version(const char *root, char *room, size_t cap);

/* A file's text: 0 what is none of these, else fills kind (LEVEL for a number, POWER, PART for a list, TEXT), value, low, high,
 * unix_s and text. For tests. */
bool sysfs_parse(struct str text, struct sysfs_value *out);

#endif
