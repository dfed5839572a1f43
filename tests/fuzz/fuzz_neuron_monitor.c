/* Any bytes as reports of neuron-monitor: as a file (tests/fuzz/neuron.h), and as lines that come one by one. */
#include "trace/neuron_monitor.h"

#include "base/must.h"
#include "tests/fuzz/neuron.h"

static void one_by_one(struct str rest)
{
	struct neuron_monitor *m;
	struct window w;
	struct arena a;

	arena_init(&a, 16 << 20);
	m = neuron_monitor_new(&a);
	while (rest.p != NULL)
		(void)!neuron_monitor_add(m, str_split(&rest, '\n'), NULL);
	if (neuron_monitor_finish(m, &w, NULL) == OK) {
		w.service = w.host = STR("x");
		must(w.n_ops == 0 && window_check(&w, NULL) == OK);
	}
	neuron_monitor_free(m);
	arena_fini(&a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	one_by_one(str_make(data, size));
	return neuron_fuzz(neuron_monitor_read, data, size);
}
