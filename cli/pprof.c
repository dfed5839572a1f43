#include "cli/pprof.h"

#include "base/arena.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/must.h"
#include "base/pbw.h"
#include "trace/gzip.h"

enum { BYTES_MAX = 1 << 30, NAMES_MAX = 4 << 20, MESSAGE_MAX = 64 << 20 };

enum profile_field { P_SAMPLE_TYPE = 1, P_SAMPLE = 2, P_MAPPING = 3, P_LOCATION = 4, P_FUNCTION = 5, P_STRING = 6, P_TIME = 9,
	P_DURATION = 10, P_DEFAULT_TYPE = 14 };
enum { VALUE_TYPE = 1, VALUE_UNIT = 2 };
enum { SAMPLE_LOCATIONS = 1, SAMPLE_VALUES = 2, SAMPLE_LABEL = 3, LABEL_KEY = 1, LABEL_TEXT = 2 };
enum { MAPPING_ID = 1, MAPPING_FILE = 5, MAPPING_HAS_FUNCTIONS = 7 };
enum { LOCATION_ID = 1, LOCATION_MAPPING = 2, LOCATION_LINE = 4, LINE_FUNCTION = 1 };
enum { FUNCTION_ID = 1, FUNCTION_NAME = 2 };

struct pprof {
	const struct pprof_type *types;
	size_t n_types;
	struct arena arena;
	struct intern texts;	 /* the string table */
	struct intern functions; /* names; id n is function n + 1 */
	struct buf samples, message, packed;
	bool full;
};

/* ---- building */
struct pprof *pprof_new(const struct pprof_type *types, size_t n)
{
	struct pprof *p = mem_get(sizeof(*p));

	must(n > 0 && n <= PPROF_VALUES_MAX);
	p->types = types;
	p->n_types = n;
	arena_init(&p->arena, BYTES_MAX);
	intern_init(&p->texts, &p->arena, NAMES_MAX);
	intern_init(&p->functions, &p->arena, NAMES_MAX);
	intern_id(&p->texts, STR(""));
	buf_init(&p->samples, BYTES_MAX);
	buf_init(&p->message, MESSAGE_MAX);
	buf_init(&p->packed, MESSAGE_MAX);
	return p;
}

void pprof_free(struct pprof *p)
{
	if (p == NULL)
		return;
	intern_fini(&p->texts);
	intern_fini(&p->functions);
	arena_fini(&p->arena);
	buf_fini(&p->samples);
	buf_fini(&p->message);
	buf_fini(&p->packed);
	mem_free(p);
}

static int64_t text_id(struct pprof *p, struct str text)
{
	uint32_t id = intern_id(&p->texts, text);

	p->full |= id == INTERN_NONE;
	return id == INTERN_NONE ? 0 : id;
}

static uint64_t location_id(struct pprof *p, struct str name)
{
	uint32_t id = intern_id(&p->functions, name);

	p->full |= id == INTERN_NONE;
	return id == INTERN_NONE ? 0 : (uint64_t)id + 1;
}

static void put_labels(struct pprof *p, const struct pprof_label *labels, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		buf_reset(&p->packed);
		pbw_number(&p->packed, LABEL_KEY, text_id(p, str_of(labels[i].key)));
		pbw_number(&p->packed, LABEL_TEXT, text_id(p, labels[i].value));
		pbw_bytes(&p->message, SAMPLE_LABEL, buf_view(&p->packed));
	}
}

void pprof_sample(struct pprof *p, const struct str *frames, size_t n_frames, const int64_t *values,
	const struct pprof_label *labels, size_t n_labels)
{
	buf_reset(&p->message);
	buf_reset(&p->packed);
	for (size_t i = 0; i < n_frames; i++)
		pbw_varint(&p->packed, location_id(p, frames[i]));
	pbw_bytes(&p->message, SAMPLE_LOCATIONS, buf_view(&p->packed));
	buf_reset(&p->packed);
	for (size_t i = 0; i < p->n_types; i++)
		pbw_varint(&p->packed, (uint64_t)values[i]);
	pbw_bytes(&p->message, SAMPLE_VALUES, buf_view(&p->packed));
	put_labels(p, labels, n_labels);
	pbw_bytes(&p->samples, P_SAMPLE, buf_view(&p->message));
}

/* ---- the end */
static void put_types(struct pprof *p)
{
	for (size_t i = 0; i < p->n_types; i++) {
		buf_reset(&p->message);
		pbw_number(&p->message, VALUE_TYPE, text_id(p, str_of(p->types[i].type)));
		pbw_number(&p->message, VALUE_UNIT, text_id(p, str_of(p->types[i].unit)));
		pbw_bytes(&p->samples, P_SAMPLE_TYPE, buf_view(&p->message));
	}
}

/* Locations without a mapping are offered one, and then the program is missed that it is of. */
static void put_mapping(struct pprof *p, struct str file)
{
	buf_reset(&p->message);
	pbw_number(&p->message, MAPPING_ID, 1);
	pbw_number(&p->message, MAPPING_FILE, text_id(p, file));
	pbw_number(&p->message, MAPPING_HAS_FUNCTIONS, true);
	pbw_bytes(&p->samples, P_MAPPING, buf_view(&p->message));
}

static int64_t shown_name(struct pprof *p, struct str name)
{
	char *room = buf_room(&p->packed, name.n);

	if (str_empty(name))
		return text_id(p, STR("\"\""));
	return room == NULL ? 0 : text_id(p, str_make(room, str_tame(name.p, name.n, room)));
}

static void put_function(struct pprof *p, uint32_t at)
{
	int64_t id = (int64_t)at + 1;

	buf_reset(&p->packed);
	pbw_number(&p->packed, LINE_FUNCTION, id);
	buf_reset(&p->message);
	pbw_number(&p->message, LOCATION_ID, id);
	pbw_number(&p->message, LOCATION_MAPPING, 1);
	pbw_bytes(&p->message, LOCATION_LINE, buf_view(&p->packed));
	pbw_bytes(&p->samples, P_LOCATION, buf_view(&p->message));
	buf_reset(&p->message);
	pbw_number(&p->message, FUNCTION_ID, id);
	pbw_number(&p->message, FUNCTION_NAME, shown_name(p, intern_name(&p->functions, at)));
	pbw_bytes(&p->samples, P_FUNCTION, buf_view(&p->message));
}

int pprof_finish(struct pprof *p, const struct pprof_head *head, struct buf *out, struct err *e)
{
	int rc;

	put_types(p);
	put_mapping(p, head->file);
	for (uint32_t i = 0; i < intern_count(&p->functions); i++)
		put_function(p, i);
	pbw_number(&p->samples, P_TIME, (uint64_t)head->start_ns);
	pbw_number(&p->samples, P_DURATION, (uint64_t)head->dur_ns);
	pbw_number(&p->samples, P_DEFAULT_TYPE, text_id(p, str_of(p->types[head->default_type].type)));
	for (uint32_t i = 0; i < intern_count(&p->texts); i++)
		pbw_bytes(&p->samples, P_STRING, intern_name(&p->texts, i));
	if (p->full)
		return err_set(e, E_LIMIT, "more names than fit into a profile");
	rc = buf_finish(&p->message, "a sample of the profile", e);
	if (rc == OK)
		rc = buf_finish(&p->samples, "the profile", e);
	return rc == OK ? gzip_pack(buf_view(&p->samples), out, e) : rc;
}
