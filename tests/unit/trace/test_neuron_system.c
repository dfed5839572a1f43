#include "trace/neuron_system.h"

#include <check.h>

#include "tests/unit/trace/help_neuron.h"

Suite *suite_neuron_system(void);

#define EVENT(name, ts, dur, more)                                                                                  \
	"{\"name\":\"" name "\",\"timestamp\":" #ts ",\"duration\":" #dur ",\"process_id\":\"7\"," more "}"
#define OP(name, ts, dur, more) EVENT(name, ts, dur, "\"type\":99999,\"group\":\"framework-1\",\"thread_id\":1" more)
#define CALL(name, ts, dur, more) EVENT(name, ts, dur, "\"group\":\"nrt-nc-000\"" more)
#define RUN(ts, dur, more) EVENT("nc_exec_running", ts, dur, "\"nc_idx\":0" more)
#define FILE_OF(events) "{\"trace_events\":[" events "]}"

#define UNLINKED "gauge executions 1 1 link=none"

/* ---- the way up */

START_TEST(an_execution_is_followed_by_exec_id_and_parent_id_to_its_op)
{
	static const char text[] = FILE_OF(OP("aten::mul", 1000, 900, ",\"id\":4") "," CALL(
		"nrta_execute_schedule", 1100, 100, ",\"id\":11,\"parent_id\":4,\"exec_id\":\"5\",\"thread_id\":9,\"nc_idx\":0") "," RUN(1500, 300,
		",\"id\":21,\"exec_id\":5,\"model_id\":\"10001\""));

	help_neuron_has(neuron_system_read, text, "op cpu_op aten::mul calls=1 device=300/300 cpu=900/900 orphan=0/0 300..300");
	help_neuron_has(neuron_system_read, text, "op kernel model 10001 calls=1 device=300/300 cpu=0/0 orphan=0/0 300..300");
	help_neuron_has(neuron_system_read, text,
		"op runtime nrta_execute_schedule calls=1 device=0/0 cpu=100/100 orphan=0/0 100..100");
	help_neuron_has(neuron_system_read, text, "gauge executions 1 1 link=exec_id");
	help_neuron_has(neuron_system_read, text, "gauge launch_delay 496 ns percentile=p50");
	help_neuron_has(neuron_system_read, text, "gauge launch_delay_calls 1 calls");
	help_neuron_has(neuron_system_read, text, "window dur_ns=900 steps=1 executions launches=1 events=3 device");
}
END_TEST

START_TEST(a_chain_of_parents_is_climbed)
{
	static const char text[] = FILE_OF(OP("aten::mm", 1000, 100, ",\"id\":4") "," CALL("outer_call", 5000, 10,
		",\"id\":10,\"parent_id\":4") "," CALL("nrt_model_submit", 5000, 5, ",\"id\":11,\"parent_id\":10,\"exec_id\":5") "," RUN(6000, 7,
		",\"exec_id\":5"));

	help_neuron_has(neuron_system_read, text, "op cpu_op aten::mm calls=1 device=7/7 cpu=100/100 orphan=0/0 7..7");
}
END_TEST

START_TEST(a_flow_goes_before_everything_else)
{
	static const char text[] = FILE_OF(OP("wrong", 1000, 900, ",\"id\":4") "," OP("right", 3000, 100,
		",\"id\":5,\"flow_id\":[\"a\",\"b\"]") "," CALL("nrta_execute_schedule", 1100, 100,
		",\"id\":11,\"parent_id\":4,\"exec_id\":5,\"flow_id\":[\"b\",\"c\"]") "," RUN(4000, 300, ",\"exec_id\":5,\"flow_id\":[\"c\"]"));

	help_neuron_has(neuron_system_read, text, "op cpu_op right calls=1 device=300/300 cpu=100/100 orphan=0/0 300..300");
	help_neuron_has(neuron_system_read, text, "gauge executions 1 1 link=flow");
}
END_TEST

START_TEST(a_call_without_parent_belongs_to_the_innermost_op_of_its_thread)
{
	static const char text[] = FILE_OF(OP("outer", 1000, 900, "") "," OP("inner", 1050, 300, "") "," CALL("nrta_execute_schedule", 1100,
		100, ",\"exec_id\":5,\"thread_id\":1") "," RUN(4000, 300, ",\"exec_id\":5"));

	help_neuron_has(neuron_system_read, text, "op cpu_op inner calls=1 device=300/300 cpu=300/200 orphan=0/0 300..300");
	help_neuron_has(neuron_system_read, text, "op cpu_op outer calls=1 device=300/0 cpu=900/600 orphan=0/0 0..0");
	help_neuron_has(neuron_system_read, text, "gauge executions 1 1 link=thread");
}
END_TEST

