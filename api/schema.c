#include "api/schema.h"

#include <string.h>

#include "base/code.h"

#define OPTIONAL true
#define MEMBERS(name) static const struct schema_member name[]

MEMBERS(accepted) = {
	{ "accepted", "integer", "windows stored", false },
	{ "duplicates", "integer", "windows that were stored already", false },
};

MEMBERS(window_batch) = {
	{ "agent_id", "string", "who sends", OPTIONAL },
	{ "agent_version", "string", NULL, OPTIONAL },
	{ "windows", "[object]", "doc/wire.md has every member", false },
};

MEMBERS(service_cost) = {
	{ "workers", "integer", "that agents tell of now", false },
	{ "measured", "integer", "of them with a measured cost", false },
	{ "cost_ppm", "integer?", "their mean, in millionths of their time; null: unmeasured", false },
	{ "cost_ppm_max", "integer?", NULL, false },
	{ "every_nth", "integer?", "the highest: 1 while nobody is over its budget", false },
};

MEMBERS(service) = {
	{ "service", "string", NULL, false },
	{ "deploy", "string", "the newest: whose first window began last", false },
	{ "hosts", "integer", NULL, false },
	{ "deploys", "integer", NULL, false },
	{ "windows", "integer", NULL, false },
	{ "first_ns", "integer", "start of the first window", false },
	{ "last_ns", "integer", "start of the last window", false },
	{ "capture", "ServiceCost", NULL, false },
};

MEMBERS(host) = {
	{ "host", "string", NULL, false },
	{ "service", "string", "of its newest window", false },
	{ "deploy", "string", "of its newest window", false },
	{ "workers", "integer", NULL, false },
	{ "windows", "integer", NULL, false },
	{ "first_ns", "integer", NULL, false },
	{ "last_ns", "integer", NULL, false },
};

MEMBERS(deploy) = {
	{ "service", "string", NULL, false },
	{ "deploy", "string", NULL, false },
	{ "first_ns", "integer", "start of its first window, or when it was announced", false },
	{ "last_ns", "integer", NULL, false },
	{ "windows", "integer", NULL, false },
	{ "hosts", "integer", NULL, false },
	{ "labels", "{string}", NULL, false },
};

MEMBERS(deploy_announcement) = {
	{ "service", "string", NULL, false },
	{ "deploy", "string", NULL, false },
	{ "first_ns", "integer", "now where it is missing", OPTIONAL },
	{ "labels", "{string}", NULL, OPTIONAL },
};

MEMBERS(window) = {
	{ "id", "string", "32 hex digits", false },
	{ "service", "string", NULL, false },
	{ "deploy", "string", "empty: not known", false },
	{ "host", "string", NULL, false },
	{ "worker", "string", NULL, false },
	{ "source", "string", NULL, false },
	{ "start_ns", "integer", "nanoseconds since 1970", false },
	{ "dur_ns", "integer", NULL, false },
	{ "steps", "integer", NULL, false },
	{ "steps_from", "string", "what a step is here: none, marker, executions, optimizer or anchor", false },
	{ "has_device", "boolean", "device events were seen", false },
	{ "launches", "integer", NULL, false },
	{ "events", "integer", NULL, false },
	{ "skipped", "integer", "events that could not be read", false },
	{ "truncated", "boolean", "the trace ended early", false },
	{ "damaged", "boolean", "parts of the trace were not readable", false },
};

MEMBERS(whole_window) = {
	{ "labels", "{string}", NULL, false },
	{ "versions", "{string}", NULL, false },
	{ "ops", "[Op]", NULL, false },
	{ "gauges", "[Gauge]", NULL, false },
};

MEMBERS(op) = {
	{ "kind", "string", NULL, false },
	{ "op", "string", NULL, false },
	{ "calls", "integer", NULL, false },
	{ "device_total_ns", "integer", NULL, false },
	{ "device_self_ns", "integer", NULL, false },
	{ "cpu_total_ns", "integer", NULL, false },
	{ "cpu_self_ns", "integer", NULL, false },
	{ "orphan_calls", "integer", "device events that no op launched", false },
	{ "orphan_ns", "integer", NULL, false },
	{ "basis", "string", "which time of a call the members below are of: device, cpu or none", false },
	{ "min_ns", "integer?", NULL, false },
	{ "max_ns", "integer?", NULL, false },
	{ "p50_ns", "integer?", NULL, false },
	{ "p99_ns", "integer?", NULL, false },
	{ "zero", "integer", "calls that took no time", OPTIONAL },
	{ "histogram", "[[integer]]", "pairs of bucket and count: bucket i counts values in (2^(i/32), 2^((i+1)/32)] ns", false },
};

