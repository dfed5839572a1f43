#include "trace/neuron.h"

#include "base/must.h"
#include "trace/neuron_device.h"
#include "trace/neuron_ls.h"
#include "trace/neuron_monitor.h"
#include "trace/neuron_summary.h"
#include "trace/neuron_system.h"
#include "trace/tokens.h"

static const struct {
	enum probe_kind kind;
	int (*read)(struct arena *a, struct tokens *t, struct window *out, struct err *e);
} readers[] = {
	{ PROBE_NEURON_SUMMARY, neuron_summary_read }, { PROBE_NEURON_DEVICE, neuron_device_read },
	{ PROBE_NEURON_SYSTEM, neuron_system_read },   { PROBE_NEURON_MONITOR, neuron_monitor_read },
	{ PROBE_NEURON_LS, neuron_ls_read },
};

int neuron_read(enum probe_kind kind, struct arena *a, struct input *in, const char *name, struct window *out,
	struct trace_report *report, struct err *e)
{
	struct tokens t;
	size_t i = 0;
	int rc;

	must(probe_is_neuron(kind));
	while (readers[i].kind != kind)
		i++;
	*report = (struct trace_report){ 0 };
	tokens_init(&t, in, report, e);
	rc = readers[i].read(a, &t, out, e);
	tokens_fini(&t);
	return rc < 0 ? err_add(e, "%s", name) : OK;
}