START_TEST(the_stream_lane_leads_to_the_op_and_is_a_runtime_row)
{
	static const char text[] = FILE_OF(OP("aten::mul", 1000, 900, ",\"id\":4") "," EVENT("launch", 1010, 50,
		"\"trace_event_source\":\"framework\",\"framework_stream_id\":\"0\",\"id\":5,\"parent_id\":4,\"flow_id\":[\"x\"]") "," RUN(4000, 300,
		",\"exec_id\":5,\"flow_id\":[\"x\"]"));

	help_neuron_has(neuron_system_read, text, "op cpu_op aten::mul calls=1 device=300/300 cpu=900/900 orphan=0/0 300..300");
	help_neuron_has(neuron_system_read, text, "op runtime launch calls=1 device=0/0 cpu=50/50 orphan=0/0 0..0");
}
END_TEST

static const struct {
	const char *what, *text;
} orphans[] = {
	{ "no call has its exec_id", FILE_OF(OP("op", 1000, 900, ",\"id\":4") "," CALL("nrta_execute_schedule", 1100, 100,
					    ",\"parent_id\":4,\"exec_id\":6") "," RUN(1500, 300, ",\"exec_id\":5,\"model_name\":\"m\"")) },
	{ "its call is of another process",
		FILE_OF(OP("op", 1000, 900, ",\"id\":4") ",{\"name\":\"nrta_execute_schedule\",\"timestamp\":1100,\"duration\":100,"
			"\"process_id\":\"8\",\"parent_id\":4,\"exec_id\":5}," RUN(1500, 300, ",\"exec_id\":5,\"model_name\":\"m\"")) },
	{ "its call is of another model", FILE_OF(OP("op", 1000, 900, ",\"id\":4") "," CALL("nrta_execute_schedule", 1100, 100,
						  ",\"parent_id\":4,\"exec_id\":5,\"model_name\":\"n\"") "," RUN(1500, 300,
						  ",\"exec_id\":5,\"model_name\":\"m\"")) },
	{ "its call has no parent and another thread", FILE_OF(OP("op", 1000, 900, ",\"id\":4") "," CALL("nrta_execute_schedule", 1100, 100,
							       ",\"parent_id\":0,\"exec_id\":5,\"thread_id\":2") "," RUN(1500, 300,
							       ",\"exec_id\":5,\"model_name\":\"m\"")) },
	{ "parents go in a circle", FILE_OF(OP("op", 1000, 900, ",\"id\":4") "," CALL("a", 1100, 100,
					   ",\"id\":1,\"parent_id\":2,\"exec_id\":5") "," CALL("b", 1100, 100, ",\"id\":2,\"parent_id\":1") "," RUN(1500,
					   300, ",\"exec_id\":5,\"model_name\":\"m\"")) },
};

START_TEST(an_execution_that_finds_no_op_is_a_row_of_its_model)
{
	help_neuron_has(neuron_system_read, orphans[_i].text,
		"op kernel m calls=1 device=300/300 cpu=0/0 orphan=1/300 300..300");
	help_neuron_has(neuron_system_read, orphans[_i].text, UNLINKED);
	help_neuron_has(neuron_system_read, orphans[_i].text, "op cpu_op op calls=1 device=0/0 cpu=900/900 orphan=0/0 0..0");
}
END_TEST

START_TEST(a_model_keeps_its_name_when_it_is_compiled_again)
{
	help_neuron_has(neuron_system_read,
		FILE_OF(RUN(10, 5, ",\"model_name\":\"/c/neuronxcc-2.1/compile_cache/0123456789abcdef0123456789abcdef/graph.neff\"") "," RUN(20, 5,
			",\"model_name\":\"/c/neuronxcc-2.2/compile_cache/fedcba9876543210fedcba9876543210/graph.neff\"")),
		"op kernel */graph.neff calls=2 device=10/10 cpu=0/0 orphan=2/10 5..5");
	help_neuron_has(neuron_system_read, FILE_OF(RUN(10, 5, ",\"model_name\":\"/m.neff\"")),
		"op kernel /m.neff calls=1 device=5/5 cpu=0/0 orphan=1/5 5..5");
}
END_TEST

