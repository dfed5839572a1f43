#include "trace/launch_delay.h"

#include <math.h>

#include "base/mem.h"
#include "trace/event.h"

struct slot { /* of one correlation */
	uint64_t correlation;
	int64_t call_ns, device_ns; /* NEVER: not met */
};
#define NEVER INT64_MAX

/* Correlations count upwards: their last bits are their place. */
struct launch_delays {
	struct slot slots[LAUNCH_DELAYS_KEPT];
	struct hist hist;
};

struct launch_delays *launch_delays_new(void)
{
	struct launch_delays *d = mem_try(sizeof(*d));

	if (d == NULL)
		return NULL;
	for (size_t i = 0; i < LAUNCH_DELAYS_KEPT; i++)
		d->slots[i] = (struct slot){ 0, NEVER, NEVER };
	hist_init(&d->hist);
	return d;
}

void launch_delays_free(struct launch_delays *d)
{
	if (d == NULL)
		return;
	hist_fini(&d->hist);
	mem_free(d);
}

static void settle(struct launch_delays *d, struct slot *s)
{
	if (s->call_ns != NEVER && s->device_ns != NEVER && s->device_ns >= s->call_ns)
		hist_add(&d->hist, ns_sub(s->device_ns, s->call_ns));
	s->call_ns = s->device_ns = NEVER;
}

static struct slot *slot_of(struct launch_delays *d, uint64_t correlation)
{
	struct slot *s = &d->slots[correlation % LAUNCH_DELAYS_KEPT];

	if (s->correlation != correlation)
		settle(d, s);
	s->correlation = correlation;
	return s;
}

void launch_delays_call(struct launch_delays *d, uint64_t correlation, int64_t start_ns)
{
	struct slot *s = d == NULL ? NULL : slot_of(d, correlation);

	if (s != NULL && start_ns < s->call_ns)
		s->call_ns = start_ns;
}

void launch_delays_device(struct launch_delays *d, uint64_t correlation, int64_t start_ns)
{
	struct slot *s = d == NULL ? NULL : slot_of(d, correlation);

	if (s != NULL && start_ns < s->device_ns)
		s->device_ns = start_ns;
}

const struct hist *launch_delays_finish(struct launch_delays *d)
{
	for (size_t i = 0; i < LAUNCH_DELAYS_KEPT; i++)
		settle(d, &d->slots[i]);
	return &d->hist;
}

void launch_delay_gauges(const struct hist *delays, struct draft *d)
{
	static const struct {
		struct label label;
		double q;
	} percentiles[] = {
		{ { STR("percentile"), STR("p50") }, 0.50 },
		{ { STR("percentile"), STR("p99") }, 0.99 },
	};

	if (hist_empty(delays))
		return;
	for (size_t i = 0; i < COUNT(percentiles); i++)
		draft_gauge(d, DRAFT_LAST, STR("launch_delay"), STR("ns"), round(hist_quantile(delays, percentiles[i].q)),
			&percentiles[i].label, 1);
	draft_gauge(d, DRAFT_LAST, STR("launch_delay_calls"), STR("calls"), (double)hist_count(delays), NULL, 0);
}