MEMBERS(gauge) = {
	{ "name", "string", NULL, false },
	{ "unit", "string", NULL, false },
	{ "value", "number?", NULL, false },
	{ "labels", "{string}", NULL, false },
};

MEMBERS(top_row) = {
	{ "kind", "string", NULL, false },
	{ "op", "string", NULL, false },
	{ "calls", "integer", NULL, false },
	{ "calls_per_step", "number?", NULL, false },
	{ "device_total_ns", "integer", NULL, false },
	{ "device_self_ns", "integer", NULL, false },
	{ "cpu_total_ns", "integer", NULL, false },
	{ "cpu_self_ns", "integer", NULL, false },
	{ "time_ns", "integer", "self device time where any window has device events, else self CPU time", false },
	{ "time_per_step_ns", "integer?", NULL, false },
	{ "share", "number?", "of totals.time_ns", false },
	{ "basis", "string", NULL, false },
	{ "min_ns", "integer?", NULL, false },
	{ "max_ns", "integer?", NULL, false },
	{ "p50_ns", "integer?", NULL, false },
	{ "p99_ns", "integer?", NULL, false },
};

MEMBERS(totals) = {
	{ "windows", "integer", NULL, false },
	{ "steps", "integer", NULL, false },
	{ "has_device", "boolean", NULL, false },
	{ "time_ns", "integer", NULL, false },
	{ "first_ns", "integer", NULL, false },
	{ "last_ns", "integer", NULL, false },
	{ "tier_ns", "integer", "resolution of what answered: 0 for windows as they came", false },
};

MEMBERS(top) = {
	{ "items", "[TopRow]", NULL, false },
	{ "next", "string?", "cursor of the following page", false },
	{ "totals", "Totals", NULL, false },
};

MEMBERS(trend_point) = {
	{ "t_ns", "integer", NULL, false },
	{ "windows", "integer", NULL, false },
	{ "steps", "integer", NULL, false },
	{ "calls", "integer", NULL, false },
	{ "calls_per_step", "number?", NULL, false },
	{ "mean_ns", "integer?", NULL, false },
	{ "basis", "string", NULL, false },
	{ "min_ns", "integer?", NULL, false },
	{ "max_ns", "integer?", NULL, false },
	{ "p50_ns", "integer?", NULL, false },
	{ "p99_ns", "integer?", NULL, false },
	{ "time_ns", "integer", NULL, false },
	{ "time_per_step_ns", "integer?", NULL, false },
};

MEMBERS(deploy_mark) = {
	{ "service", "string", NULL, false },
	{ "deploy", "string", NULL, false },
	{ "first_ns", "integer", NULL, false },
};

MEMBERS(trend) = {
	{ "op", "string", NULL, false },
	{ "kind", "string?", NULL, false },
	{ "from_ns", "integer", "the range that was answered", false },
	{ "to_ns", "integer", NULL, false },
	{ "resolution_ns", "integer", "width of a point", false },
	{ "tier_ns", "integer", NULL, false },
	{ "items", "[TrendPoint]", NULL, false },
	{ "next", "string?", "always null", false },
	{ "deploys", "[DeployMark]", "whose first window began in the range, oldest first", false },
};

MEMBERS(before_after) = {
	{ "before", "number?", NULL, false },
	{ "after", "number?", NULL, false },
};

MEMBERS(op_change) = {
	{ "op", "string", NULL, false },
	{ "calls_per_step", "BeforeAfter", NULL, false },
	{ "time_per_step_ns", "BeforeAfter", NULL, false },
};

MEMBERS(finding) = {
	{ "kind", "string", NULL, false },
	{ "replaced_by", "[OpChange]", NULL, false },
	{ "net_ns_per_step", "number?", NULL, false },
	{ "share", "number?", NULL, false },
	{ "kappa", "number", "fusion only", OPTIONAL },
	{ "pieces", "number", "fusion only", OPTIONAL },
	{ "ratio", "number", "slower ops only", OPTIONAL },
	{ "z", "number", "slower ops only", OPTIONAL },
	{ "why", "string", "the rule", false },
	{ "sentence", "string", "for people", false },
};

