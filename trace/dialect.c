#include "trace/dialect.h"

#include "trace/xla_json.h"
#include "trace/xplane.h"

int dialect_read(enum probe_kind kind, struct input *in, const char *name, const struct trace_limits *limits,
	unsigned want, const struct trace_watcher *watcher, struct trace_report *report, struct trace **out, struct err *e)
{
	if (kind == PROBE_XPLANE)
		return xplane_read(in, name, limits, watcher, report, out, e);
	if (kind == PROBE_XLA_TRACE)
		return xla_json_read(in, name, limits, watcher, report, out, e);
	return trace_read_more(in, name, limits, want, watcher, report, out, e);
}