/* Paths as neuronx-distributed-inference makes them: prefill and decode are in folders of the same name. */
START_TEST(models_of_one_file_name_stay_apart)
{
#define NXD(what, hash) ",\"model_name\":\"tmp/nxd_model/" what "/_tp0_bk0/model.MODULE_" hash ".neff\""
	static const char text[] = FILE_OF(RUN(10, 5, NXD("context_encoding_model", "6d1668c2294e2409dd72+ad9e832d")) "," RUN(20, 6,
		NXD("token_generation_model", "56f0d314fda2b6e1e336+617f6939")) "," RUN(30, 5,
		NXD("context_encoding_model", "0d1668c2294e2409dd72+bd9e832d")));

	help_neuron_has(neuron_system_read, text,
		"op kernel context_encoding_model/_tp0_bk0/model.MODULE_*.neff calls=2 device=10/10 cpu=0/0 orphan=2/10 5..5");
	help_neuron_has(neuron_system_read, text,
		"op kernel token_generation_model/_tp0_bk0/model.MODULE_*.neff calls=1 device=6/6 cpu=0/0 orphan=1/6 6..6");
	help_neuron_has(neuron_system_read, FILE_OF(RUN(10, 5, ",\"model_name\":\"/w/decode/1/2/graph.neff\"")),
		"op kernel decode/1/2/graph.neff calls=1 device=5/5 cpu=0/0 orphan=1/5 5..5");
	help_neuron_has(neuron_system_read, FILE_OF(RUN(10, 5, ",\"model_name\":\"_tp0_bk0/graph.neff\"")),
		"op kernel _tp0_bk0/graph.neff calls=1 device=5/5 cpu=0/0 orphan=1/5 5..5");
}
END_TEST

/* Of any size, and of any kind: an id is told from another one by its text. */
static const char *const ids[][2] = {
	{ "18446744073709551615", "18446744073709551614" },
	{ "\"18446744073709551615\"", "\"18446744073709551614\"" },
	{ "9223372036854775808", "9223372036854775809" },
	{ "\"1b4e28ba-2fa1\"", "\"1b4e28ba-2fa2\"" },
	{ "4", "5" },
};

START_TEST(ids_below_zero_are_none)
{
	static const char text[] = FILE_OF(OP("a", 1000, 900, ",\"id\":-1") "," CALL("nrta_execute_schedule", 1100, 100,
		",\"parent_id\":-1,\"exec_id\":\"-1\"") "," RUN(4000, 30, ",\"exec_id\":-1,\"parent_id\":\"-1\""));

	help_neuron_has(neuron_system_read, text, UNLINKED);
}
END_TEST

START_TEST(ids_of_any_kind_link)
{
	struct buf text;

	buf_init(&text, 1 << 20);
	buf_fmt(&text, FILE_OF(OP("a", 1000, 900, ",\"id\":%s") "," OP("b", 2000, 900, ",\"id\":%s") "," CALL("nrta_execute_schedule", 1100,
		100, ",\"parent_id\":%s,\"exec_id\":%s") "," CALL("nrta_execute_schedule", 2100, 100, ",\"parent_id\":%s,\"exec_id\":%s")
		"," RUN(4000, 30, ",\"exec_id\":%s") "," RUN(5000, 70, ",\"exec_id\":%s")),
		ids[_i][0], ids[_i][1], ids[_i][0], ids[_i][0], ids[_i][1], ids[_i][1], ids[_i][0], ids[_i][1]);
	help_neuron_has(neuron_system_read, text.p, "op cpu_op a calls=1 device=30/30 cpu=900/900 orphan=0/0 30..30");
	help_neuron_has(neuron_system_read, text.p, "op cpu_op b calls=1 device=70/70 cpu=900/900 orphan=0/0 70..70");
	buf_fini(&text);
}
END_TEST

/* As often as an id is used again, the call just before counts. */
START_TEST(an_id_that_is_used_a_thousand_times_leads_to_the_nearest_call)
{
	struct buf text;

	buf_init(&text, 4 << 20);
	buf_text(&text, "{\"trace_events\":[");
	for (int i = 0; i < 1000; i++) {
		int at = 1000 * (i * 7 % 1000); /* in no order */

		buf_fmt(&text, "%s{\"name\":\"%s\",\"timestamp\":%d,\"duration\":90,\"type\":99999,\"thread_id\":1,\"id\":%d,\"flow_id\":[\"f\"]},",
			i > 0 ? "," : "", at < 500000 ? "early" : "late", at, i + 1);
		buf_fmt(&text, "{\"name\":\"nrta_execute_schedule\",\"timestamp\":%d,\"duration\":9,\"parent_id\":%d,\"exec_id\":3},", at + 10, i + 1);
		buf_fmt(&text, "{\"name\":\"nc_exec_running\",\"timestamp\":%d,\"duration\":%d,%s}", at + 200, 10 + i % 2,
			i % 2 == 0 ? "\"exec_id\":3" : "\"flow_id\":[\"f\"]");
	}
	buf_text(&text, "]}");
	help_neuron_has(neuron_system_read, text.p, "op cpu_op early calls=500 device=5250/5250 cpu=45000/45000 orphan=0/0 10..11");
	help_neuron_has(neuron_system_read, text.p, "op cpu_op late calls=500 device=5250/5250 cpu=45000/45000 orphan=0/0 10..11");
	buf_fini(&text);
}
END_TEST