MEMBERS(verdict) = {
	{ "verdict", "string",
	  "none, fusion_lost, fusion_changed, graph_breaks, host_gap, cpu_fallback, op_slower or step_slower", false },
	{ "has_step", "boolean", NULL, false },
	{ "step_ns", "BeforeAfter", NULL, false },
	{ "launches_per_step", "BeforeAfter", NULL, false },
	{ "findings", "[Finding]", NULL, false },
};

MEMBERS(evidence) = {
	{ "capture", "string", "the capture that the alert asked for", OPTIONAL },
};

MEMBERS(side) = {
	{ "deploy", "string", NULL, false },
	{ "windows", "integer", NULL, false },
	{ "hosts", "integer", NULL, false },
	{ "steps", "integer", NULL, false },
	{ "first_ns", "integer", NULL, false },
	{ "last_ns", "integer", NULL, false },
};

MEMBERS(compare_row) = {
	{ "kind", "string", NULL, false },
	{ "op", "string", NULL, false },
	{ "calls_per_step", "BeforeAfter", NULL, false },
	{ "time_per_step_ns", "BeforeAfter", NULL, false },
	{ "p50_ns", "BeforeAfter", NULL, false },
	{ "change_ns_per_step", "integer", NULL, false },
};

MEMBERS(comparison) = {
	{ "service", "string", NULL, false },
	{ "before", "Side", NULL, false },
	{ "after", "Side", NULL, false },
	{ "regression", "boolean", "should this stop a release?", false },
	{ "rows", "[CompareRow]", "by the size of their change", false },
};

MEMBERS(alert) = {
	{ "id", "string", NULL, false },
	{ "state", "string", "inactive, pending, firing, resolved, accepted or expired", false },
	{ "kind", "string", NULL, false },
	{ "service", "string", NULL, false },
	{ "deploy", "string", "the suspected one", false },
	{ "deploy_before", "string", NULL, false },
	{ "op", "string", NULL, false },
	{ "sentence", "string", "for people", false },
	{ "started_ns", "integer", "when the deploy's first window began", false },
	{ "fired_ns", "integer?", NULL, false },
	{ "resolved_ns", "integer?", NULL, false },
	{ "updated_ns", "integer", NULL, false },
	{ "hosts", "[string]", NULL, false },
	{ "windows_before", "integer", NULL, false },
	{ "windows_after", "integer", NULL, false },
	{ "evidence", "Evidence?", NULL, false },
};

MEMBERS(poll_worker) = {
	{ "source", "string", NULL, false },
	{ "service", "string", NULL, OPTIONAL },
	{ "worker", "string", NULL, OPTIONAL },
	{ "deploy", "string", NULL, OPTIONAL },
	{ "state", "string", "idle, busy or capturing", OPTIONAL },
	{ "wants", "boolean", "a slot is owed, only a lease is missing", OPTIONAL },
	{ "last_ns", "integer", "its last window by the host's clock; 0: none", OPTIONAL },
	{ "why", "string", "what it waits for, in the agent's word", OPTIONAL },
	{ "cost_ppm", "integer", "what capturing costs, in millionths of its time", OPTIONAL },
	{ "measured", "boolean", "cost_ppm is known", OPTIONAL },
	{ "every_nth", "integer", "a window in every n-th slot", OPTIONAL },
};

MEMBERS(poll_ended) = {
	{ "lease", "string", NULL, false },
	{ "capture", "string?", NULL, OPTIONAL },
	{ "taken", "boolean", "a window came of it", OPTIONAL },
	{ "end", "string", "the source's word; unsent: could not be begun", OPTIONAL },
	{ "window", "string?", "its id", OPTIONAL },
};

MEMBERS(poll) = {
	{ "host", "string", NULL, false },
	{ "version", "string", NULL, OPTIONAL },
	{ "start_ns", "integer", NULL, OPTIONAL },
	{ "workers", "[PollWorker]", NULL, OPTIONAL },
	{ "ended", "[PollEnded]", "since the last poll that was answered", OPTIONAL },
};

