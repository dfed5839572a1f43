#include "wire/form.h"

#include <stdlib.h>

#include "json/text.h"

#define COLUMN(column, field, sign) { #column, offsetof(struct op_summary, field), sign }

const struct form_column form_columns[FORM_COLUMNS] = {
	COLUMN(calls, calls, false),
	COLUMN(device_total_ns, device_total_ns, true),
	COLUMN(device_self_ns, device_self_ns, true),
	COLUMN(cpu_total_ns, cpu_total_ns, true),
	COLUMN(cpu_self_ns, cpu_self_ns, true),
	COLUMN(orphan_calls, orphan_calls, false),
	COLUMN(orphan_ns, orphan_ns, true),
	COLUMN(min_ns, min_ns, true),
	COLUMN(max_ns, max_ns, true),
	COLUMN(hist_zero, hist.zero, false),
};

/* Checks all before anything is added, and finds the last bucket's index and the sum. */
static int check_buckets(const struct hist *h, const uint32_t *delta, const uint64_t *count, size_t n, int64_t *last,
	struct err *e)
{
	uint64_t sum = h->zero;
	int64_t index = HIST_INDEX_MIN;

	for (size_t i = 0; i < n; i++) {
		index += delta[i];
		if (!hist_index_valid(index) || (i > 0 && delta[i] == 0))
			return err_set(e, E_FORMAT, "hist_delta[%zu]: %u leads to bucket %lld, want rising ones up to %d",
				i, delta[i], (long long)index, HIST_INDEX_MAX);
		if (count[i] == 0 || __builtin_add_overflow(sum, count[i], &sum))
			return err_set(e, E_FORMAT, "hist_count[%zu]: %llu, want at least 1 and a sum below 2^64", i,
				(unsigned long long)count[i]);
	}
	*last = index;
	return OK;
}

int form_hist(struct hist *h, const uint32_t *delta, const uint64_t *count, size_t n, size_t *budget_bytes,
	struct err *e)
{
	int64_t last = HIST_INDEX_MIN, index = HIST_INDEX_MIN;
	size_t bytes;
	int rc = check_buckets(h, delta, count, n, &last, e);

	if (rc < 0 || n == 0)
		return rc;
	bytes = (size_t)(last - HIST_INDEX_MIN - delta[0] + 1) * sizeof(*h->count);
	if (bytes > *budget_bytes)
		return err_set(e, E_LIMIT, "the batch's histograms are too large; send fewer windows at once");
	*budget_bytes -= bytes;
	for (size_t i = 0; i < n; i++) {
		index += delta[i];
		hist_add_bucket(h, (int32_t)index, count[i]);
	}
	return OK;
}

static int op_order(const void *a, const void *b)
{
	return op_summary_cmp(a, b);
}

int form_finish_window(struct window *w, struct err *e)
{
	int rc;

	for (size_t i = 1; i < w->n_ops; i++) {
		if (op_summary_cmp(&w->ops[i - 1], &w->ops[i]) <= 0)
			continue;
		qsort(w->ops, w->n_ops, sizeof(*w->ops), op_order);
		break;
	}
	rc = window_check(w, e);
	if (rc != E_FORMAT)
		return rc;
	if (e != NULL)
		e->code = E_UNSUPPORTED;
	return E_UNSUPPORTED;
}

static int check_agent_text(struct str s, const char *name, struct err *e)
{
	if (s.n > WINDOW_TEXT_MAX)
		return err_set(e, E_LIMIT, "%s: %zu bytes, at most %d", name, s.n, WINDOW_TEXT_MAX);
	if (!json_utf8_valid(s))
		return err_set(e, E_FORMAT, "%s: is not UTF-8", name);
	return OK;
}

int form_check_agent(const struct wire_batch *b, struct err *e)
{
	int rc = check_agent_text(b->agent_id, "agent_id", e);

	if (rc == OK)
		rc = check_agent_text(b->agent_version, "agent_version", e);
	if (rc == OK && b->n_windows == 0)
		rc = err_set(e, E_FORMAT, "windows: there is none, want at least one");
	return rc;
}
