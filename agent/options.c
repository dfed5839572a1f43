#include "agent/options.h"

#include "agent/exec.h"
#include "agent/kineto.h"
#include "agent/kineto_config.h"
#include "agent/xla.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/str.h"
#include "json/num.h"

static const char *const done_words[] = { [DONE_REMOVE] = "remove", [DONE_MOVE] = "move", NULL };
static const char *const level_words[] = { "error", "warn", "info", "debug", NULL }; /* enum log_level */

enum { MARKED_MAX = 4 << 20 };

#define W(field) offsetof(struct watch_conf, field)

static const struct conf_key watch_keys[] = {
	{ "dir", CONF_PATH, W(dir), 0, 0, NULL,
		"folder where jobs put their traces, or archives of them (.tar, .tar.gz, .tar.zst); made by the job or by you", NULL },
	{ "service", CONF_TEXT, W(service), 0, 256, "",
		"service of traces whose sidecar names none; empty: unknown", NULL },
	{ "deploy", CONF_TEXT, W(deploy), 0, 256, "",
		"deploy of traces whose sidecar names none; empty: a fingerprint of versions", NULL },
	{ "worker", CONF_TEXT, W(worker), 0, 256, "", "worker of traces whose sidecar names none", NULL },
	{ "done", CONF_CHOICE, W(done), 0, 0, "remove",
		"what happens to a trace and its sidecar once the window is safe", done_words },
	{ "done_dir", CONF_PATH, W(done_dir), 0, 0, "",
		"where done traces go with done: move; same file system; empty: dir/done", NULL },
	{ "bad_dir", CONF_PATH, W(bad_dir), 0, 0, "",
		"where traces and archives go that cannot be read; same file system; empty: dir/bad", NULL },
	{ "stable", CONF_DURATION, W(stable_ns), 0, NS_PER_HOUR, "5s",
		"a file not moved in is finished when it stays the same for so long", NULL },
	{ "decode", CONF_BOOL, W(decode), 0, 0, "no",
		"also take folders of .ntff, .neff and .pb in it, as Neuron's profilers leave them", NULL },
};
static const struct conf_schema watch_schema = { watch_keys, COUNT(watch_keys), sizeof(struct watch_conf) };

#define V(field) offsetof(struct vllm_server_conf, field)

static const struct conf_key vllm_server_keys[] = {
	{ "url", CONF_TEXT, V(url), 8, 120, NULL,
		"of the server, as http://127.0.0.1:8000, without a path", NULL },
	{ "token_file", CONF_PATH, V(token_file), 0, 0, "", "file with the bearer token that it wants; empty: none", NULL },
	{ "ca_file", CONF_PATH, V(ca_file), 0, 0, "", "certificates to trust instead of the system's", NULL },
	{ "dir", CONF_PATH, V(dir), 0, 0, NULL, "where its traces appear, as the agent sees it", NULL },
	{ "service", CONF_TEXT, V(service), 0, 256, "",
		"service of traces whose sidecar names none; empty: unknown", NULL },
	{ "deploy", CONF_TEXT, V(deploy), 0, 256, "",
		"deploy of traces whose sidecar names none; empty: a fingerprint of versions", NULL },
	{ "worker", CONF_TEXT, V(worker), 0, 256, "", "worker of traces whose sidecar names none", NULL },
};
static const struct conf_schema vllm_server_schema = { vllm_server_keys, COUNT(vllm_server_keys),
	sizeof(struct vllm_server_conf) };

#define X(field) offsetof(struct xla_job_conf, field)

static const struct conf_key xla_job_keys[] = {
	{ "address", CONF_TEXT, X(address), 1, 63, NULL,
		"of the profiler server, on this machine: 127.0.0.1:9012", NULL },
	{ "service", CONF_TEXT, X(service), 0, 256, "",
		"service where the process's environment names none; empty: xla.service", NULL },
	{ "deploy", CONF_TEXT, X(deploy), 0, 256, "",
		"deploy where the process's environment names none; empty: xla.deploy", NULL },
	{ "worker", CONF_TEXT, X(worker), 0, 256, "", "worker where the process's environment names none", NULL },
};
static const struct conf_schema xla_job_schema = { xla_job_keys, COUNT(xla_job_keys), sizeof(struct xla_job_conf) };

#define C(field) offsetof(struct exec_command_conf, field)