MEMBERS(lease) = {
	{ "id", "string", NULL, false },
	{ "capture", "string?", "what asked for it; null: the schedule", false },
	{ "source", "string", NULL, false },
	{ "service", "string", NULL, false },
	{ "worker", "string", NULL, false },
	{ "duration_ns", "integer", "0: as the agent is set", false },
	{ "iterations", "integer", "0: as the agent is set", false },
	{ "ttl_ns", "integer", "from this answer: the window has to begin by then", false },
};

MEMBERS(poll_answer) = {
	{ "paused", "boolean", "begin no window", false },
	{ "reason", "string", NULL, false },
	{ "poll_ns", "integer", "poll again after that", false },
	{ "leases", "[Lease]", "all whose windows have still to begin", false },
	{ "heard", "boolean", "false: what ended could not be kept, tell it again", OPTIONAL },
};

MEMBERS(agent_worker) = {
	{ "source", "string", NULL, false },
	{ "service", "string", NULL, false },
	{ "worker", "string", NULL, false },
	{ "deploy", "string", NULL, false },
	{ "state", "string", "idle, busy or capturing", false },
	{ "wants", "boolean", NULL, false },
	{ "why", "string", NULL, false },
	{ "last_ns", "integer?", NULL, false },
	{ "measured", "boolean", NULL, false },
	{ "cost_ppm", "integer?", NULL, false },
	{ "every_nth", "integer", NULL, false },
};

MEMBERS(agent) = {
	{ "id", "string", NULL, false },
	{ "host", "string", NULL, false },
	{ "version", "string", NULL, false },
	{ "start_ns", "integer", NULL, false },
	{ "polled_ns", "integer", "its last poll", false },
	{ "heard", "boolean", "within three polls", false },
	{ "leases", "integer", NULL, false },
	{ "workers", "[AgentWorker]", NULL, false },
};

MEMBERS(capture_request) = {
	{ "service", "string", "this or hosts must be there", OPTIONAL },
	{ "hosts", "[string]", NULL, OPTIONAL },
	{ "workers", "[string]", NULL, OPTIONAL },
	{ "source", "string", NULL, OPTIONAL },
	{ "duration_ns", "integer", "60 s at most", OPTIONAL },
	{ "iterations", "integer", NULL, OPTIONAL },
	{ "reason", "string", NULL, OPTIONAL },
};

MEMBERS(target) = {
	{ "host", "string", NULL, false },
	{ "service", "string", NULL, false },
	{ "source", "string", NULL, false },
	{ "worker", "string", NULL, false },
	{ "state", "string", "waiting, leased, taken, failed or expired", false },
	{ "end", "string?", "how it ended, in the source's word", false },
	{ "window", "string?", "its id", false },
};

MEMBERS(capture) = {
	{ "id", "string", NULL, false },
	{ "state", "string", "waiting, running, done or expired", false },
	{ "service", "string?", NULL, false },
	{ "hosts", "[string]", NULL, false },
	{ "workers", "[string]", NULL, false },
	{ "source", "string?", NULL, false },
	{ "duration_ns", "integer", NULL, false },
	{ "iterations", "integer", NULL, false },
	{ "reason", "string", NULL, false },
	{ "alert", "string?", "the alert that asked", false },
	{ "created_ns", "integer", NULL, false },
	{ "expires_ns", "integer", NULL, false },
	{ "ended_ns", "integer?", NULL, false },
	{ "targets", "[CaptureTarget]", NULL, false },
};

MEMBERS(policy_request) = {
	{ "paused", "boolean", NULL, false },
	{ "reason", "string", NULL, OPTIONAL },
};

MEMBERS(policy) = {
	{ "paused", "boolean", NULL, false },
	{ "reason", "string", NULL, false },
	{ "changed_ns", "integer?", NULL, false },
};

MEMBERS(status) = {
	{ "status", "string", NULL, false },
};

MEMBERS(problem) = {
	{ "type", "string", "urn:trainspotter:…", false },
	{ "title", "string", NULL, false },
	{ "status", "integer", NULL, false },
	{ "detail", "string", "what, where, and what would be right", false },
	{ "parameter", "string", "the one that is wrong", OPTIONAL },
};

