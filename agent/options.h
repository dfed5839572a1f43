/* options.h — the agent's configuration, /etc/trainspotter/agent.yaml against the table in options.c, and its command
 * line. */
#ifndef AGENT_OPTIONS_H
#define AGENT_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/plan.h"
#include "agent/identity.h"
#include "base/conf.h"
#include "base/opt.h"
#include "trace/name_rules.h"

/* Exit statuses besides 0. 78 is EX_CONFIG of sysexits.h: systemd does not restart into the same mistake. */
enum { AGENT_FAILED = 1, AGENT_USAGE = 2, AGENT_BAD_CONFIG = 78 };

struct watch_conf {
	char *dir, *service, *deploy, *worker;
	int64_t done; /* DONE_REMOVE, DONE_MOVE */
	char *done_dir, *bad_dir; /* "": dir/done, dir/bad */
	int64_t stable_ns;
	bool decode;
};
enum { DONE_REMOVE, DONE_MOVE };

struct capture_conf { /* when windows are taken, for all sources that take them */
	int64_t interval_ns, duration_ns, iterations, max_at_once, min_age_ns;
	int64_t budget_ppm, restore_ns; /* agent/cost.h */
	struct conf_texts quiet;
	char *slow_step;
	int64_t slow_step_every_ns;
};

struct keep_conf { /* raw traces that stay on the host */
	int64_t last, captures, max_bytes;
};

struct kineto_conf {
	bool enabled;
	char *socket;
	struct conf_texts socket_dirs, uids;
	int64_t roundup, timeout_ns;
	char *activities, *custom, *service, *deploy;
};

/* A server that the source "vllm" profiles; texts only (agent/vllm_journal.c keeps them). */
struct vllm_server_conf {
	char *url, *token_file, *ca_file, *dir, *service, *deploy, *worker;
};
struct vllm_conf {
	struct conf_sections servers; /* struct vllm_server_conf */
	int64_t timeout_ns, stable_ns, metrics_ns;
	bool decode;
};

struct xla_job_conf {
	char *address, *service, *deploy, *worker;
};

struct xla_conf {
	bool enabled, environment;
	struct conf_sections jobs; /* struct xla_job_conf */
	char *dir, *service, *deploy;
	int64_t timeout_ns, max_file, host_level, scan_ns;
};

/* A command that takes windows (agent/exec.h). */
struct exec_command_conf {
	char *name;
	struct conf_texts command;
	char *process, *service, *deploy, *worker;
	int64_t limit_ns, max_output, memory, nice;
	bool decode;
};
struct exec_conf {
	struct conf_sections commands; /* struct exec_command_conf */
};

/* How sessions of a Neuron profiler are decoded (agent/decode.h). */
struct decode_conf {
	char *program;
	bool want_system, want_summary, want_device;
	int64_t max_input, max_output, memory, limit_ns, keep;
};

struct neuron_monitor_conf {
	bool enabled;
	char *command, *config, *service, *deploy;
	int64_t interval_ns, timeout_ns;
};

struct sysfs_conf {
	bool enabled;
	char *root, *service, *deploy;
	int64_t interval_ns;
};

struct agent_conf {
	char *server, *token_file, *ca_file;
	char *state_dir, *host;
	struct conf_sections watch; /* struct watch_conf */
	bool poll_enabled;
	int64_t poll_ns;
	struct capture_conf capture;
	struct keep_conf keep;
	struct kineto_conf kineto;
	struct identity_conf identity;
	struct vllm_conf vllm;
	struct neuron_monitor_conf neuron_monitor;
	struct sysfs_conf sysfs;
	struct xla_conf xla;
	struct exec_conf exec;
	struct decode_conf decode;
	int64_t rescan_ns, keep_files;
	int64_t spool_bytes;
	int64_t batch_bytes, timeout_ns, retry_first_ns, retry_max_ns;
	int64_t quarantine_batches;
	int64_t cpu_percent, cpu_burst_ns;
	int64_t max_output, max_ratio, max_events;
	char *name_rules; /* path, "" for none */
	struct name_rules *rules; /* what stands there; owns; NULL for none */
	int64_t log_level, status_ns;
};

extern const struct conf_schema agent_schema;

struct agent_options {
	const char *config;
	bool check, print_config, once;
	struct opt_texts set;
};

extern const struct opt_command agent_command;

/* Defaults, the file, what --set says, and what no single key can know. E_USAGE names file, line and key. */
int agent_conf_load(struct agent_conf *cf, const struct agent_options *o, struct err *e) MUST_USE;
void agent_conf_fini(struct agent_conf *cf);

/* What it was started with, of the keys that take effect at the next start only. */
enum { AGENT_KEYS_MAX = 160 };
struct agent_conf_marks {
	uint64_t v[AGENT_KEYS_MAX];
};
void agent_conf_mark(const struct agent_conf *cf, struct agent_conf_marks *out);
/* The names of those that are another value now, with blanks between, go behind out. */
void agent_conf_later(const struct agent_conf *cf, const struct agent_conf_marks *started, struct buf *out);

/* capture.slow_step in thousandths; 0: off. E_USAGE names the key. */
int agent_conf_slow_step(const struct capture_conf *cf, int64_t *ratio, struct err *e) MUST_USE;
/* The schedule of this host. E_USAGE names the key. */
int agent_conf_plan(const struct capture_conf *cf, struct str host, struct plan_settings *out, struct err *e) MUST_USE;

static inline const struct exec_command_conf *exec_conf_command(const struct exec_conf *cf, size_t i)
{
	return (const struct exec_command_conf *)cf->commands.v + i;
}

static inline const struct watch_conf *agent_conf_watch(const struct agent_conf *cf, size_t i)
{
	return (const struct watch_conf *)cf->watch.v + i;
}

static inline const struct vllm_server_conf *agent_conf_vllm(const struct agent_conf *cf, size_t i)
{
	return (const struct vllm_server_conf *)cf->vllm.servers.v + i;
}

#endif