static const struct conf_key exec_command_keys[] = {
	{ "name", CONF_TEXT, C(name), 1, EXEC_NAME_TEXT - 1, NULL,
		"of letters, digits, - and _: how it is called in folders and logs", NULL },
	{ "command", CONF_TEXTS, C(command), 1, 4096, "",
		"program and arguments, a word each, without a shell; {dir} {duration_ms} {iterations} {pid} in them are replaced", NULL },
	{ "process", CONF_TEXT, C(process), 0, 1024, "",
		"run for each process whose command line matches this pattern (* and ?), its pid in {pid}; empty: once, for the host", NULL },
	{ "service", CONF_TEXT, C(service), 0, 256, "", "service, where neither trace nor process names one; empty: unknown", NULL },
	{ "deploy", CONF_TEXT, C(deploy), 0, 256, "",
		"deploy, where neither trace nor process names one; empty: a fingerprint of versions", NULL },
	{ "worker", CONF_TEXT, C(worker), 0, 256, "", "worker, where neither trace nor process names one", NULL },
	{ "limit", CONF_DURATION, C(limit_ns), NS_PER_S, NS_PER_DAY, "2m",
		"how long it may take beyond capture.duration; then it is ended with all that it started", NULL },
	{ "max_output", CONF_SIZE, C(max_output), 1 << 10, INT64_C(1) << 40, "1GiB",
		"what it may write; then it is ended, and its folder removed", NULL },
	{ "memory", CONF_SIZE, C(memory), 0, INT64_C(1) << 45, "0", "address space that it may use; 0: no limit", NULL },
	{ "nice", CONF_INT, C(nice), 0, 19, "10", "added to the agent's own", NULL },
	{ "decode", CONF_BOOL, C(decode), 0, 0, "yes", "decode folders of .ntff, .neff and .pb that it leaves", NULL },
};
static const struct conf_schema exec_command_schema = { exec_command_keys, COUNT(exec_command_keys),
	sizeof(struct exec_command_conf) };

#define A(field) offsetof(struct agent_conf, field)

