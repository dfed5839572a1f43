#include "trace/probe.h"

#include "base/buf.h"
#include "base/enc.h"
#include "json/pull.h"
#include "trace/input.h"
#include "trace/pb.h"
#include "trace/tar.h"
#include "trace/xla_json.h"

enum { NTFF_VERSION_MAX = 6, NTFF_BLOCK_AT = 128, NEFF_HEADER = 1024, NEFF_VERSION_MAX = 16, KEYS_MAX = 20000 };

static const struct {
	const char *word, *sentence;
} kinds[] = {
	[PROBE_UNKNOWN] = { "unknown", "a file of a kind that is not known here" },
	[PROBE_EMPTY] = { "empty", "an empty file" },
	[PROBE_TRACE] = { "trace", "a PyTorch (Kineto) or Chrome trace" },
	[PROBE_XLA_TRACE] = { "xla_trace", "a JAX or XLA trace" },
	[PROBE_XPLANE] = { "xplane", "an XPlane profile of JAX or PyTorch/XLA" },
	[PROBE_NEURON_SUMMARY] = { "neuron_summary", "a summary by neuron-explorer (summary-json)" },
	[PROBE_NEURON_DEVICE] = { "neuron_device", "a Neuron device profile by neuron-explorer (json)" },
	[PROBE_NEURON_SYSTEM] = { "neuron_system", "a Neuron system profile by neuron-explorer (json)" },
	[PROBE_NEURON_MONITOR] = { "neuron_monitor", "reports of neuron-monitor" },
	[PROBE_NEURON_LS] = { "neuron_ls", "the device list of neuron-ls -j" },
	[PROBE_NTFF] = { "ntff", "a Neuron device profile as it was captured (.ntff); decode it with its .neff: neuron-explorer "
				 "view -n FILE.neff -s FILE.ntff --output-format json --output-file profile.json" },
	[PROBE_NEFF] = { "neff", "a compiled Neuron model (.neff) and no profile; with the .ntff of a run: neuron-explorer view "
				 "-n FILE.neff -s FILE.ntff --output-format json --output-file profile.json" },
	[PROBE_NEURON_PB] = { "neuron_pb", "a part of a Neuron system profile as it was captured (.pb); decode its folder: "
					   "neuron-explorer view -d FOLDER --output-format json --ignore-device-profile "
					   "--output-file system.json" },
	[PROBE_PROTOBUF] = { "protobuf", "a protobuf file of a kind that is not known here; if neuron-explorer captured it, "
					 "decode its folder: neuron-explorer view -d FOLDER --output-format json --output-file "
					 "profile.json" },
	[PROBE_OP_TABLE] = { "op_table", "an op table (steps and ops)" },
	[PROBE_ARCHIVE] = { "archive", "an archive of files (tar), and one trace is expected here: unpack it, or give it to trainspotter "
				       "summarize, diff or send, which read each file in it" },
	[PROBE_JSON] = { "json", "JSON, but neither a trace nor a profile" },
};
_Static_assert(COUNT(kinds) == PROBE_KINDS, "say what every kind is");

const char *probe_word(enum probe_kind kind)
{
	return kinds[kind].word;
}

const char *probe_sentence(enum probe_kind kind)
{
	return kinds[kind].sentence;
}

bool probe_is_neuron(enum probe_kind kind)
{
	switch (kind) {
	case PROBE_NEURON_SUMMARY:
	case PROBE_NEURON_DEVICE:
	case PROBE_NEURON_SYSTEM:
	case PROBE_NEURON_MONITOR:
	case PROBE_NEURON_LS: return true;
	case PROBE_UNKNOWN:
	case PROBE_EMPTY:
	case PROBE_TRACE:
	case PROBE_XLA_TRACE:
	case PROBE_XPLANE:
	case PROBE_NTFF:
	case PROBE_NEFF:
	case PROBE_NEURON_PB:
	case PROBE_PROTOBUF:
	case PROBE_OP_TABLE:
	case PROBE_ARCHIVE:
	case PROBE_JSON:
	case PROBE_KINDS: return false;
	}
	return false;
}

