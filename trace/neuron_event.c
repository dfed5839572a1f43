#include "trace/neuron_event.h"

static const struct neuron_name names[] = {
	{ "nc_exec_running", NEURON_HARDWARE, NEURON_EXECUTION, NEURON_RANK_OTHER },
	{ "cc_running", NEURON_HARDWARE, NEURON_COLLECTIVE, NEURON_RANK_OTHER },
	{ "cc_exec_barrier", NEURON_HARDWARE, NEURON_COLLECTIVE, NEURON_RANK_OTHER },
	{ "nc_model_switch", NEURON_HARDWARE, NEURON_DEVICE_WORK, NEURON_RANK_OTHER },
	{ "nrt_model_switch", NEURON_HARDWARE, NEURON_DEVICE_WORK, NEURON_RANK_OTHER },
	{ "numerical_err", NEURON_HARDWARE, NEURON_MARK, NEURON_RANK_OTHER },
	{ "timestamp_sync_point", NEURON_HARDWARE, NEURON_MARK, NEURON_RANK_OTHER },
	{ "hw_notify", NEURON_HARDWARE, NEURON_MARK, NEURON_RANK_OTHER },
	{ "nrta_execute_schedule", NEURON_RUNTIME, NEURON_CALL, 0 },
	{ "nrt_execute", NEURON_RUNTIME, NEURON_CALL, 1 },
	{ "nrt_model_submit", NEURON_RUNTIME, NEURON_CALL, 2 },
	{ "runtime_execute", NEURON_RUNTIME, NEURON_CALL, 3 },
	{ "kbl_exec_pre", NEURON_RUNTIME, NEURON_CALL, 4 },
	{ "nrt_tensor_write", NEURON_RUNTIME, NEURON_TO_DEVICE, NEURON_RANK_OTHER },
	{ "nrt_tensor_read", NEURON_RUNTIME, NEURON_FROM_DEVICE, NEURON_RANK_OTHER },
	{ "dmem_buf_copyin", NEURON_RUNTIME, NEURON_TO_DEVICE, NEURON_RANK_OTHER },
	{ "dmem_buf_copyout", NEURON_RUNTIME, NEURON_FROM_DEVICE, NEURON_RANK_OTHER },
};

static const char *const link_names[] = {
	[NEURON_UNLINKED] = "none",
	[NEURON_BY_FLOW] = "flow",
	[NEURON_BY_EXEC] = "exec_id",
	[NEURON_BY_THREAD] = "thread",
};
_Static_assert(COUNT(link_names) == NEURON_LINKS, "name every way of linking");

const char *neuron_link_name(enum neuron_link link)
{
	return link_names[link];
}

const struct neuron_name *neuron_name_find(struct str name)
{
	for (size_t i = 0; i < COUNT(names); i++)
		if (str_eq(name, str_of(names[i].name)))
			return &names[i];
	return NULL;
}

bool neuron_lane_parse(struct str word, enum neuron_lane *out)
{
	static const struct {
		const char *word;
		enum neuron_lane lane;
	} words[] = {
		{ "framework", NEURON_FRAMEWORK },
		{ "neuron_rt", NEURON_RUNTIME },
		{ "neuron_hw", NEURON_HARDWARE },
	};

	for (size_t i = 0; i < COUNT(words); i++)
		if (str_eq(word, str_of(words[i].word))) {
			*out = words[i].lane;
			return true;
		}
	return false;
}

bool neuron_lane_of_label(struct str label, enum neuron_lane *out)
{
	while (label.p != NULL)
		if (neuron_lane_parse(str_split(&label, '/'), out))
			return true;
	return false;
}