static const struct conf_key agent_keys[] = {
	{ "server", CONF_TEXT, A(server), 1, 2048, "http://127.0.0.1:8940",
		"where the daemon listens", NULL },
	{ "token_file", CONF_PATH, A(token_file), 0, 0, "",
		"file with the bearer token; empty: the variable TRAINSPOTTER_TOKEN, if set", NULL },
	{ "ca_file", CONF_PATH, A(ca_file), 0, 0, "", "certificates to trust instead of the system's", NULL },
	{ "state_dir", CONF_PATH, A(state_dir), 0, 0, "/var/lib/trainspotter-agent",
		"the agent's own: its id, the spool, the quarantine", NULL },
	{ "host", CONF_TEXT, A(host), 0, 256, "", "name of this host; empty: what the system says", NULL },
	{ "watch", CONF_SECTIONS, A(watch), 0, 0, NULL, "folders to find traces in", &watch_schema },
	{ "poll.enabled", CONF_BOOL, A(poll_enabled), 0, 0, "yes",
		"ask the daemon when windows may be taken, and whether any; no: the keys of capture count alone", NULL },
	{ "poll.interval", CONF_DURATION, A(poll_ns), NS_PER_S, 10 * NS_PER_MIN, "10s",
		"how often, until the daemon says otherwise", NULL },
	{ "capture.interval", CONF_DURATION, A(capture.interval_ns), NS_PER_S, 7 * NS_PER_DAY, "5m",
		"from window to window of one worker, whatever source takes them; hosts spread over it by their names", NULL },
	{ "capture.duration", CONF_DURATION, A(capture.duration_ns), NS_PER_MS, NS_PER_MIN, "500ms",
		"of a window, where it is not by iterations", NULL },
	{ "capture.iterations", CONF_INT, A(capture.iterations), 0, 10000, "0",
		"of a window, where the source can count them (kineto: as an optimizer's step does); 0: by duration", NULL },
	{ "capture.max_at_once", CONF_INT, A(capture.max_at_once), 1, 1000, "1",
		"workers of this host that are profiled at the same time", NULL },
	{ "capture.quiet", CONF_TEXTS, A(capture.quiet), 1, 11, "",
		"hours without windows, HH:MM-HH:MM in UTC", NULL },
	{ "capture.min_age", CONF_DURATION, A(capture.min_age_ns), 0, NS_PER_DAY, "60s",
		"a worker younger than this is left alone: it is still loading", NULL },
	{ "capture.slow_step", CONF_TEXT, A(capture.slow_step), 1, 10, "2.0",
		"a window whose steps are so many times as long as its worker's last ones asks for another one; 0: never", NULL },
	{ "capture.slow_step_every", CONF_DURATION, A(capture.slow_step_every_ns), NS_PER_S, 30 * NS_PER_DAY, "30m",
		"from one such window of a worker to the next, at least", NULL },
	{ "capture.budget_ppm", CONF_INT, A(capture.budget_ppm), 1, 1000000, "1000",
		"of a worker's time that windows may cost it, in parts per million; over it, fewer are taken, where it can be measured", NULL },
	{ "capture.restore", CONF_DURATION, A(capture.restore_ns), NS_PER_S, 30 * NS_PER_DAY, "1h",
		"how long fewer windows are taken before twice as many are tried again", NULL },
	{ "keep.last", CONF_INT, A(keep.last), 0, 100000, "0",
		"raw traces that stay in state_dir/raw/last when their window is safe; the oldest go first", NULL },
	{ "keep.captures", CONF_INT, A(keep.captures), 0, 100000, "20",
		"the same of windows that somebody or an alert asked for, in state_dir/raw/captures", NULL },
	{ "keep.max", CONF_SIZE, A(keep.max_bytes), 0, INT64_C(1) << 50, "1GiB",
		"of each of the two folders", NULL },
	{ "kineto.enabled", CONF_BOOL, A(kineto.enabled), 0, 0, "no",
		"profile PyTorch processes that were started with KINETO_USE_DAEMON=1", NULL },
	{ "kineto.socket_dirs", CONF_TEXTS, A(kineto.socket_dirs), 1, KINETO_SOCKET_DIR_MAX, "",
		"folders to listen in besides, for containers; as in the job's KINETO_IPC_SOCKET_DIR, byte for byte", NULL },
	{ "kineto.roundup", CONF_INT, A(kineto.roundup), 1, 1000000, "100",
		"with capture.iterations: a window starts at a multiple of this, so that ranks start together", NULL },
	{ "kineto.timeout", CONF_DURATION, A(kineto.timeout_ns), NS_PER_S, NS_PER_HOUR, "60s",
		"how long after a window its trace may take to appear", NULL },
	{ "kineto.uids", CONF_TEXTS, A(kineto.uids), 1, 10,  "",
		"numbers of the users whose processes are profiled; empty: everybody's", NULL },
	{ "kineto.activities", CONF_TEXT, A(kineto.activities), 0, 512, "",
		"ACTIVITY_TYPES for libkineto; empty: operators, annotations, and what devices record", NULL },
	{ "kineto.custom", CONF_TEXT, A(kineto.custom), 0, 1024, "",
		"CUSTOM_CONFIG for the device's profiler, as Neuron's capture_enabled_for_nc:0,1", NULL },
	{ "kineto.service", CONF_TEXT, A(kineto.service), 0, 256, "",
		"service of processes whose environment names none; empty: unknown", NULL },
	{ "kineto.deploy", CONF_TEXT, A(kineto.deploy), 0, 256, "",
		"deploy of processes whose environment names none; empty: a fingerprint of versions", NULL },
	{ "kineto.socket", CONF_TEXT, A(kineto.socket), 1, 48, KINETO_SOCKET,
		"name of the socket; libkineto knows no other than this", NULL },
	{ "identity.podinfo", CONF_PATH, A(identity.podinfo), 0, 0, "/etc/podinfo",
		"where a pod has the files of the downward API: labels, annotations, name, namespace; as the job sees them", NULL },
	{ "identity.service_label", CONF_TEXT, A(identity.service_label), 0, 317, "app.kubernetes.io/name",
		"label or annotation of a pod that names the service, where nothing else does; empty: none", NULL },
	{ "identity.deploy_label", CONF_TEXT, A(identity.deploy_label), 0, 317, "app.kubernetes.io/version",
		"label or annotation of a pod that names the deploy, where nothing else does; empty: none", NULL },
	{ "identity.neuron_ls", CONF_TEXT, A(identity.neuron_ls), 0, 4095, "/opt/aws/neuron/bin/neuron-ls",
		"program that tells which process holds which cores; empty: none", NULL },
	{ "identity.neuron_ls_every", CONF_DURATION, A(identity.neuron_ls_every_ns), NS_PER_MIN, NS_PER_DAY, "10m",
		"how often it is asked, while a process is profiled that holds a device", NULL },
	{ "vllm.servers", CONF_SECTIONS, A(vllm.servers), 0, 0, NULL,
		"vLLM servers to profile by /start_profile and /stop_profile", &vllm_server_schema },
	{ "vllm.timeout", CONF_DURATION, A(vllm.timeout_ns), NS_PER_S, NS_PER_HOUR, "2m",
		"of an answer to start and stop (stop writes the trace), and how long after it traces may take to appear", NULL },
	{ "vllm.stable", CONF_DURATION, A(vllm.stable_ns), 10 * NS_PER_MS, NS_PER_HOUR, "2s",
		"traces are finished when they stay the same for so long after the answer to stop", NULL },
	{ "vllm.decode", CONF_BOOL, A(vllm.decode), 0, 0, "yes",
		"decode folders of .ntff, .neff and .pb that its profiler leaves", NULL },
	{ "vllm.metrics", CONF_DURATION, A(vllm.metrics_ns), NS_PER_S, NS_PER_DAY, "15s",
		"how often its /metrics are read, to know what a window costs it", NULL },
	{ "xla.enabled", CONF_BOOL, A(xla.enabled), 0, 0, "no",
		"profile JAX and PyTorch/XLA processes that run a profiler server", NULL },
	{ "xla.environment", CONF_BOOL, A(xla.environment), 0, 0, "yes",
		"find them by TRAINSPOTTER_XLA_PORT in their environment: a port, or a range", NULL },
	{ "xla.jobs", CONF_SECTIONS, A(xla.jobs), 0, 0, NULL, "profiler servers to ask besides", &xla_job_schema },
	{ "xla.dir", CONF_PATH, A(xla.dir), 0, 0, "/tmp",
		"folder, as the job sees it, in which another one is made for each window", NULL },
	{ "xla.timeout", CONF_DURATION, A(xla.timeout_ns), NS_PER_S, 10 * NS_PER_MIN, "30s",
		"how long after a window its trace may take to be written", NULL },
	{ "xla.max_file", CONF_SIZE, A(xla.max_file), 1 << 20, INT64_C(1) << 40, "256MiB",
		"a trace larger than this is removed, and counted", NULL },
	{ "xla.host_level", CONF_INT, A(xla.host_level), 1, 3, "2",
		"how much the host records: 1 what the user and XLA mark, 2 more of the runtime, 3 all", NULL },
	{ "xla.scan", CONF_DURATION, A(xla.scan_ns), NS_PER_S, NS_PER_MIN / 2, "20s",
		"how often is looked for such processes", NULL },
	{ "xla.service", CONF_TEXT, A(xla.service), 0, 256, "",
		"service of processes that nothing else names; empty: unknown", NULL },
	{ "xla.deploy", CONF_TEXT, A(xla.deploy), 0, 256, "",
		"deploy of processes that nothing else names; empty: a fingerprint of versions", NULL },
	{ "exec.commands", CONF_SECTIONS, A(exec.commands), 0, 0, NULL,
		"commands that take windows, on the schedule of capture", &exec_command_schema },
	{ "decode.program", CONF_PATH, A(decode.program), 0, 0, "",
		"neuron-explorer or neuron-profile; empty: in PATH or /opt/aws/neuron/bin, the former first", NULL },
	{ "decode.system", CONF_BOOL, A(decode.want_system), 0, 0, "yes",
		"make a window of a session's system profile", NULL },
	{ "decode.summary", CONF_BOOL, A(decode.want_summary), 0, 0, "yes",
		"make a window, of SERVICE/device, of the summary of its device profiles", NULL },
	{ "decode.device", CONF_BOOL, A(decode.want_device), 0, 0, "no",
		"make windows, of SERVICE/device, of its device profiles whole, in place of the summary; takes long", NULL },
	{ "decode.max_input", CONF_SIZE, A(decode.max_input), 1 << 10, INT64_C(5) << 30, "1GiB",
		"sessions larger than this are not decoded", NULL },
	{ "decode.max_output", CONF_SIZE, A(decode.max_output), 1 << 20, INT64_C(1) << 40, "2GiB",
		"what the decoder may write, its own files included", NULL },
	{ "decode.memory", CONF_SIZE, A(decode.memory), 0, INT64_C(1) << 45, "8GiB",
		"address space that the decoder may use; 0: no limit", NULL },
	{ "decode.limit", CONF_DURATION, A(decode.limit_ns), NS_PER_S, NS_PER_DAY, "10m",
		"how long the decoder may take for a session", NULL },
	{ "decode.keep", CONF_INT, A(decode.keep), 0, 100, "0",
		"so many captures are kept as they were, to be looked at: of exec in state_dir/exec/kept, of watch in bad_dir and done_dir", NULL },
	{ "neuron_monitor.enabled", CONF_BOOL, A(neuron_monitor.enabled), 0, 0, "no",
		"run neuron-monitor and ship what it reports: utilisation, latencies, errors and memory of cores", NULL },
	{ "neuron_monitor.command", CONF_TEXT, A(neuron_monitor.command), 1, 1000, "/opt/aws/neuron/bin/neuron-monitor",
		"the program; looked for in PATH where it has no slash", NULL },
	{ "neuron_monitor.config", CONF_PATH, A(neuron_monitor.config), 0, 0, "",
		"its own configuration (-c); empty: all it knows, every five seconds", NULL },
	{ "neuron_monitor.interval", CONF_DURATION, A(neuron_monitor.interval_ns), NS_PER_S, NS_PER_HOUR, "1m",
		"of a window: reports within it are folded", NULL },
	{ "neuron_monitor.timeout", CONF_DURATION, A(neuron_monitor.timeout_ns), NS_PER_S, NS_PER_HOUR, "1m",
		"without a report for so long, it is started again", NULL },
	{ "neuron_monitor.service", CONF_TEXT, A(neuron_monitor.service), 0, 256, "",
		"service of processes that name none, and of what is the host's; empty: the only one there is, or unknown", NULL },
	{ "neuron_monitor.deploy", CONF_TEXT, A(neuron_monitor.deploy), 0, 256, "",
		"deploy of processes whose environment names none", NULL },
	{ "sysfs.enabled", CONF_BOOL, A(sysfs.enabled), 0, 0, "no",
		"read the counters of the Neuron driver; never writes", NULL },
	{ "sysfs.root", CONF_PATH, A(sysfs.root), 1, 0, "/sys", "where sysfs is mounted", NULL },
	{ "sysfs.interval", CONF_DURATION, A(sysfs.interval_ns), NS_PER_S, NS_PER_DAY, "5m",
		"how often; rates are over this time", NULL },
	{ "sysfs.service", CONF_TEXT, A(sysfs.service), 0, 256, "", "service of its windows; empty: unknown", NULL },
	{ "sysfs.deploy", CONF_TEXT, A(sysfs.deploy), 0, 256, "", "deploy of its windows", NULL },
	{ "rescan", CONF_DURATION, A(rescan_ns), NS_PER_S, NS_PER_DAY, "30s",
		"how often folders are listed, for what inotify does not see (NFS)", NULL },
	{ "keep_files", CONF_INT, A(keep_files), 1, 100000, "200",
		"files kept in each done_dir and bad_dir; the oldest go first", NULL },
	{ "spool.max", CONF_SIZE, A(spool_bytes), 64 << 10, INT64_C(1) << 40, "256MiB",
		"windows that wait for the daemon; when full, the oldest are dropped and counted", NULL },
	{ "ship.batch", CONF_SIZE, A(batch_bytes), 1 << 10, 4 << 20, "1MiB",
		"how much is sent at once, at most", NULL },
	{ "ship.timeout", CONF_DURATION, A(timeout_ns), 100 * NS_PER_MS, 10 * NS_PER_MIN, "30s",
		"of one exchange with the daemon", NULL },
	{ "ship.retry_first", CONF_DURATION, A(retry_first_ns), NS_PER_MS, NS_PER_HOUR, "1s",
		"ceiling of the first wait after a failure; doubles from try to try", NULL },
	{ "ship.retry_max", CONF_DURATION, A(retry_max_ns), NS_PER_MS, NS_PER_DAY, "5m",
		"ceiling of every wait; the wait itself is a random part of it", NULL },
	{ "quarantine.max_batches", CONF_INT, A(quarantine_batches), 1, 10000, "100",
		"refused batches kept in state_dir/quarantine; the oldest go first", NULL },
	{ "job.cpu_percent", CONF_INT, A(cpu_percent), 1, 100, "5",
		"of one core, for reading traces, on average; 100: no limit", NULL },
	{ "job.cpu_burst", CONF_DURATION, A(cpu_burst_ns), 0, NS_PER_HOUR, "60s",
		"CPU time that may be used at once before the average counts", NULL },
	{ "trace.max_output", CONF_SIZE, A(max_output), 1 << 20, INT64_C(1) << 50, "64GiB",
		"of a trace; of a compressed one, when decompressed", NULL },
	{ "trace.max_ratio", CONF_INT, A(max_ratio), 2, 1000000, "1000",
		"of decompressed to compressed size", NULL },
	{ "trace.max_events", CONF_INT, A(max_events), 1000, 1000000000, "20000000",
		"timed events of one trace; each takes 48 bytes while it is read", NULL },
	{ "trace.name_rules", CONF_PATH, A(name_rules), 0, 0, "",
		"file with rules of your own for the names of ops (name-rules.yaml shows how); empty: none", NULL },
	{ "log.level", CONF_CHOICE, A(log_level), 0, 0, "info",
		"least important lines to print", level_words },
	{ "log.status", CONF_DURATION, A(status_ns), NS_PER_S, NS_PER_DAY, "10m",
		"how often a line tells what was done so far", NULL },
};
const struct conf_schema agent_schema = { agent_keys, COUNT(agent_keys), sizeof(struct agent_conf) };