#define LIST(name, item)                                                                                            \
	MEMBERS(name) = {                                                                                           \
		{ "items", "[" item "]", NULL, false },                                                             \
		{ "next", "string?", "cursor of the following page", false },                                       \
	}
LIST(service_list, "Service");
LIST(host_list, "Host");
LIST(deploy_list, "Deploy");
LIST(window_list, "Window");
LIST(alert_list, "Alert");
LIST(agent_list, "Agent");
LIST(capture_list, "Capture");

#define SCHEMA(name, members, base, help) { name, help, base, members, COUNT(members) }

const struct schema schemas[] = {
	SCHEMA("Accepted", accepted, NULL, "What became of a batch."),
	SCHEMA("Agent", agent, NULL, "An agent that polled within the last hour."),
	SCHEMA("AgentList", agent_list, NULL, NULL),
	SCHEMA("AgentWorker", agent_worker, NULL, "A worker, as its agent tells of it."),
	SCHEMA("Alert", alert, NULL, "A regression that somebody should know of."),
	SCHEMA("AlertList", alert_list, NULL, NULL),
	SCHEMA("BeforeAfter", before_after, NULL, NULL),
	SCHEMA("Capture", capture, NULL, "Windows that were asked for."),
	SCHEMA("CaptureList", capture_list, NULL, NULL),
	SCHEMA("CapturePolicy", policy, NULL, "The kill switch."),
	SCHEMA("CapturePolicyRequest", policy_request, NULL, NULL),
	SCHEMA("CaptureRequest", capture_request, NULL, NULL),
	SCHEMA("CaptureTarget", target, NULL, "One worker of a capture."),
	SCHEMA("CompareRow", compare_row, NULL, NULL),
	SCHEMA("Comparison", comparison, "Verdict", "Two deploys, judged by the rules of alerts."),
	SCHEMA("Deploy", deploy, NULL, NULL),
	SCHEMA("DeployAnnouncement", deploy_announcement, NULL, NULL),
	SCHEMA("DeployList", deploy_list, NULL, NULL),
	SCHEMA("DeployMark", deploy_mark, NULL, NULL),
	SCHEMA("Evidence", evidence, "Verdict", NULL),
	SCHEMA("Finding", finding, "OpChange", NULL),
	SCHEMA("Gauge", gauge, NULL, NULL),
	SCHEMA("Host", host, NULL, NULL),
	SCHEMA("HostList", host_list, NULL, NULL),
	SCHEMA("Lease", lease, NULL, "One window of one worker is allowed."),
	SCHEMA("Op", op, NULL, "One op in one window."),
	SCHEMA("OpChange", op_change, NULL, NULL),
	SCHEMA("Poll", poll, NULL, NULL),
	SCHEMA("PollAnswer", poll_answer, NULL, NULL),
	SCHEMA("PollEnded", poll_ended, NULL, "A lease that ended."),
	SCHEMA("PollWorker", poll_worker, NULL, NULL),
	SCHEMA("Problem", problem, NULL, "RFC 9457."),
	SCHEMA("Service", service, NULL, NULL),
	SCHEMA("ServiceCost", service_cost, NULL, "What capturing costs a service."),
	SCHEMA("ServiceList", service_list, NULL, NULL),
	SCHEMA("Side", side, NULL, NULL),
	SCHEMA("Status", status, NULL, NULL),
	SCHEMA("Top", top, NULL, NULL),
	SCHEMA("TopRow", top_row, NULL, NULL),
	SCHEMA("Totals", totals, NULL, NULL),
	SCHEMA("Trend", trend, NULL, NULL),
	SCHEMA("TrendPoint", trend_point, NULL, NULL),
	SCHEMA("Verdict", verdict, NULL, NULL),
	SCHEMA("WholeWindow", whole_window, "Window", NULL),
	SCHEMA("Window", window, NULL, "One profiling interval of one worker."),
	SCHEMA("WindowBatch", window_batch, NULL, NULL),
	SCHEMA("WindowList", window_list, NULL, NULL),
};
const size_t n_schemas = COUNT(schemas);

const struct schema *schema_find(const char *name)
{
	for (size_t i = 0; i < n_schemas; i++)
		if (strcmp(schemas[i].name, name) == 0)
			return &schemas[i];
	return NULL;
}