/* ---- JSON: a key tells the kind; among several the strongest wins */

enum place { ROOT, BELOW_ROOT, IN_LIST }; /* a member of the object; of an object in it; of an object in the list */

static const struct key_rule {
	const char *key;
	enum place place;
	unsigned weight;
	enum probe_kind kind;
} key_rules[] = {
	{ "traceEvents", ROOT, 90, PROBE_TRACE },
	{ "highres-ticks", BELOW_ROOT, 95, PROBE_XLA_TRACE },
	{ "baseTimeNanoseconds", ROOT, 92, PROBE_TRACE },
	{ "deviceProperties", ROOT, 92, PROBE_TRACE },
	{ "distributedInfo", ROOT, 92, PROBE_TRACE },
	{ "schemaVersion", ROOT, 60, PROBE_TRACE },
	{ "ph", IN_LIST, 50, PROBE_TRACE },
	{ "neuron_runtime_data", ROOT, 90, PROBE_NEURON_MONITOR },
	{ "neuron_hardware_info", ROOT, 85, PROBE_NEURON_MONITOR },
	{ "system_data", ROOT, 60, PROBE_NEURON_MONITOR },
	{ "neuron_device", IN_LIST, 80, PROBE_NEURON_LS },
	{ "neuroncore_ids", IN_LIST, 80, PROBE_NEURON_LS },
	{ "trace_event", ROOT, 85, PROBE_NEURON_SYSTEM },
	{ "trace_events", ROOT, 85, PROBE_NEURON_SYSTEM },
	{ "mem_usage", ROOT, 70, PROBE_NEURON_SYSTEM },
	{ "cpu_util", ROOT, 70, PROBE_NEURON_SYSTEM },
	{ "device_mem_usage", ROOT, 70, PROBE_NEURON_SYSTEM },
	{ "Neuron_Runtime_API_Event", ROOT, 70, PROBE_NEURON_SYSTEM },
	{ "Framework_Event", ROOT, 70, PROBE_NEURON_SYSTEM },
	{ "instruction", ROOT, 88, PROBE_NEURON_DEVICE },
	{ "layer_summary", ROOT, 88, PROBE_NEURON_DEVICE },
	{ "summary_groups", ROOT, 88, PROBE_NEURON_DEVICE },
	{ "summary_group_order", ROOT, 88, PROBE_NEURON_DEVICE },
	{ "neff_header", ROOT, 88, PROBE_NEURON_DEVICE },
	{ "neff_node", ROOT, 88, PROBE_NEURON_DEVICE },
	{ "nc_mem_usage", ROOT, 88, PROBE_NEURON_DEVICE },
	{ "semaphore_update", ROOT, 88, PROBE_NEURON_DEVICE },
	{ "pending_dma", ROOT, 88, PROBE_NEURON_DEVICE },
	{ "dma_queues_info", ROOT, 88, PROBE_NEURON_DEVICE },
	{ "instruction_usage", ROOT, 88, PROBE_NEURON_DEVICE },
	{ "active_time", ROOT, 88, PROBE_NEURON_DEVICE },
	{ "dma", ROOT, 65, PROBE_NEURON_DEVICE },
	{ "dma_throughput", ROOT, 88, PROBE_NEURON_DEVICE },
	{ "ham", ROOT, 65, PROBE_NEURON_DEVICE },
	{ "terminology", ROOT, 65, PROBE_NEURON_DEVICE },
	{ "model_info", ROOT, 65, PROBE_NEURON_DEVICE },
	{ "profile_info", ROOT, 65, PROBE_NEURON_DEVICE },
	{ "neuroncore_cycle_count", ROOT, 75, PROBE_NEURON_SUMMARY },
	{ "tensor_engine_active_time_percent", ROOT, 75, PROBE_NEURON_SUMMARY },
	{ "vector_engine_active_time_percent", ROOT, 75, PROBE_NEURON_SUMMARY },
	{ "hbm_read_bytes", ROOT, 75, PROBE_NEURON_SUMMARY },
	{ "total_active_time", ROOT, 75, PROBE_NEURON_SUMMARY },
	{ "summary", ROOT, 60, PROBE_NEURON_DEVICE },
	{ "mfu_estimated_percent", BELOW_ROOT, 50, PROBE_NEURON_SUMMARY },
	{ "hbm_read_bytes", BELOW_ROOT, 50, PROBE_NEURON_SUMMARY },
	{ "total_active_time", BELOW_ROOT, 50, PROBE_NEURON_SUMMARY },
	{ "neuroncore_cycle_count", BELOW_ROOT, 50, PROBE_NEURON_SUMMARY },
	{ "mfu_estimated_percent", IN_LIST, 50, PROBE_NEURON_SUMMARY },
	{ "hbm_read_bytes", IN_LIST, 50, PROBE_NEURON_SUMMARY },
	{ "total_active_time", IN_LIST, 50, PROBE_NEURON_SUMMARY },
	{ "neuroncore_cycle_count", IN_LIST, 50, PROBE_NEURON_SUMMARY },
	{ "neuron_runtime_data", IN_LIST, 90, PROBE_NEURON_MONITOR },
	{ "ops", ROOT, 40, PROBE_OP_TABLE },
	{ "steps", ROOT, 20, PROBE_OP_TABLE },
};

