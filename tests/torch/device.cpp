// A made-up accelerator for a PyTorch without one: every operator "launches" one kernel, which runs for as many nanoseconds as there were
// operators before it, and a thousand. It registers itself as the profiler of PrivateUse1, in the documented way, when it is loaded.
#include <IActivityProfiler.h>
#include <libkineto.h>
#include <output_base.h>
#include <sys/syscall.h>
#include <torch/csrc/profiler/standalone/privateuse1_profiler.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace {

using libkineto::ActivityType;

constexpr int64_t call_ns = 200, kernel_ns = 1000;
constexpr int32_t first_id = 1 << 24, queue = 1;
const std::set<ActivityType> activities = { ActivityType::PRIVATEUSE1_RUNTIME, ActivityType::CONCURRENT_KERNEL };

int64_t now_ns()
{
	return std::chrono::nanoseconds(std::chrono::system_clock::now().time_since_epoch()).count();
}

struct launch {
	int32_t op; // what the operator is known by to libkineto
	int64_t start_ns;
	int32_t thread;
};

class session : public libkineto::IActivityProfilerSession {
public:
	void start() override
	{
		const std::lock_guard<std::mutex> held(lock);
		running = true;
	}

	void stop() override
	{
		const std::lock_guard<std::mutex> held(lock);
		running = false;
	}

	void pushCorrelationId(uint64_t id) override
	{
		const std::lock_guard<std::mutex> held(lock);
		if (running)
			launches.push_back({ static_cast<int32_t>(id), now_ns(), static_cast<int32_t>(syscall(SYS_gettid)) });
	}

	void popCorrelationId() override {}

	void processTrace(libkineto::ActivityLogger &) override {}

	void processTrace(libkineto::ActivityLogger &out, libkineto::getLinkedActivityCallback find, int64_t from,
		int64_t to) override
	{
		buffer = std::make_unique<libkineto::CpuTraceBuffer>();
		buffer->span = libkineto::TraceSpan(from, to, "made-up device");
		int64_t free_ns = from;
		for (size_t i = 0; i < launches.size(); i++) {
			const launch &l = launches[i];
			const int64_t end_ns = std::max(free_ns, l.start_ns + call_ns) + kernel_ns + static_cast<int64_t>(i % 100);

			add(out, i, ActivityType::PRIVATEUSE1_RUNTIME, "made_up_execute", l.start_ns, l.start_ns + call_ns, getpid(),
				l.thread, find(l.op));
			add(out, i, ActivityType::CONCURRENT_KERNEL, "made_up_kernel", end_ns - kernel_ns, end_ns, 0, queue, find(l.op));
			free_ns = end_ns;
		}
	}

	std::vector<std::string> errors() override { return {}; }
	std::unique_ptr<libkineto::DeviceInfo> getDeviceInfo() override { return {}; }
	std::vector<libkineto::ResourceInfo> getResourceInfos() override { return {}; }
	std::unique_ptr<libkineto::CpuTraceBuffer> getTraceBuffer() override { return std::move(buffer); }

private:
	void add(libkineto::ActivityLogger &out, size_t i, ActivityType type, const char *name, int64_t start_ns, int64_t end_ns,
		int32_t device, int32_t resource, const libkineto::ITraceActivity *op)
	{
		const int32_t id = first_id + static_cast<int32_t>(i);

		buffer->emplace_activity(buffer->span, type, name);
		auto &a = *buffer->activities.back();
		a.startTime = start_ns;
		a.endTime = end_ns;
		a.id = id;
		a.device = device;
		a.resource = resource;
		a.linked = op;
		a.flow.id = id;
		a.flow.type = libkineto::kLinkAsyncCpuGpu;
		a.flow.start = type == ActivityType::PRIVATEUSE1_RUNTIME;
		a.addMetadata("correlation", id);
		a.log(out);
	}

	std::mutex lock;
	bool running = false;
	std::vector<launch> launches;
	std::unique_ptr<libkineto::CpuTraceBuffer> buffer;
};

class profiler : public libkineto::IActivityProfiler {
public:
	const std::string &name() const override { return own_name; }
	const std::set<ActivityType> &availableActivities() const override { return activities; }

	std::unique_ptr<libkineto::IActivityProfilerSession> configure(const std::set<ActivityType> &,
		const libkineto::Config &) override
	{
		return std::make_unique<session>();
	}

	std::unique_ptr<libkineto::IActivityProfilerSession> configure(int64_t, int64_t, const std::set<ActivityType> &,
		const libkineto::Config &) override
	{
		return std::make_unique<session>();
	}

private:
	const std::string own_name = "made-up device";
};

REGISTER_PRIVATEUSE1_PROFILER(profiler);

} // namespace