/* Processes of two hosts may have one number. */
START_TEST(hosts_in_one_file_are_told_apart)
{
	static const char text[] = FILE_OF(OP("a", 1000, 100, ",\"id\":4,\"instance_id\":\"i-1\"") "," OP("b", 1010, 50,
		",\"id\":4,\"instance_id\":\"i-2\"") "," CALL("nrta_execute_schedule", 1020, 10, ",\"parent_id\":4,\"exec_id\":1,\"instance_id\":\"i-1\"")
		"," CALL("nrta_execute_schedule", 1020, 10, ",\"parent_id\":4,\"exec_id\":1,\"instance_id\":\"i-2\"") "," RUN(2000, 30,
		",\"exec_id\":1,\"model_id\":1,\"instance_id\":\"i-1\"") "," RUN(2010, 70, ",\"exec_id\":1,\"model_id\":2,\"instance_id\":\"i-2\""));

	help_neuron_has(neuron_system_read, text, "op cpu_op a calls=1 device=30/30 cpu=100/100 orphan=0/0 30..30");
	help_neuron_has(neuron_system_read, text, "op cpu_op b calls=1 device=70/70 cpu=50/50 orphan=0/0 70..70");
	help_neuron_has_not(neuron_system_read, text, "op gap");
}
END_TEST

START_TEST(exec_ids_are_told_apart_by_core)
{
	static const char text[] = FILE_OF(OP("a", 1000, 100, ",\"id\":4") "," OP("b", 2000, 100, ",\"id\":5") "," CALL("nrta_execute_schedule",
		1010, 10, ",\"parent_id\":4,\"exec_id\":0,\"lnc_idx\":\"0\"") "," CALL("nrta_execute_schedule", 2010, 10,
		",\"parent_id\":5,\"exec_id\":0,\"lnc_idx\":\"1\"") "," EVENT("nc_exec_running", 3000, 30,
		"\"exec_id\":0,\"lnc_idx\":\"0\"") "," EVENT("nc_exec_running", 3000, 70, "\"exec_id\":0,\"lnc_idx\":\"1\""));

	help_neuron_has(neuron_system_read, text, "op cpu_op a calls=1 device=30/30 cpu=100/100 orphan=0/0 30..30");
	help_neuron_has(neuron_system_read, text, "op cpu_op b calls=1 device=70/70 cpu=100/100 orphan=0/0 70..70");
	help_neuron_has(neuron_system_read, text, "gauge device_busy 30 ns core=0");
	help_neuron_has(neuron_system_read, text, "gauge device_busy 70 ns core=1");
}
END_TEST

/* ---- executions */

START_TEST(physical_cores_of_one_execution_are_one_union)
{
	static const char text[] = FILE_OF(RUN(100, 50, ",\"exec_id\":1,\"device_core_idx\":4,\"model_name\":\"m\"") "," RUN(120, 60,
		",\"exec_id\":1,\"device_core_idx\":5,\"model_name\":\"m\"") "," RUN(300, 10,
		",\"exec_id\":1,\"device_core_idx\":4,\"model_name\":\"m\""));

	help_neuron_has(neuron_system_read, text, "op kernel m calls=2 device=90/90 cpu=0/0 orphan=2/90 10..80");
	help_neuron_has(neuron_system_read, text, "op gap device calls=1 device=120/0 cpu=0/0 orphan=0/0 120..120");
}
END_TEST

START_TEST(gaps_lie_between_executions_of_one_core)
{
	static const char text[] = FILE_OF(RUN(100, 50, "") "," RUN(160, 40, "") "," RUN(170, 10, "") "," RUN(1200, 5, "") "," EVENT(
		"nc_exec_running", 155, 1, "\"nc_idx\":1"));

	help_neuron_has(neuron_system_read, text, "op gap device calls=2 device=1010/0 cpu=0/0 orphan=0/0 10..1000");
	help_neuron_has(neuron_system_read, text, "gauge device_busy 95 ns core=0");
}
END_TEST

START_TEST(marked_steps_bound_launches_and_gaps)
{
	static const char text[] = FILE_OF(OP("ProfilerStep#7", 1000, 500, "") "," OP("ProfilerStep#8", 1500, 500, "") "," RUN(100, 10, "") "," RUN(
		1100, 10, "") "," RUN(1200, 10, "") "," RUN(2500, 10, ""));

	help_neuron_has(neuron_system_read, text, "window dur_ns=2410 steps=2 marker launches=2 events=6 device");
	help_neuron_has(neuron_system_read, text, "op step ProfilerStep* calls=2 device=0/0 cpu=1000/1000 orphan=0/0 500..500");
	help_neuron_has(neuron_system_read, text, "op gap device calls=1 device=90/0 cpu=0/0 orphan=0/0 90..90");
}
END_TEST