#define O(field) offsetof(struct agent_options, field)

static const struct opt agent_opts[] = {
	{ "config", 'c', OPT_TEXT, O(config), 0, 0, "FILE",
		"Configuration; /etc/trainspotter/agent.yaml without.", NULL },
	{ "set", 's', OPT_TEXTS, O(set), 0, 0, "KEY=VALUE",
		"Overrides one key of the configuration; may be given again.", NULL },
	{ "once", 0, OPT_FLAG, O(once), 0, 0, NULL,
		"Read what is in the folders now, ship it all, and end.", NULL },
	{ "check", 0, OPT_FLAG, O(check), 0, 0, NULL,
		"Say whether the configuration is good, and end.", NULL },
	{ "print-config", 0, OPT_FLAG, O(print_config), 0, 0, NULL,
		"Print the configuration in force, and end.", NULL },
};

static const struct opt_exit agent_exits[] = {
	{ 0, "ended by SIGTERM or SIGINT; with --once: everything was shipped" },
	{ AGENT_FAILED, "could not start or go on; with --once: something was not shipped" },
	{ AGENT_USAGE, "the command line is wrong" },
	{ AGENT_BAD_CONFIG, "the configuration is wrong; the message names file, line and key" },
};

const struct opt_command agent_command = {
	.name = "trainspotter-agent",
	.operands = "",
	.summary = "takes or finds traces of this host's jobs, reduces each to a window, ships those to a daemon",
	.detail = "SIGHUP reads the configuration again, when the trace or archive at hand is done; a bad one is logged and the old one stays in force. "
		  "state_dir, spool.max, identity, kineto, xla, vllm and exec take effect at the next start, as decode does for the latter two; "
		  "the log names what is not in force yet. SIGUSR1 prints a line about what was done so far.",
	.examples = "trainspotter-agent --check    is the configuration good?\n"
		    "trainspotter-agent --config ./agent.yaml --once    ship what is in the folders, and end",
	.opts = agent_opts,
	.n_opts = COUNT(agent_opts),
	.exits = agent_exits,
	.n_exits = COUNT(agent_exits),
	.environment = "TRAINSPOTTER_TOKEN    bearer token, where token_file is not set\n"
		       "NOTIFY_SOCKET    set by systemd: where readiness is told",
	.conf = &agent_schema,
};