/* n_<hash> of a device profile, s_<hash> of the system profile. */
static bool is_profile_key(struct str key)
{
	if (!str_has_prefix(key, STR("n_")) && !str_has_prefix(key, STR("s_")))
		return false;
	for (size_t i = 2; i < key.n; i++)
		if ((key.p[i] < '0' || key.p[i] > '9') && (key.p[i] < 'a' || key.p[i] > 'f'))
			return false;
	return key.n >= 10;
}

/* "i-0b1ea78ca2865fd32/PID:17/neuron_rt/NC:0" */
static bool is_lane_key(struct str key)
{
	return str_contains(key, STR("/neuron_rt")) || str_contains(key, STR("/neuron_hw")) ||
	       (str_contains(key, STR("/PID:")) && str_contains(key, STR("/framework")));
}

struct json_probe {
	enum probe_kind kind;
	unsigned weight;
	bool list; /* the document is a list */
};

static void look_at_key(struct json_probe *p, unsigned depth, struct str key)
{
	enum place place = depth == 1 ? ROOT : p->list ? IN_LIST : BELOW_ROOT;

	for (size_t i = 0; i < COUNT(key_rules); i++) {
		const struct key_rule *r = &key_rules[i];

		if (r->place == place && r->weight > p->weight && str_eq(key, str_of(r->key))) {
			p->weight = r->weight;
			p->kind = r->kind;
		}
	}
	if (place != ROOT || p->weight >= 70 || !(is_profile_key(key) || is_lane_key(key)))
		return;
	p->weight = 70;
	p->kind = is_lane_key(key) ? PROBE_NEURON_SYSTEM : PROBE_NEURON_SUMMARY;
}

/* The header may be Chrome's own; events tell better. */
static enum probe_kind trace_kind(struct str head, enum probe_kind by_header)
{
	switch (xla_json_is(head)) {
	case XLA_JSON_NO: return PROBE_TRACE;
	case XLA_JSON_YES: return PROBE_XLA_TRACE;
	case XLA_JSON_UNKNOWN: break;
	}
	return by_header;
}

static enum probe_kind probe_json(struct str head)
{
	struct json_reader *r = json_reader_new(JSON_TOLERANT, JSON_LIMITS_BODY);
	struct json_probe p = { .kind = PROBE_JSON };
	struct json_value v;
	enum json_token tok;
	struct buf key;