START_TEST(a_model_that_takes_nearly_all_the_time_is_the_step)
{
	help_neuron_has(neuron_system_read,
		FILE_OF(RUN(0, 80, ",\"model_id\":1") "," RUN(100, 80, ",\"model_id\":1") "," RUN(200, 40, ",\"model_id\":2")),
		"window dur_ns=240 steps=2 executions launches=3 events=3 device");
	help_neuron_has(neuron_system_read,
		FILE_OF(RUN(0, 80, ",\"model_id\":1") "," RUN(100, 80, ",\"model_id\":1") "," RUN(200, 45, ",\"model_id\":2")),
		"window dur_ns=245 steps=0 none launches=3 events=3 device");
}
END_TEST

/* ---- the rest */

START_TEST(transfers_count_once_with_their_bytes)
{
	static const char text[] = FILE_OF(CALL("nrt_tensor_write", 100, 50, ",\"thread_id\":1,\"size\":\"4096\"") "," CALL("dmem_buf_copyin",
		110, 20, ",\"thread_id\":1,\"size\":4096") "," CALL("dmem_buf_copyout", 200, 5, ",\"thread_id\":1"));

	help_neuron_has(neuron_system_read, text, "op memcpy nrt_tensor_write calls=1 device=0/0 cpu=50/30 orphan=0/0 30..30");
	help_neuron_has(neuron_system_read, text, "op runtime dmem_buf_copyin calls=1 device=0/0 cpu=20/20 orphan=0/0 20..20");
	help_neuron_has(neuron_system_read, text, "op memcpy dmem_buf_copyout calls=1 device=0/0 cpu=5/5 orphan=0/0 5..5");
	help_neuron_has(neuron_system_read, text, "gauge transfers 1 1 direction=host_to_device");
	help_neuron_has(neuron_system_read, text, "gauge transfer_bytes 4096 bytes direction=host_to_device");
	help_neuron_has(neuron_system_read, text, "gauge transfers 1 1 direction=device_to_host");
}
END_TEST

START_TEST(collectives_and_switches_have_no_self_time)
{
	static const char text[] = FILE_OF(RUN(100, 50, "") "," EVENT("cc_running", 110, 20, "\"nc_idx\":0") "," EVENT("nc_model_switch", 160,
		5, "\"nc_idx\":0") "," EVENT("hw_notify", 170, 0, "\"nc_idx\":0"));

	help_neuron_has(neuron_system_read, text, "op collective cc_running calls=1 device=20/0 cpu=0/0 orphan=0/0 20..20");
	help_neuron_has(neuron_system_read, text, "op overhead nc_model_switch calls=1 device=5/0 cpu=0/0 orphan=0/0 5..5");
	help_neuron_has(neuron_system_read, text, "gauge events 1 1 type=hw_notify");
}
END_TEST

START_TEST(both_spellings_and_lists_by_lane_are_read)
{
	static const char by_lane[] =
		"{\"trace_event\":{\"i-0b1e/PID:7/framework/TID:0\":[{\"name\":\"op\",\"timestamp\":10,\"duration\":100,\"id\":1}],"
		"\"i-0b1e/PID:7/neuron_rt/NC:0\":[{\"name\":\"my_call\",\"timestamp\":20,\"duration\":5,\"parent_id\":1,\"exec_id\":3}],"
		"\"other\":5,\"i-0b1e/PID:7/neuron_hw/NC0:4\":[{\"name\":\"nc_exec_running\",\"timestamp\":30,\"duration\":9,\"exec_id\":3}]}}";

	help_neuron_has(neuron_system_read, by_lane, "op cpu_op op calls=1 device=9/9 cpu=100/100 orphan=0/0 9..9");
	help_neuron_has(neuron_system_read, by_lane, "op runtime my_call calls=1 device=0/0 cpu=5/5 orphan=0/0 5..5");
}
END_TEST

/* As the documents print them: a label, and under it the event itself. */
#define TWO_LABELLED \
	"\"Neuron_Runtime_API_Event\":{\"duration\":27,\"group\":\"nrt-nc-000\",\"id\":1,\"name\":\"nrt_tensor_write\",\"timestamp\":100," \
	"\"size\":\"4\",\"thread_id\":3,\"process_id\":\"7\",\"type\":11},\"Framework_Event\":{\"duration\":30,\"group\":\"framework-9\"," \
	"\"name\":\"PjitFunction(f)\",\"process_id\":\"7\",\"thread_id\":9,\"timestamp\":400,\"type\":99999}"
#define SAMPLE "{\"cpu_id\":\"4\",\"util\":50}"