/* The next name in a path, past slashes and "."; empty at its end. */
static struct str next_name(struct str *path)
{
	while (!str_empty(*path)) {
		size_t n = str_find_byte(*path, '/');
		struct str name = str_upto(*path, n);

		*path = str_from(*path, n + 1);
		if (!str_empty(name) && !str_eq(name, STR(".")))
			return name;
	}
	return STR("");
}

/* As they are written: links are not looked at. */
static bool same_path(struct str a, struct str b)
{
	struct str x, y;

	do {
		x = next_name(&a);
		y = next_name(&b);
	} while (str_eq(x, y) && !str_empty(x));
	return str_eq(x, y);
}

static bool is_watched(const struct agent_conf *cf, const char *dir, size_t upto)
{
	for (size_t i = 0; i < upto; i++)
		if (same_path(str_of(dir), str_of(agent_conf_watch(cf, i)->dir)))
			return true;
	return false;
}

/* What was put aside into a watched folder would be found, read and put aside again, for ever. */
static int check_folders(const struct agent_conf *cf, const char *path, struct err *e)
{
	for (size_t i = 0; i < cf->watch.n; i++) {
		const struct watch_conf *wc = agent_conf_watch(cf, i);
		const char *put_aside = NULL;

		if (is_watched(cf, wc->dir, i))
			return err_set(e, E_USAGE, "%s: watch: %s stands there twice", path, wc->dir);
		if (wc->bad_dir[0] != '\0' && is_watched(cf, wc->bad_dir, cf->watch.n))
			put_aside = "bad_dir";
		else if (wc->done == DONE_MOVE && wc->done_dir[0] != '\0' && is_watched(cf, wc->done_dir, cf->watch.n))
			put_aside = "done_dir";
		if (put_aside != NULL)
			return err_set(e, E_USAGE, "%s: watch[%zu].%s: is a watched folder; want another one", path, i,
				put_aside);
	}
	return OK;
}

