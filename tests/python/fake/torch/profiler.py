import enum
import json

from . import autograd

log = []  # what was done: "start", "step", "stop", "export", "crash"
made = []  # every profile
fail = set()  # of these names: raise instead
text = None  # of exported traces, instead of a good one
steps = 0


class ProfilerAction(enum.Enum):
    NONE, WARMUP, RECORD, RECORD_AND_SAVE = range(4)


class ProfilerActivity(enum.Enum):
    CPU, CUDA, PrivateUse1 = range(3)


def supported_activities():
    return {ProfilerActivity.CPU}


def do(what):
    log.append(what)
    if what in fail:
        raise RuntimeError(f"{what} was told to fail")


class profile:
    def __init__(self, *, activities=None, schedule=None, on_trace_ready=None, experimental_config=None):
        do("make")
        made.append(self)
        self.activities, self.schedule, self.config = set(activities), schedule, experimental_config
        self.at, self.steps, self.session, self.exported = 0, 0, None, False

    def _recording(self):
        return self.schedule is None or self.schedule(self.at) is ProfilerAction.RECORD

    def start(self):
        do("start")
        autograd.profiler._prepare_profiler()
        if self._recording():
            autograd.profiler._enable_profiler()

    def step(self):
        do("step")
        self.steps += self._recording()
        self.at += 1
        if not autograd._profiler_enabled() and self._recording():
            autograd.profiler._enable_profiler()

    def stop(self):
        do("stop")
        self.steps += self._recording()
        if not autograd._profiler_enabled():
            autograd.profiler._enable_profiler()
        self.session = autograd.profiler._disable_profiler()

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *what):
        self.stop()

    def export_chrome_trace(self, path):
        if self.session is None or self.session.cancelled:
            log.append("crash")
        if self.exported:
            raise RuntimeError("Trace is already saved.")
        self.exported = True
        with open(path, "w") as file:
            file.write(json.dumps({"traceEvents": []}) if text is None else text)
        do("export")