static const char *const labelled[] = {
	"{\"trace_events\":{" TWO_LABELLED "},\"cpu_util\":{\"sample_1\":" SAMPLE "}}",
	"{\"trace_events\":[{" TWO_LABELLED "}],\"cpu_util\":[{\"sample_1\":" SAMPLE "}]}",
	"{\"trace_event\":[{\"extra\":{\"size\":\"9\"}," TWO_LABELLED "}],\"cpu_util\":[" SAMPLE "]}",
	"{\"cpu_util\":[" SAMPLE "]," TWO_LABELLED ",\"metadata\":{\"name\":\"x\"}}",
	"{" TWO_LABELLED ",\"cpu_util\":[" SAMPLE "],\"metadata\":[{\"name\":\"x\"}]}",
};

START_TEST(events_under_labels_are_read)
{
	const char *text = labelled[_i];

	help_neuron_has(neuron_system_read, text, "op memcpy nrt_tensor_write calls=1 device=0/0 cpu=27/27 orphan=0/0 27..27");
	help_neuron_has(neuron_system_read, text, "op cpu_op PjitFunction(f) calls=1 device=0/0 cpu=30/30 orphan=0/0 30..30");
	help_neuron_has(neuron_system_read, text, "gauge transfer_bytes 4 bytes direction=host_to_device");
	help_neuron_has(neuron_system_read, text, "gauge host_cpu_ratio 0.5 ratio");
	help_neuron_has(neuron_system_read, text, "window dur_ns=330 steps=0 none launches=0 events=2");
	help_neuron_has_not(neuron_system_read, text, "skip ");
	help_neuron_seams(neuron_system_read, str_of(text));
	help_neuron_cuts(neuron_system_read, str_of(text));
}
END_TEST

START_TEST(lists_by_lane_may_be_all_there_is)
{
	static const char text[] = "{\"i-0b1/PID:7/framework/TID:0\":[{\"name\":\"aten::mul\",\"start_ts\":100,\"duration_ns\":90,\"flow_id\":[\"a\"]}],"
		"\"i-0b1/PID:7/neuron_hw/NC0:4\":[{\"name\":\"nc_exec_running\",\"start_ts\":150,\"duration_ns\":33,\"flow_id\":[\"a\"]}]}";

	help_neuron_has(neuron_system_read, text, "op cpu_op aten::mul calls=1 device=33/33 cpu=90/90 orphan=0/0 33..33");
}
END_TEST

/* The two physical cores of a logical one have lanes of their own; another logical core is another device. */
START_TEST(a_lane_tells_its_cores)
{
#define LANE_RUN(ts, dur) "{\"name\":\"nc_exec_running\",\"timestamp\":" #ts ",\"duration\":" #dur ",\"exec_id\":1,\"model_name\":\"m\"}"
	static const char text[] = "{\"trace_events\":{\"i-1/PID:7/neuron_hw/NC0:4\":[" LANE_RUN(100, 50) "],\"i-1/PID:7/neuron_hw/NC0:5\":["
		LANE_RUN(120, 60) "],\"i-1/PID:7/neuron_hw/NC1:6\":[" LANE_RUN(100, 10) "]}}";

	help_neuron_has(neuron_system_read, text, "op kernel m calls=2 device=90/90 cpu=0/0 orphan=2/90 10..80");
	help_neuron_has(neuron_system_read, text, "gauge device_busy 80 ns core=0");
	help_neuron_has(neuron_system_read, text, "gauge device_busy 10 ns core=1");
}
END_TEST

START_TEST(lanes_that_name_no_host_are_of_one)
{
	static const char text[] = "{\"trace_events\":{\"framework\":[{\"name\":\"aten::mul\",\"timestamp\":100,\"duration\":90,\"id\":4,\"process_id\":\"7\"}],"
		"\"neuron_rt\":[{\"name\":\"nrta_execute_schedule\",\"timestamp\":110,\"duration\":9,\"parent_id\":4,\"exec_id\":5,\"process_id\":\"7\"}],"
		"\"neuron_hw\":[{\"name\":\"nc_exec_running\",\"timestamp\":150,\"duration\":33,\"exec_id\":5,\"process_id\":\"7\"}]}}";

	help_neuron_has(neuron_system_read, text, "op cpu_op aten::mul calls=1 device=33/33 cpu=90/90 orphan=0/0 33..33");
}
END_TEST

START_TEST(an_end_is_as_good_as_a_duration)
{
	static const char text[] = "{\"trace_events\":[{\"name\":\"nrt_execute\",\"start_ts\":\" 100 \",\"end_ts\":\"140\"},"
		"{\"name\":\"nrt_load\",\"start_ts\":200,\"end_ts\":300,\"duration_ns\":50},{\"name\":\"x\",\"start_ts\":200,\"end_ts\":190}]}";

	help_neuron_has(neuron_system_read, text, "op runtime nrt_execute calls=1 device=0/0 cpu=40/40 orphan=0/0 40..40");
	help_neuron_has(neuron_system_read, text, "op runtime nrt_load calls=1 device=0/0 cpu=50/50 orphan=0/0 50..50");
	help_neuron_has(neuron_system_read, text, "skip bad_value 1 @139");
}
END_TEST