/* "http://USER:PASSWORD@HOST": addresses are logged, so no secret may be in them. */
static int check_no_user(const char *url, const char *path, const char *key, struct err *e)
{
	struct str rest = str_of(url);

	(void)(str_drop_prefix(&rest, STR("http://")) || str_drop_prefix(&rest, STR("https://")));
	rest = str_upto(rest, str_find_byte(rest, '/'));
	return str_find_byte(rest, '@') == rest.n ? OK
		: err_set(e, E_USAGE, "%s: %s: a user or password is in it; want http://HOST:PORT, and the token in token_file", path, key);
}

static bool is_url(struct str url)
{
	return (str_drop_prefix(&url, STR("http://")) || str_drop_prefix(&url, STR("https://"))) && url.n > 0 &&
	       str_find_byte(url, '/') == url.n && str_find_byte(url, '?') == url.n && str_find_byte(url, ' ') == url.n;
}

static int check_vllm(const struct agent_conf *cf, const char *path, struct err *e)
{
	for (size_t i = 0; i < cf->vllm.servers.n; i++) {
		const char *url = agent_conf_vllm(cf, i)->url;
		char key[64];

		snprintf(key, sizeof(key), "vllm.servers[%zu].url", i);
		if (check_no_user(url, path, key, e) < 0)
			return E_USAGE;
		if (!is_url(str_of(url)))
			return err_set(e, E_USAGE, "%s: vllm.servers[%zu].url: \"%s\", want http://HOST:PORT or "
				"https://HOST:PORT and nothing behind it", path, i, url);
		for (size_t k = 0; k < i; k++)
			if (str_eq(str_of(url), str_of(agent_conf_vllm(cf, k)->url)))
				return err_set(e, E_USAGE, "%s: vllm.servers: %s stands there twice", path, url);
	}
	return OK;
}