	buf_init(&key, JSON_LIMITS_BODY.token_bytes * 4);
	json_feed(r, head.p, head.n);
	for (unsigned n = 0; n < KEYS_MAX; n++) {
		tok = json_next(r, &v);
		if (tok == JSON_MORE || tok == JSON_DONE || tok == JSON_ERROR)
			break;
		if (json_depth(r) == 1 && tok == JSON_ARRAY)
			p.list = true;
		if (tok == JSON_KEY && json_depth(r) <= 2)
			look_at_key(&p, json_depth(r), json_meaning(&v, &key));
		if ((tok == JSON_OBJECT || tok == JSON_ARRAY) && json_depth(r) > 2)
			json_skip(r);
	}
	json_reader_free(r);
	buf_fini(&key);
	return p.kind == PROBE_TRACE || p.kind == PROBE_XLA_TRACE ? trace_kind(head, p.kind) : p.kind;
}

/* ---- bytes */

static bool is_ntff(struct str head)
{
	const uint8_t *p = (const uint8_t *)head.p;
	uint64_t first, second;

	if (head.n < NTFF_BLOCK_AT || p[0] < 1 || p[0] > NTFF_VERSION_MAX)
		return false;
	first = enc_get64(p + 1);
	second = enc_get64(p + 9);
	if (first == 0 || first >> 40 != 0 || second >> 40 != 0)
		return false;
	return head.n == NTFF_BLOCK_AT || (p[NTFF_BLOCK_AT] & 7) <= 2;
}

static bool is_neff(struct str head)
{
	const uint8_t *p = (const uint8_t *)head.p;
	uint64_t package, header, data, version;

	if (head.n < 40)
		return false;
	package = enc_get64(p);
	header = enc_get64(p + 8);
	data = enc_get64(p + 16);
	version = enc_get64(p + 24);
	return package <= NEFF_VERSION_MAX && header == NEFF_HEADER && data > 0 && data >> 48 == 0 &&
	       version <= NEFF_VERSION_MAX;
}

/* Without folders, and without what it is compressed by. */
static struct str base_name(struct str path)
{
	struct str part = path;

	while (path.p != NULL)
		part = str_split(&path, '/');
	if (!str_drop_suffix(&part, STR(".gz")))
		str_drop_suffix(&part, STR(".zst"));
	return part;
}

static bool is_neuron_pb_name(struct str name)
{
	static const char *const names[] = { "ntrace.pb", "trace_info.pb", "cpu_util.pb", "host_mem.pb" };

	for (size_t i = 0; i < COUNT(names); i++)
		if (str_eq(name, str_of(names[i])))
			return true;
	return false;
}

static bool is_text(struct str head)
{
	head = str_upto(head, 512);
	for (size_t i = 0; i < head.n; i++)
		if ((unsigned char)head.p[i] < '\t')
			return false;
	return true;
}

/* At least this many fields in a row must be well-formed. */
enum { PB_FIELDS_SURE = 3 };

struct pb_look {
	size_t n; /* fields of the outermost message */
	bool broken;
	bool in_first, may_be_plane; /* inside a field 1, and no field above 2 came yet in it */
	bool is_xspace;		     /* a field 1 has a field 2 that is the name of a plane */
};

static bool is_plane_name(struct str name)
{
	return str_has_prefix(name, STR("/")) || str_eq(name, STR("Task Environment"));
}

static void look_inside(struct pb_look *look, struct pb *p, enum pb_token token, const struct pb_field *f)
{
	if (token == PB_END) {
		look->in_first = false;
		look->n++;
	} else if (token == PB_TEXT) {
		look->is_xspace = look->may_be_plane && is_plane_name(f->text);
		look->may_be_plane = false;
	} else if (token == PB_BYTES && f->number == 2) {
		pb_text(p);
	} else if (f->number > 2) {
		look->may_be_plane = false;
	}
}