START_TEST(warnings_may_be_texts)
{
	static const char text[] = "{\"warnings\":[\"incomplete trace\",{\"message\":\"m\",\"category\":\"c\"},\"incomplete trace\"]}";

	help_neuron_has(neuron_system_read, text, "gauge profile_warnings 2 1 category= message=incomplete trace");
	help_neuron_has(neuron_system_read, text, "gauge profile_warnings 1 1 category=c message=m");
	help_neuron_has_not(neuron_system_read, text, "skip ");
}
END_TEST

START_TEST(tables_of_newer_versions_are_read)
{
	static const char text[] =
		"{\"trace_events\":[{\"name\":\"op\",\"start_ts\":10,\"end_ts\":110,\"duration_ns\":100,\"id\":1,\"trace_event_source\":\"framework\","
		"\"thread_id\":3},{\"name\":\"nrta_execute_schedule\",\"start_ts\":20,\"duration_ns\":5,\"trace_event_source\":\"neuron_rt\","
		"\"extra_attributes_json\":\"{\\\"exec_id\\\": 3, \\\"parent_id\\\": \\\"1\\\"}\"},{\"name\":\"nc_exec_running\",\"start_ts\":30,"
		"\"duration_ns\":9,\"trace_event_source\":\"neuron_hw\",\"pcore_idx\":4,\"extra_attributes_json\":\"{\\\"exec_id\\\":3,"
		"\\\"model_name\\\":\\\"m\\\"}\"}]}";

	help_neuron_has(neuron_system_read, text, "op cpu_op op calls=1 device=9/9 cpu=100/100 orphan=0/0 9..9");
	help_neuron_has(neuron_system_read, text, "op kernel m calls=1 device=9/9 cpu=0/0 orphan=0/0 9..9");
}
END_TEST

START_TEST(arguments_inside_an_event_and_warnings_are_read)
{
	static const char text[] =
		"{\"warnings\":[{\"message\":\"12 events dropped\"}],\"trace_event\":[" OP("op", 10, 100, ",\"id\":1") ","
		"{\"name\":\"kbl_exec_pre\",\"timestamp\":20,\"duration\":5,\"process_id\":\"7\",\"parent_id\":1,\"args\":{\"exec_id\":3,"
		"\"args\":{\"exec_id\":4}}}," RUN(30, 9, ",\"exec_id\":3") "]}";

	help_neuron_has(neuron_system_read, text, "op cpu_op op calls=1 device=9/9 cpu=100/100 orphan=0/0 9..9");
	help_neuron_has(neuron_system_read, text, "gauge profile_warnings 1 1 category= message=12 events dropped");
}
END_TEST

START_TEST(host_series_become_gauges)
{
	static const char text[] =
		"{\"mem_usage\":[{\"usage\":500,\"percent_usage\":9.5},{\"usage\":400,\"percent_usage\":8}],"
		"\"cpu_util\":[{\"cpu_id\":\"1\",\"util\":2},{\"cpu_id\":\"2\",\"util\":\"4\"},{\"util\":400}],"
		"\"device_mem_usage\":[{\"hbm_idx\":1,\"total_bytes\":70,\"dram_spill_bytes\":-5}]}";

	help_neuron_has(neuron_system_read, text, "gauge host_memory_used 500 bytes");
	help_neuron_has(neuron_system_read, text, "gauge host_memory_used_ratio 0.095 ratio");
	help_neuron_has(neuron_system_read, text, "gauge host_cpu_ratio 0.03 ratio");
	help_neuron_has(neuron_system_read, text, "gauge device_memory 70 bytes usage_type=total hbm=1 nd=");
	help_neuron_has(neuron_system_read, text, "skip bad_value 2 @143");
}
END_TEST

START_TEST(impossible_times_are_left_out)
{
	static const char text[] = FILE_OF(CALL("a", 1729888371056597613, 5, "") "," CALL("b", 17, 5, "") "," CALL("c", 1729888371056597700,
		1786270865722793417, "") "," CALL("d", -5, 5, "") "," CALL("e", "x", 5, "") ",{\"name\":\"f\",\"duration\":5}," CALL("", 1, 5, ""));

	help_neuron_has(neuron_system_read, text, "window dur_ns=5 steps=0 none launches=0 events=1 start_ns=1729888371056597613");
	help_neuron_has(neuron_system_read, text, "skip bad_value 3 @192");
	help_neuron_has(neuron_system_read, text, "skip bad_number 1 @385");
	help_neuron_has(neuron_system_read, text, "skip no_time 1 @465");
	help_neuron_has(neuron_system_read, text, "skip no_name 1 @491");
}
END_TEST