static bool has_source(const struct agent_conf *cf)
{
	return cf->watch.n > 0 || cf->kineto.enabled || cf->vllm.servers.n > 0 || cf->xla.enabled ||
	       cf->exec.commands.n > 0 || cf->neuron_monitor.enabled || cf->sysfs.enabled;
}

/* What the table cannot say of a single key. */
static int check_whole(const struct agent_conf *cf, const char *path, struct err *e)
{
	struct str server = str_of(cf->server);
	struct kineto_poll_settings kineto;
	struct plan_settings plan;
	int64_t ratio;

	if (check_no_user(cf->server, path, "server", e) < 0)
		return E_USAGE;
	if (!str_has_prefix(server, STR("http://")) && !str_has_prefix(server, STR("https://")))
		return err_set(e, E_USAGE, "%s: server: \"%s\", want http://HOST:PORT or https://HOST:PORT", path,
			cf->server);
	if (!has_source(cf))
		return err_set(e, E_USAGE, "%s: watch: no folder to find traces in, want at least one \"- dir: PATH\", or "
			"another source, as kineto.enabled: yes", path);
	if (agent_conf_slow_step(&cf->capture, &ratio, e) < 0 || agent_conf_plan(&cf->capture, STR(""), &plan, e) < 0 ||
		kineto_settings(&cf->kineto, &plan, &kineto, e) < 0 || xla_conf_check(&cf->xla, e) < 0)
		return err_add(e, "%s", path);
	if (cf->retry_first_ns > cf->retry_max_ns)
		return err_set(e, E_USAGE, "%s: ship.retry_first: is more than ship.retry_max", path);
	if (check_vllm(cf, path, e) < 0)
		return E_USAGE;
	if (exec_check(&cf->exec, e) < 0)
		return err_add(e, "%s", path);
	return check_folders(cf, path, e);
}

