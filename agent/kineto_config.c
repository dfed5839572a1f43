#include "agent/kineto_config.h"

#include <inttypes.h>

#include "base/clock.h"

enum { ACTIVITIES_MAX = 512, CUSTOM_MAX = 1024 };

bool kineto_config_value_ok(struct str value, size_t max)
{
	for (size_t i = 0; i < value.n; i++)
		if (value.p[i] <= ' ' || value.p[i] > '~' || value.p[i] == '=' || value.p[i] == '#')
			return false;
	return value.n > 0 && value.n <= max;
}

bool kineto_config_dir_ok(struct str dir)
{
	return kineto_config_value_ok(dir, KINETO_DIR_MAX) && dir.p[0] == '/' && !str_contains(dir, STR(".."));
}

static int check(const struct kineto_window *w, struct err *e)
{
	if (!kineto_config_dir_ok(w->dir))
		return err_set(e, E_USAGE, "\"%.*s\": no folder for traces; want an absolute path without \"..\", blanks, = "
			"and #", STR_ARG(w->dir));
	if (!kineto_config_value_ok(w->stem, KINETO_STEM_MAX))
		return err_set(e, E_USAGE, "\"%.*s\": no name for a trace", STR_ARG(w->stem));
	if (!str_empty(w->activities) && !kineto_config_value_ok(w->activities, ACTIVITIES_MAX))
		return err_set(e, E_USAGE, "\"%.*s\": no list of activities; want words with commas between",
			STR_ARG(w->activities));
	if (!str_empty(w->custom) && !kineto_config_value_ok(w->custom, CUSTOM_MAX))
		return err_set(e, E_USAGE, "\"%.*s\": cannot be handed on; want no blanks, = and #", STR_ARG(w->custom));
	if (w->iterations < 0 || (w->iterations > 0 && w->roundup < 1) || w->duration_ns < NS_PER_MS)
		return err_set(e, E_USAGE, "a window of no length");
	return OK;
}

static void write_length(const struct kineto_window *w, struct buf *out)
{
	if (w->iterations > 0)
		buf_fmt(out, "PROFILE_START_ITERATION=0\nPROFILE_START_ITERATION_ROUNDUP=%" PRId64
			     "\nACTIVITIES_ITERATIONS=%" PRId64 "\n", w->roundup, w->iterations);
	else
		buf_fmt(out, "ACTIVITIES_WARMUP_PERIOD_SECS=0\nACTIVITIES_DURATION_MSECS=%" PRId64 "\n",
			w->duration_ns / NS_PER_MS);
}

int kineto_config_write(const struct kineto_window *w, struct buf *out, struct err *e)
{
	struct str activities = str_empty(w->activities) ? STR(KINETO_ACTIVITIES) : w->activities;
	int rc = check(w, e);

	if (rc < 0)
		return rc;
	buf_fmt(out, "ACTIVITIES_LOG_FILE=%.*s/%.*s.json\n", STR_ARG(w->dir), STR_ARG(w->stem));
	buf_fmt(out, "ACTIVITY_TYPES=%.*s\n", STR_ARG(activities));
	write_length(w, out);
	if (!str_empty(w->custom))
		buf_fmt(out, "CUSTOM_CONFIG=%.*s\n", STR_ARG(w->custom));
	buf_fmt(out, "REQUEST_TRACE_ID=%" PRIu64 "\n", w->id);
	return buf_finish(out, "configuration for libkineto", e);
}

void kineto_config_path(const struct kineto_window *w, int32_t pid, struct buf *out)
{
	buf_fmt(out, "%.*s/%.*s_%" PRId32 ".json", STR_ARG(w->dir), STR_ARG(w->stem), pid);
}