START_TEST(a_unit_in_the_event_is_kept_to)
{
	help_neuron_has(neuron_system_read, FILE_OF(CALL("a", 5.5, 2, ",\"timestamp_unit\":\"us\"")),
		"op runtime a calls=1 device=0/0 cpu=2000/2000 orphan=0/0 2000..2000");
}
END_TEST

START_TEST(what_is_no_system_profile_is_an_error)
{
	help_neuron_has(neuron_system_read, "{\"trace_events\":[]}", "error no system profile: no events in it");
	help_neuron_has(neuron_system_read, "[1]",
		"error no system profile: it must be a JSON object with a list \"trace_events\"");
}
END_TEST

static const char seams[] = FILE_OF("\n" OP("aten::mul \\u00e9", 1000, 900, ",\"id\":4,\"flow_id\":[\"a\",\"b\\\"c\"]") ",\n" CALL(
	"nrta_execute_schedule", 1100, 100, ",\"id\":11,\"parent_id\":4,\"exec_id\":\"5\",\"thread_id\":9") ",\n" RUN(1500, 300,
	",\"exec_id\":5,\"model_id\":\"10001\",\"tensor\":{\"x\":[1,2]}") "\n");

START_TEST(an_event_split_at_any_byte_is_the_same_event)
{
	help_neuron_seams(neuron_system_read, str_of(seams));
}
END_TEST

START_TEST(a_profile_cut_anywhere_gives_what_was_readable)
{
	help_neuron_cuts(neuron_system_read, str_of(seams));
}
END_TEST

START_TEST(without_memory_it_fails_cleanly)
{
	help_neuron_memory(neuron_system_read, str_of(seams));
}
END_TEST

Suite *suite_neuron_system(void)
{
	Suite *s = suite_create("trace/neuron_system");
	TCase *t = tcase_create("all");

	tcase_add_test(t, an_execution_is_followed_by_exec_id_and_parent_id_to_its_op);
	tcase_add_test(t, a_chain_of_parents_is_climbed);
	tcase_add_test(t, a_flow_goes_before_everything_else);
	tcase_add_test(t, a_call_without_parent_belongs_to_the_innermost_op_of_its_thread);
	tcase_add_test(t, the_stream_lane_leads_to_the_op_and_is_a_runtime_row);
	tcase_add_loop_test(t, an_execution_that_finds_no_op_is_a_row_of_its_model, 0, COUNT(orphans));
	tcase_add_test(t, a_model_keeps_its_name_when_it_is_compiled_again);
	tcase_add_test(t, models_of_one_file_name_stay_apart);
	tcase_add_test(t, ids_below_zero_are_none);
	tcase_add_loop_test(t, ids_of_any_kind_link, 0, (int)COUNT(ids));
	tcase_add_test(t, an_id_that_is_used_a_thousand_times_leads_to_the_nearest_call);
	tcase_add_test(t, hosts_in_one_file_are_told_apart);
	tcase_add_test(t, exec_ids_are_told_apart_by_core);
	tcase_add_test(t, physical_cores_of_one_execution_are_one_union);
	tcase_add_test(t, gaps_lie_between_executions_of_one_core);
	tcase_add_test(t, marked_steps_bound_launches_and_gaps);
	tcase_add_test(t, a_model_that_takes_nearly_all_the_time_is_the_step);
	tcase_add_test(t, transfers_count_once_with_their_bytes);
	tcase_add_test(t, collectives_and_switches_have_no_self_time);
	tcase_add_test(t, both_spellings_and_lists_by_lane_are_read);
	tcase_add_loop_test(t, events_under_labels_are_read, 0, (int)COUNT(labelled));
	tcase_add_test(t, lists_by_lane_may_be_all_there_is);
	tcase_add_test(t, a_lane_tells_its_cores);
	tcase_add_test(t, lanes_that_name_no_host_are_of_one);
	tcase_add_test(t, an_end_is_as_good_as_a_duration);
	tcase_add_test(t, warnings_may_be_texts);
	tcase_add_test(t, tables_of_newer_versions_are_read);
	tcase_add_test(t, arguments_inside_an_event_and_warnings_are_read);
	tcase_add_test(t, host_series_become_gauges);
	tcase_add_test(t, impossible_times_are_left_out);
	tcase_add_test(t, a_unit_in_the_event_is_kept_to);
	tcase_add_test(t, what_is_no_system_profile_is_an_error);
	tcase_add_test(t, an_event_split_at_any_byte_is_the_same_event);
	tcase_add_test(t, a_profile_cut_anywhere_gives_what_was_readable);
	tcase_add_test(t, without_memory_it_fails_cleanly);
	suite_add_tcase(s, t);
	return s;
}