int agent_conf_slow_step(const struct capture_conf *cf, int64_t *ratio, struct err *e)
{
	if (json_fixed(str_of(cf->slow_step), 3, ratio) < 0 || (*ratio != 0 && (*ratio <= 1000 || *ratio > 1000000)))
		return err_set(e, E_USAGE, "capture.slow_step: \"%s\": want 0, or a number above 1 up to 1000, as in 2.0", cf->slow_step);
	return OK;
}

int agent_conf_plan(const struct capture_conf *cf, struct str host, struct plan_settings *out, struct err *e)
{
	*out = (struct plan_settings){ .max_at_once = (size_t)cf->max_at_once, .min_age_ns = cf->min_age_ns,
		.duration_ns = cf->duration_ns, .iterations = cf->iterations };
	schedule_init(&out->schedule, cf->interval_ns, host);
	for (size_t i = 0; i < cf->quiet.n; i++)
		if (schedule_add_quiet(&out->schedule, str_of(cf->quiet.v[i]), e) < 0)
			return err_add(e, "capture.quiet");
	return OK;
}

/* Whether a part of the agent that is made once has it: those of decode as far as vllm and exec decode. */
static bool is_later(const char *key)
{
	static const char *const once[] = { "state_dir", "spool.max", "kineto.", "xla.", "vllm.", "exec.", "identity.", "decode." };

	for (size_t i = 0; i < COUNT(once); i++)
		if (str_has_prefix(str_of(key), str_of(once[i])))
			return true;
	return false;
}

static uint64_t mark_of(const struct conf_key *key, const struct agent_conf *cf)
{
	const struct conf_schema one = { key, 1, sizeof(*cf) };
	struct buf b;
	uint64_t mark;

	buf_init(&b, MARKED_MAX);
	conf_print(&one, cf, &b);
	mark = hash64(b.p, b.n, 0);
	buf_fini(&b);
	return mark;
}

void agent_conf_mark(const struct agent_conf *cf, struct agent_conf_marks *out)
{
	_Static_assert(COUNT(agent_keys) <= AGENT_KEYS_MAX, "a mark for every key");
	for (size_t i = 0; i < COUNT(agent_keys); i++)
		out->v[i] = is_later(agent_keys[i].name) ? mark_of(&agent_keys[i], cf) : 0;
}

static bool decodes_later(const struct agent_conf *cf)
{
	return cf->exec.commands.n > 0 || (cf->vllm.decode && cf->vllm.servers.n > 0);
}

void agent_conf_later(const struct agent_conf *cf, const struct agent_conf_marks *started, struct buf *out)
{
	for (size_t i = 0; i < COUNT(agent_keys); i++) {
		const char *name = agent_keys[i].name;

		if (!is_later(name) || mark_of(&agent_keys[i], cf) == started->v[i] ||
			(str_has_prefix(str_of(name), STR("decode.")) && !decodes_later(cf)))
			continue;
		buf_fmt(out, "%s%s", out->n == 0 ? "" : " ", name);
	}
}

static int load_rules(struct agent_conf *cf, const char *path, struct err *e)
{
	int rc = name_rules_load(&cf->rules, cf->name_rules, e);

	return rc < 0 ? err_add(e, "%s: trace.name_rules", path) : OK;
}

int agent_conf_load(struct agent_conf *cf, const struct agent_options *o, struct err *e)
{
	int rc;

	*cf = (struct agent_conf){ .server = NULL };
	rc = conf_load(&agent_schema, o->config, cf, e);
	if (rc == OK)
		rc = conf_set_words(&agent_schema, cf, o->set.v, o->set.n, e);
	if (rc == OK)
		rc = check_whole(cf, o->config, e);
	if (rc == OK && cf->name_rules[0] != '\0')
		rc = load_rules(cf, o->config, e);
	if (rc < 0)
		agent_conf_fini(cf);
	return rc;
}

void agent_conf_fini(struct agent_conf *cf)
{
	name_rules_free(cf->rules);
	cf->rules = NULL;
	conf_fini(&agent_schema, cf);
}