static struct pb_look look_at_fields(struct str head)
{
	struct pb *p = pb_new();
	struct pb_look look = { .n = 0 };
	struct pb_field f;
	enum pb_token token;

	pb_feed(p, head);
	while (look.n < PB_FIELDS_SURE && !look.is_xspace && !look.broken &&
		(token = pb_next(p, &f)) != PB_MORE) {
		if (token == PB_ERROR)
			look.broken = true;
		else if (look.in_first)
			look_inside(&look, p, token, &f);
		else if (token == PB_BYTES && f.number == 1)
			look.in_first = look.may_be_plane = pb_enter(p);
		else
			look.n++;
	}
	look.n += look.in_first; /* it is longer than the head */
	pb_free(p);
	return look;
}

static enum probe_kind probe_protobuf(struct str head, struct str name)
{
	struct pb_look look = look_at_fields(head);

	if (look.is_xspace)
		return PROBE_XPLANE;
	if (is_neuron_pb_name(name))
		return PROBE_NEURON_PB;
	if (str_has_suffix(name, STR(".xplane.pb")))
		return PROBE_XPLANE;
	if (str_has_suffix(name, STR(".pb")))
		return PROBE_PROTOBUF;
	if (is_text(head))
		return PROBE_UNKNOWN;
	return look.n >= PB_FIELDS_SURE || (look.n > 0 && !look.broken) ? PROBE_PROTOBUF : PROBE_UNKNOWN;
}

static struct str without_mark_and_space(struct str head)
{
	str_drop_prefix(&head, STR("\xef\xbb\xbf"));
	return str_trim(head);
}

enum probe_kind probe_kind(struct str head, struct str name)
{
	struct str text;

	head = str_upto(head, PROBE_BYTES);
	name = base_name(name);
	text = without_mark_and_space(head);
	if (head.n == 0 && !is_neuron_pb_name(name))
		return PROBE_EMPTY;
	if (text.n > 0 && (text.p[0] == '{' || text.p[0] == '['))
		return probe_json(text);
	if (tar_is(head))
		return PROBE_ARCHIVE;
	if (is_ntff(head) || is_neff(head))
		return is_ntff(head) ? PROBE_NTFF : PROBE_NEFF;
	if (str_has_suffix(name, STR(".ntff")) || str_has_suffix(name, STR(".neff")))
		return str_has_suffix(name, STR(".ntff")) ? PROBE_NTFF : PROBE_NEFF;
	return probe_protobuf(head, name);
}

/* Captured or compiled, and decoded by another program; what is merely not known is left to the trace reader, which
 * says what it misses. */
static bool is_for_others(enum probe_kind kind)
{
	return kind == PROBE_NTFF || kind == PROBE_NEFF || kind == PROBE_NEURON_PB || kind == PROBE_PROTOBUF ||
	       kind == PROBE_ARCHIVE;
}

/* What an empty file should have been; NULL where its name does not tell. */
static const char *empty_sentence(struct str name)
{
	if (str_has_suffix(name, STR(".ntff")))
		return "an empty Neuron device profile (.ntff): of a core that ran nothing, or of a capture that failed";
	if (str_has_suffix(name, STR(".neff")))
		return "an empty Neuron model (.neff): it was not copied whole, or the capture failed";
	return NULL;
}

int probe_input(struct input *in, const char *name, enum probe_kind *kind, struct err *e)
{
	struct str head;
	int rc = input_peek(in, &head, e);

	*kind = PROBE_UNKNOWN;
	if (rc < 0)
		return rc;
	*kind = probe_kind(head, str_of(name));
	if (*kind == PROBE_EMPTY && empty_sentence(base_name(str_of(name))) != NULL)
		return err_set(e, E_FORMAT, "%s: this is no trace but %s", name, empty_sentence(base_name(str_of(name))));
	if (is_for_others(*kind))
		return err_set(e, E_FORMAT, "%s: this is no trace but %s", name, probe_sentence(*kind));
	return OK;
}
