#include "tests/unit/agent/session.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "tests/unit/agent/folder.h"

/* An op, what it launched, and two steps. */
const char session_system[] =
	"{\"trace_events\":["
	"{\"name\":\"ProfilerStep#0\",\"timestamp\":1790000000000000000,\"duration\":90000,\"id\":1,\"parent_id\":0,"
	"\"group\":\"framework-7\",\"process_id\":\"701\",\"thread_id\":7,\"type\":99999,\"instance_id\":\"i-0123\"},"
	"{\"name\":\"aten::mul\",\"timestamp\":1790000000000010000,\"duration\":40000,\"id\":2,\"parent_id\":1,"
	"\"group\":\"framework-7\",\"process_id\":\"701\",\"thread_id\":7,\"type\":99999,\"instance_id\":\"i-0123\"},"
	"{\"name\":\"nrta_execute_schedule\",\"timestamp\":1790000000000020000,\"duration\":10000,\"id\":3,\"parent_id\":2,"
	"\"group\":\"nrt-nc-000\",\"process_id\":\"701\",\"thread_id\":7,\"type\":11,\"instance_id\":\"i-0123\"},"
	"{\"name\":\"nc_exec_running\",\"timestamp\":1790000000000025000,\"duration\":30000,\"id\":4,\"parent_id\":3,"
	"\"exec_id\":5,\"model_id\":10001,\"model_name\":\"model/decode.neff\",\"nc_idx\":0,\"group\":\"nrt-nc-000\","
	"\"process_id\":\"701\",\"thread_id\":7,\"type\":12,\"instance_id\":\"i-0123\"}]}\n";

const char session_summary[] =
	"{\"n_0123456789abcdef\":{\"total_time\":0.002,\"tensor_engine_active_time_percent\":0.25,"
	"\"tensor_engine_instruction_time\":0.0005,\"tensor_engine_instruction_count\":40,\"hbm_read_bytes\":123456,"
	"\"nc_idx\":0,\"nd_idx\":0,\"runtime_version\":\"2.31.24\"}}\n";

const char session_device[] =
	"{\"instruction\":[{\"timestamp\":10,\"duration\":20,\"label\":\"Vector\",\"opcode\":\"TENSOR_TENSOR\",\"hlo_name\":"
	"\"multiply.10001\",\"id\":1},{\"timestamp\":40,\"duration\":30,\"label\":\"Tensor\",\"opcode\":\"MATMUL\",\"hlo_name\":"
	"\"dot.3\",\"id\":2}],\"summary\":[{\"total_time\":0.0001}],\"metadata\":[{\"ntff_version\":5}]}\n";

static void make_dirs(const char *dir)
{
	ck_assert_int_eq(file_make_dirs(folder_path(dir), 0700, NULL), OK);
}

static void copy_script(const char *name)
{
	char from[PATH_MAX];
	struct buf b;

	buf_init(&b, 1 << 20);
	snprintf(from, sizeof(from), "%s/tests/support/neuron-explorer", getenv("srcdir") == NULL ? ".." : getenv("srcdir"));
	ck_assert_int_eq(file_read_all(from, &b, NULL), OK);
	folder_write(name, buf_view(&b));
	ck_assert_int_eq(chmod(folder_path(name), 0755), 0);
	buf_fini(&b);
}

void decoder_make(void)
{
	char path[PATH_MAX];

	make_dirs("bin");
	copy_script("bin/neuron-explorer");
	folder_write("bin/system.json", str_of(session_system));
	folder_write("bin/summary.json", str_of(session_summary));
	folder_write("bin/device.json", str_of(session_device));
	folder_write("bin/calls", STR(""));
	snprintf(path, sizeof(path), "%s/bin:/usr/bin:/bin", folder);
	setenv("PATH", path, 1);
}

void decoder_behaves(const char *words)
{
	folder_write("bin/mode", str_of(words));
}

bool decoder_was_told(const char *part)
{
	struct buf b;
	bool found;

	buf_init(&b, 1 << 20);
	folder_read("bin/calls", &b);
	found = str_contains(buf_view(&b), str_of(part));
	buf_fini(&b);
	return found;
}

unsigned decoder_views(void)
{
	unsigned n = 0;
	struct str rest;
	struct buf b;

	buf_init(&b, 1 << 20);
	folder_read("bin/calls", &b);
	rest = buf_view(&b);
	while (rest.p != NULL)
		n += str_has_prefix(str_split(&rest, '\n'), STR("view "));
	buf_fini(&b);
	return n;
}

static void put(const char *dir, const char *name, struct str text)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	folder_write(path, text);
}

void session_make(const char *dir, unsigned holds)
{
	make_dirs(dir);
	put(dir, "cpu_util.pb", STR(""));
	put(dir, "host_mem.pb", STR(""));
	if (holds & HOLDS_INFO)
		put(dir, "trace_info.pb", STR("\x0a\x02hi"));
	if (holds & HOLDS_SYSTEM)
		put(dir, "ntrace.pb", STR("\x82\x01\x02hi"));
	if (holds & (HOLDS_DEVICE | HOLDS_EMPTY_DEVICE)) {
		put(dir, "neff_42_vnc_0.neff", STR("a compiled model"));
		put(dir, "profile_nc_0_session_0.ntff", (holds & HOLDS_DEVICE) ? STR("a device profile") : STR(""));
	}
	if (holds & HOLDS_TRACE)
		put(dir, "trace.json", STR("{\"schemaVersion\":1,\"traceEvents\":[{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":"
			"\"aten::add\",\"ts\":1,\"dur\":2,\"pid\":1,\"tid\":1}],\"baseTimeNanoseconds\":1790000000000000000}\n"));
}
