"""python/trainspotter.py with a torch that is made up (fake/torch)."""
import gzip
import json
import logging
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import threading
import time
import types
import unittest
from unittest import mock

import torch
import trainspotter

HERE = os.path.dirname(os.path.abspath(__file__))
S = 1_000_000_000
COUNTER = struct.Struct("<8sQqQQQqq")
real_offset = trainspotter._offset


class Telling(logging.Handler):
    def __init__(self):
        super().__init__()
        self.told = []

    def emit(self, record):
        self.told.append(record.getMessage())


class HelperTest(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix="ts-python.")
        self.now = 10 ** 15
        self.wall = 1_795_000_000 * S  # with now, the beginning of an interval of 100 s; windows are due in its middle
        self.telling = Telling()
        logger = logging.getLogger("trainspotter")
        logger.addHandler(self.telling)
        logger.setLevel(logging.INFO)
        logger.propagate = False
        torch.profiler.log.clear()
        torch.profiler.made.clear()
        torch.profiler.fail.clear()
        torch.profiler.text = None
        torch._C.backend = "privateuseone"
        for patch in (mock.patch.object(trainspotter, "_now", lambda: self.now),
                      mock.patch.object(trainspotter.time, "time_ns", lambda: self.wall + self.now),
                      mock.patch.object(trainspotter, "_offset", lambda worker, period: 50 * S % period),
                      mock.patch.dict(os.environ)):
            self.enterPatch(patch)
        for name in [n for n in os.environ if n.startswith(("TRAINSPOTTER_", "NEURON_", "KINETO_")) or n == "RANK"]:
            del os.environ[name]
        self.prof = None

    def tearDown(self):
        logging.getLogger("trainspotter").removeHandler(self.telling)
        if self.prof:
            self.prof.close()
        self.assertNotIn("crash", torch.profiler.log)
        self.assertIsNone(torch.autograd.session, "no profile stays active")
        self.assertEqual(torch.autograd.enabled, {})
        shutil.rmtree(self.dir, ignore_errors=True)

    def enterPatch(self, patch):
        patch.start()
        self.addCleanup(patch.stop)

    def make(self, **more):
        self.prof = trainspotter.profiler(**{"dir": self.dir, "service": "llm", "every": 100, "steps": 3, "budget": 1, **more})
        return self.prof

    def go(self, steps, each_s=1.0):
        for _ in range(steps):
            self.now += int(each_s * S)
            self.prof.step()

    def go_until_in_a_window(self):
        for _ in range(300):
            self.go(1)
            if self.prof._window:
                return
        self.fail(f"no window: {self.prof.counts}")

    def go_until_counted(self):
        before = self.words()
        for _ in range(300):
            self.go(1)
            if self.words() != before:
                return
        self.fail("no end of a window")

    def files(self, end=".json"):
        return sorted(f for f in os.listdir(self.dir) if f.endswith(end))

    def counter(self):
        with open(f"{self.dir}/{os.getpid()}.steps", "rb") as file:
            data = file.read()
        self.assertEqual(len(data), 64)
        return dict(zip("magic steps last_ns begun ended inside_steps inside_ns first_ns".split(), COUNTER.unpack(data)))

    def words(self):
        return {word: count for word, count in self.prof.counts.items() if count and word != "young"}

    # ---- windows

    def test_a_window_is_a_trace_with_a_sidecar_that_is_there_before_it(self):
        renamed = []
        real = os.rename
        with mock.patch.object(os, "rename", lambda a, b: (renamed.append((a, b)), real(a, b))):
            self.make(deploy="v1", labels={"team": "search", "shards": 8}, worker=3)
            self.go(120)
        (trace,) = [f for f in self.files() if not f.endswith(".meta.json")]
        self.assertEqual([os.path.basename(to) for _, to in renamed], [trace + ".meta.json", trace])
        self.assertTrue(all(a == f"{b}.tmp" for a, b in renamed))
        with open(f"{self.dir}/{trace}.meta.json") as file:
            said = json.load(file)
        start = said.pop("start_ns")
        self.assertTrue(0 <= self.wall + self.now - start < 120 * S)
        self.assertEqual(said, {"service": "llm", "deploy": "v1", "worker": "3", "pid": os.getpid(),
                                "labels": {"team": "search", "shards": "8"}})
        self.assertEqual(self.words(), {"taken": 1})
        self.assertEqual(self.files(".tmp"), [])

    def test_a_window_has_the_steps_asked_for_after_one_that_warms_up(self):
        self.make(steps=4)
        self.go(120)
        window = torch.profiler.made[1]
        self.assertEqual(window.steps, 4)
        self.assertEqual(torch.profiler.log[3:], ["make", "start"] + ["step"] * 4 + ["stop", "export"])

    def test_a_window_ends_early_when_its_steps_are_long(self):
        self.make(steps=1000, longest=4)
        self.go(130)
        self.assertEqual(self.words(), {"taken": 1})
        self.assertEqual(torch.profiler.made[1].steps, 4)

    def test_windows_come_once_an_interval_at_an_offset_of_host_and_worker(self):
        begun = {}
        trainspotter._offset = real_offset
        for worker in "0", "1":
            self.make(worker=worker)
            self.go(6)
            at = []
            for _ in range(1000):
                was = self.prof._begun
                self.go(1)
                if self.prof._begun > was:
                    at.append((self.wall + self.now) // S)
            begun[worker] = at
            self.prof.close()
        for at in begun.values():
            self.assertEqual({b - a for a, b in zip(at, at[1:])}, {100})
            self.assertGreaterEqual(len(at), 9)
        self.assertNotEqual(begun["0"][0] % 100, begun["1"][0] % 100)
        self.assertEqual(begun["0"][0] % 100, -(-real_offset("0", 100 * S) // S) % 100)

    def test_windows_come_by_steps_where_that_is_asked_for(self):
        trainspotter._offset = real_offset
        self.make(every="50 steps")
        begun = []
        for n in range(1, 301):
            was = self.prof._begun
            self.go(1)
            if self.prof._begun > was:
                begun.append(n)
        self.assertIn(len(begun), (5, 6))
        self.assertEqual({n % 50 for n in begun}, {real_offset("0", 50)})

    def test_without_an_interval_there_are_no_windows_but_steps_are_counted(self):
        self.make(every=0)
        self.go(1000)
        self.assertEqual(self.words(), {})
        self.assertEqual(self.counter()["steps"], 1000)
        self.assertEqual(len(torch.profiler.made), 1)

    def test_the_first_steps_are_never_in_a_window(self):
        self.make(every=0.001)
        self.go(4)
        self.assertEqual(self.prof._begun, 0)
        self.go(1)
        self.assertEqual(self.prof._begun, 1)

    def test_the_first_step_runs_one_empty_profile_of_host_and_device(self):
        torch._C.backend = "neuron"
        self.make()
        self.assertEqual(torch.profiler.log, [])
        self.go(1)
        self.assertEqual(torch.profiler.log, ["make", "start", "stop"])
        activities = torch.profiler.ProfilerActivity
        self.assertEqual(torch.profiler.made[0].activities, {activities.CPU, activities.PrivateUse1})

    def test_nothing_is_asked_of_torch_or_of_the_disk_between_windows(self):
        self.make(every=10 ** 6)
        self.go(10)
        log = list(torch.profiler.log)
        with mock.patch.object(trainspotter, "os", None), mock.patch.object(self.prof, "_attend", None):
            for _ in range(1000):
                self.prof.step()
        self.assertEqual(torch.profiler.log, log)
        with mock.patch.object(trainspotter, "_now", time.monotonic_ns):
            self.prof._wake = trainspotter._NEVER
            began = time.thread_time_ns()
            for _ in range(100_000):
                self.prof.step()
            each = (time.thread_time_ns() - began) / 100_000
        print(f"# {each:.0f} ns a step() between windows")
        self.assertLess(each, 10_000)

    def test_a_gzip_trace_has_its_sidecar_under_its_own_name(self):
        self.make(gzip=True)
        self.go(120)
        (trace,) = self.files(".json.gz")
        self.assertEqual(self.files(".meta.json"), [trace + ".meta.json"])
        with gzip.open(f"{self.dir}/{trace}") as file:
            self.assertEqual(json.load(file), {"traceEvents": []})

    def test_whose_window_it_is_comes_from_the_environment_where_the_job_says_nothing(self):
        with mock.patch.dict(os.environ, {"TRAINSPOTTER_DEPLOY": "v9", "NEURON_PROCESS_TAG": "tag", "RANK": "7", "TRAINSPOTTER_DIR": self.dir}):
            self.make(service=None, dir=None)
            self.go(120)
        with open(f"{self.dir}/{self.files('.meta.json')[0]}") as file:
            said = json.load(file)
        self.assertEqual((said["service"], said["deploy"], said["worker"]), ("tag", "v9", "7"))

    def test_a_window_goes_to_on_window_and_what_that_raises_stays_there(self):
        got = []
        self.make(on_window=lambda profile: (got.append(profile), 1 / 0))
        self.go(120)
        self.assertEqual(got, torch.profiler.made[1:])
        self.assertEqual(self.words(), {"taken": 1, "hook": 1})

    def test_a_device_is_profiled_and_waited_for(self):
        torch._C.backend = "made_up"
        with mock.patch.object(torch, "made_up", types.SimpleNamespace(synchronize=lambda: torch.profiler.log.append("wait")), create=True):
            self.make()
            self.go(120)
        self.assertIn(torch.profiler.ProfilerActivity.PrivateUse1, torch.profiler.made[1].activities)
        self.assertEqual(torch.profiler.log[-3:], ["wait", "stop", "export"])

    def neuron(self, export):
        class NeuronConfig:
            def __init__(self, modes, profile_output_dir):
                self.modes, self.dir = modes, profile_output_dir

        class NeuronProfiler:
            def __init__(self, config):
                self.config = config

            def export_trace(self, profile):
                session = f"{self.config.dir}/i-1_pid_1/{time.time_ns()}"
                os.makedirs(session)
                with open(f"{session}/ntrace.pb", "w") as file:
                    file.write("x")
                export(profile, session)

        profiling = types.SimpleNamespace(NeuronConfig=NeuronConfig, NeuronProfiler=NeuronProfiler,
                                          ProfileMode=types.SimpleNamespace(RUNTIME="r", DEVICE="d"))
        torch._C.backend = "neuron"
        return mock.patch.dict(sys.modules, {"torch_neuronx": types.ModuleType("torch_neuronx"), "torch_neuronx.profiling": profiling})

    def test_the_neuron_profiler_takes_part_and_what_it_writes_is_removed(self):
        for export in (lambda p, session: p.export_chrome_trace(f"{session}/trace.json"), lambda p, session: None):
            with self.neuron(export):
                self.make()
                self.go(120)
                self.prof.close()
            config = torch.profiler.made[-1].config
            self.assertEqual(config.modes, ["r"])
            self.assertFalse(os.path.exists(config.dir))
            self.assertEqual(self.words(), {"taken": 1})
        self.assertEqual(len(self.files(".meta.json")), 2)

    def test_what_the_neuron_profiler_writes_is_kept_where_wanted_up_to_a_limit(self):
        with self.neuron(lambda p, session: None):
            self.make(neuron_dir=f"{self.dir}/neuron", neuron=("RUNTIME", "DEVICE"), keep=4)
            self.go(500)
        self.assertEqual(torch.profiler.made[1].config.modes, ["r", "d"])
        self.assertEqual(len(os.listdir(f"{self.dir}/neuron/i-1_pid_1")), 2)
        self.assertGreater(self.prof.counts["unread"], 1)

    def test_a_torch_neuronx_without_profiles_does_not_matter(self):
        with mock.patch.dict(sys.modules, {"torch_neuronx": types.ModuleType("torch_neuronx")}):
            self.make()
            self.go(120)
        self.assertIsNone(torch.profiler.made[1].config)
        self.assertEqual(self.words(), {"taken": 1})

    # ---- other profiles

    def test_there_is_no_window_while_the_job_profiles_itself(self):
        self.make()
        self.go(1)
        with torch.profiler.profile(activities=[]):
            self.go(250)
        self.assertEqual(self.prof._begun, 0)
        self.assertGreaterEqual(self.prof.counts["busy"], 2)
        self.go(120)
        self.assertEqual(self.prof.counts["taken"], 1)

    def test_there_is_no_window_while_a_profile_of_the_job_warms_up(self):
        self.make()
        self.go(1)
        theirs = torch.profiler.profile(activities=[], schedule=lambda n: torch.profiler.ProfilerAction.WARMUP)
        theirs.start()
        self.go(120)
        self.assertEqual(self.prof._begun, 0)
        theirs.stop()
        theirs.export_chrome_trace(f"{self.dir}/theirs.json")

    def test_a_profile_that_the_job_begins_ends_the_window_first(self):
        for recording in (False, True):
            self.make(steps=10)
            self.go_until_in_a_window()
            self.go(2 if recording else 0)
            with torch.profiler.profile(activities=[]) as theirs:
                self.assertIsNone(self.prof._window)
                self.go(5)
            theirs.export_chrome_trace(f"{self.dir}/theirs.json")
            self.assertEqual(self.words(), {"cancelled": 1})
            self.assertEqual(self.files(), ["theirs.json"])
            self.go(120)
            self.assertEqual(self.prof.counts["taken"], 1)
            self.prof.close()
            shutil.rmtree(self.dir)
            os.mkdir(self.dir)

    def test_a_profile_of_another_thread_waits_for_the_window_to_be_ended(self):
        self.make(steps=10 ** 6, longest=10 ** 6)
        self.go_until_in_a_window()
        seen = []

        def theirs():
            with torch.profiler.profile(activities=[]) as profile:
                seen.append(self.prof._window)
            profile.export_chrome_trace(f"{self.dir}/theirs.json")

        thread = threading.Thread(target=theirs)
        thread.start()
        while thread.is_alive():
            self.go(1)
            time.sleep(0.001)
        self.assertEqual(seen, [None])
        self.assertEqual(self.words(), {"cancelled": 1})

    def test_a_profile_of_another_thread_that_cannot_wait_is_over_before_the_window_is_ended(self):
        self.enterPatch(mock.patch.object(trainspotter, "_YIELD_S", 0.05))
        self.make(steps=10)
        self.go_until_in_a_window()
        self.go(3)
        begun, go_on = threading.Event(), threading.Event()

        def theirs():
            with torch.profiler.profile(activities=[]) as profile:
                begun.set()
                go_on.wait(10)
            profile.export_chrome_trace(f"{self.dir}/theirs.json")

        thread = threading.Thread(target=theirs)
        thread.start()
        begun.wait(10)
        self.go(20)
        self.assertIsNotNone(self.prof._window)
        go_on.set()
        thread.join()
        self.go(1)
        self.assertIsNone(self.prof._window)
        self.assertEqual(self.words(), {"cancelled": 1})

    def test_a_torch_that_is_not_known_well_enough_is_not_profiled(self):
        guard = trainspotter._Guard()
        with mock.patch.object(trainspotter, "_guard", guard), mock.patch.object(torch.autograd.profiler, "_prepare_profiler", None):
            self.make()
            self.go(300)
            self.prof.close()
        self.assertEqual(self.words(), {"unsupported": 1})
        self.assertEqual(torch.profiler.log, [])

    # ---- what can go wrong

    def test_whatever_torch_refuses_the_job_goes_on_and_the_next_window_works(self):
        for what in ("make", "start", "step", "stop", "export"):
            self.make()
            self.go(1)
            torch.profiler.fail.add(what)
            self.go_until_counted()
            torch.profiler.fail.clear()
            self.assertEqual(self.words(), {"failed": 1}, what)
            self.assertEqual(self.files(""), [f"{os.getpid()}.steps"], what)
            self.go(120)
            self.assertEqual(self.prof.counts["taken"], 1, what)
            counter = self.counter()
            self.assertEqual(counter["begun"], counter["ended"])
            self.prof.close()
            for name in os.listdir(self.dir):
                os.unlink(f"{self.dir}/{name}")

    def test_a_trace_that_was_cut_short_by_a_full_disk_is_not_handed_over(self):
        torch.profiler.text = '{"traceEvents":[{"ph":"X","na'
        self.make()
        self.go(120)
        self.assertEqual(self.words(), {"unwritten": 1})
        self.assertEqual(self.files(""), [f"{os.getpid()}.steps"])

    def test_a_trace_that_torch_did_not_write_and_was_silent_about_is_counted(self):
        with mock.patch.object(torch.profiler.profile, "export_chrome_trace", lambda *args: None):
            self.make()
            self.go(120)
        self.assertEqual(self.words(), {"unwritten": 1})
        self.assertEqual(self.files(""), [f"{os.getpid()}.steps"])

    def test_where_nothing_can_be_written_nothing_is_profiled_and_it_is_told_once(self):
        small = types.SimpleNamespace(f_bavail=100, f_frsize=4096)
        cases = (("missing", {"dir": f"{self.dir}/not/there"}, None),
                 ("unwritable", {}, mock.patch.object(os, "access", lambda path, how: False)),
                 ("full", {}, mock.patch.object(os, "statvfs", lambda path: small)),
                 ("unread", {"keep": 0}, None))
        for word, more, patch in cases:
            self.telling.told.clear()
            self.make(**more)
            with patch or mock.patch.object(self, "prof", self.prof):
                self.go(1000)
            self.assertEqual(self.prof._begun, 0, word)
            self.assertGreaterEqual(self.prof.counts[word], 8, word)
            told = [t for t in self.telling.told if t.startswith(f"{word}:")]
            self.assertEqual(len(told), 1, word)
            self.prof.close()

    def test_a_folder_that_comes_later_gets_windows_and_the_counter(self):
        folder = f"{self.dir}/later"
        self.make(dir=folder)
        self.go(150)
        os.mkdir(folder)
        self.go(150)
        self.assertGreaterEqual(self.prof.counts["taken"], 1)
        self.assertTrue(os.path.exists(f"{folder}/{os.getpid()}.steps"))
        self.assertEqual(self.prof.counts["uncounted"], 1)

    def test_no_more_traces_than_keep_pile_up_while_nobody_reads(self):
        self.make(keep=3)
        self.go(1000)
        self.assertEqual(self.prof.counts["taken"], 3)
        self.assertEqual(len([f for f in self.files() if not f.endswith(".meta.json")]), 3)
        self.assertGreaterEqual(self.prof.counts["unread"], 5)

    def test_a_trace_of_another_worker_that_filled_the_folder_meanwhile_counts(self):
        self.make(keep=1)
        self.go_until_in_a_window()
        with open(f"{self.dir}/trainspotter-1-1.json", "w"):
            pass
        self.go(10)
        self.assertEqual(self.words(), {"unread": 1})
        self.assertEqual(self.files(), ["trainspotter-1-1.json"])

    def test_a_file_named_paused_stops_windows(self):
        for name in ".paused", ".paused-by-daemon":
            with open(f"{self.dir}/{name}", "w"):
                pass
            self.make()
            self.go(250)
            self.assertEqual((self.prof._begun, self.prof.counts["paused"] >= 2), (0, True))
            os.unlink(f"{self.dir}/{name}")
            self.go(120)
            self.assertEqual(self.prof.counts["taken"], 1)
            self.prof.close()

    def test_windows_that_cost_too_much_are_rarer(self):
        def slow(*args):
            self.now += 3 * S

        self.make(budget=0.01)
        with mock.patch.object(torch.profiler.profile, "export_chrome_trace", slow):
            self.go(1000)  # torch takes three seconds at the end of each window: one in 300 is allowed
        self.assertLessEqual(self.prof._begun, 4)
        self.assertGreaterEqual(self.prof._begun, 2)

    def test_a_large_trace_makes_the_next_windows_shorter(self):
        with mock.patch.object(trainspotter, "_TRACE_BYTES", 5):
            self.make(steps=8, longest=60)
            self.go(250)
        self.assertEqual([p.steps for p in torch.profiler.made[1:3]], [8, 4])

    def test_wrong_arguments_are_told_and_the_defaults_used(self):
        self.make(every="often", steps="many", longest=None, keep=(), budget="half")
        self.assertEqual(self.prof.counts["usage"], 5)
        self.go(400)
        self.assertEqual(self.prof.counts["taken"], 1)
        self.assertEqual(torch.profiler.made[1].steps, 5)

    def test_a_folder_that_can_be_none_is_told_and_the_default_used(self):
        self.make(dir=7)
        self.assertEqual(self.prof._dir, "/var/spool/trainspotter")
        self.assertEqual(self.prof.counts["usage"], 1)

    def test_steps_of_other_threads_neither_hurt_nor_end_a_window(self):
        self.make()
        self.go_until_in_a_window()

        def others():
            for _ in range(100):
                self.prof.step()

        for _ in range(3):
            thread = threading.Thread(target=others)
            thread.start()
            thread.join()
        self.assertIsNotNone(self.prof._window)
        self.go(4)
        self.assertEqual(self.words(), {"taken": 1})
        self.assertEqual(torch.profiler.made[1].steps, 3)

    # ---- the counter

    def test_the_counter_tells_steps_windows_and_what_they_took(self):
        self.make()
        self.go(1)
        first = self.now
        self.go(99)
        got = self.counter()
        self.assertEqual(got, {"magic": b"TSSTEPS1", "steps": 100, "last_ns": self.now, "begun": 1, "ended": 1, "inside_steps": 4,
                               "inside_ns": 4 * S, "first_ns": first})
        self.prof.close()
        self.assertEqual(self.files(".steps"), [])

    def test_the_counter_begins_with_the_first_step_also_in_a_with_statement(self):
        with self.make() as prof:
            self.now += 100 * S
            self.go(1)
            self.assertEqual((self.counter()["first_ns"], self.counter()["steps"]), (self.now, 1))
            self.assertIs(prof, self.prof)
        self.assertEqual(self.files(".steps"), [])

    def test_what_killed_jobs_left_is_taken_away_and_what_live_ones_use_stays(self):
        dead, alive, new = f"{self.dir}/1.steps", f"{self.dir}/2.steps", f"{self.dir}/3.steps"
        old, fresh = f"{self.dir}/trainspotter-1-1.json.tmp", f"{self.dir}/trainspotter-2-2.json.tmp"
        folder = f"{self.dir}/trainspotter-1-1.json.neuron.tmp"
        os.mkdir(folder)
        for path in dead, alive, new, old, fresh, f"{folder}/x":
            with open(path, "w"):
                pass
        for path in dead, alive, old, folder:
            os.utime(path, (1, 1))
        holder = subprocess.Popen([sys.executable, "-c", "import fcntl, sys; f = open(sys.argv[1]); fcntl.flock(f, fcntl.LOCK_EX);"
                                   "print('held', flush=True); sys.stdin.read()", alive], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        holder.stdout.readline()
        self.make()
        self.go(1)
        holder.communicate()
        left = sorted(os.listdir(self.dir))
        self.assertEqual(left, sorted([f"{os.getpid()}.steps", "2.steps", "3.steps", "trainspotter-2-2.json.tmp"]))

    def test_a_counter_that_another_container_has_is_left_alone_and_the_jobs_own_names_its_pid_namespace(self):
        path, own = f"{self.dir}/{os.getpid()}.steps", f"{os.getpid()}.{os.stat('/proc/self/ns/pid').st_ino}.steps"
        holder = subprocess.Popen([sys.executable, "-c", "import fcntl, sys; f = open(sys.argv[1], 'w'); fcntl.flock(f, fcntl.LOCK_EX);"
                                   "print('held', flush=True); sys.stdin.read()", path], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        holder.stdout.readline()
        self.make()
        self.go(10)
        self.assertEqual(os.path.getsize(path), 0)
        self.assertEqual(self.files(".steps"), sorted([own, os.path.basename(path)]))
        with open(f"{self.dir}/{own}", "rb") as file:
            self.assertEqual(struct.unpack("<8sQ", file.read(16)), (b"TSSTEPS1", 10))
        self.assertNotIn("uncounted", self.prof.counts)
        self.prof.close()
        self.assertEqual(self.files(".steps"), [os.path.basename(path)])
        holder.communicate()

    def test_a_second_profiler_of_a_process_takes_no_counter_of_its_own(self):
        self.make()
        self.go(10)
        first = self.prof
        self.make()
        self.go(10)
        self.assertEqual(self.prof.counts["uncounted"], 1)
        self.assertEqual(self.files(".steps"), [f"{os.getpid()}.steps"])
        self.prof.close()
        first.close()
        self.assertEqual(self.files(".steps"), [])

    # ---- processes

    def child(self, do):
        """Runs do in a forked child; returns its exit status."""
        pid = os.fork()
        if pid == 0:
            status = 1
            try:
                do()
                status = 0
            finally:
                os._exit(status)
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])

    def test_a_forked_child_without_steps_leaves_everything_alone(self):
        self.make()
        self.go(20)
        before = self.counter()
        self.assertEqual(self.child(lambda: None), 0)
        self.assertEqual(self.counter(), before)
        self.go(100)
        self.assertEqual(self.words(), {"taken": 1})

    def test_a_forked_child_with_steps_has_its_own_counter_and_windows(self):
        self.make()
        self.go(10)

        def work():
            self.go(120)
            assert self.prof._worker == "5" and self.prof.counts["taken"] == 1, self.prof.counts
            assert self.counter()["steps"] == 120
            assert len(self.files(".steps")) == 2
            self.prof.close()

        with mock.patch.dict(os.environ, {"RANK": "5"}):
            self.assertEqual(self.child(work), 0)
        self.go(1)
        self.assertEqual(self.counter()["steps"], 11)
        self.assertEqual(self.files(".steps"), [f"{os.getpid()}.steps"])

    def test_a_fork_in_on_window_lets_the_child_go_on(self):
        children = []

        def fork(profile):
            children.append(os.fork())

        self.make(on_window=fork)
        status = 1
        try:
            self.go(120)
            self.assertEqual(self.words(), {"taken": 1} if children[0] else {})
            status = 0
        finally:
            if children and children[0] == 0:
                os._exit(status)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(children[0], 0)[1]), 0)

    def test_a_fork_during_a_window_ends_it_before_the_child_could_inherit_it(self):
        self.make(steps=10)
        self.go_until_in_a_window()
        self.go(2)

        def look():
            assert not torch.autograd._profiler_enabled()

        self.assertEqual(self.child(look), 0)
        self.assertEqual(self.words(), {"forked": 1})
        self.go(120)
        self.assertEqual(self.prof.counts["taken"], 1)

    def run_job(self, text, *options, path=None):
        job = ("import sys, time, trainspotter\n"
               f"prof = trainspotter.profiler(service='s', dir={self.dir!r}, every=0.02, steps=5, budget=1)\n" + text)
        path = path or [f"{HERE}/fake", f"{HERE}/../../python"]
        return subprocess.run([sys.executable, "-S", "-B", *options, "-c", job], env={**os.environ, "PYTHONPATH": ":".join(path)},
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=60)

    def test_a_job_that_ends_in_the_middle_of_a_window_ends_well_and_leaves_nothing(self):
        done = self.run_job("while not (prof._window and prof._window.recorded == 2): prof.step(); time.sleep(0.001)\n")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual([f for f in os.listdir(self.dir) if f.endswith((".tmp", ".steps"))], [])

    def test_windows_from_outside_are_cancelled_and_refused_at_the_end_of_the_job(self):
        text = ("import atexit, torch, os\n"
                "atexit.register(lambda: print(torch.profiler.log, torch.autograd.session is None, torch.autograd.enabled))\n"
                "with prof:\n  for i in range(3): prof.step()\n")
        first = "'make', 'start', 'stop'"
        os.environ["KINETO_USE_DAEMON"] = "1"
        self.assertEqual(self.run_job(text).stdout, f"[{first}, 'make', 'start'] False {{}}\n")
        del os.environ["KINETO_USE_DAEMON"]
        self.assertEqual(self.run_job(text).stdout, f"[{first}] True {{}}\n")

    def test_warnings_that_are_errors_do_not_reach_the_job(self):
        done = self.run_job("import shutil\nfor i in range(200):\n  prof.step(); time.sleep(0.001)\n"
                            "  if i == 100: shutil.rmtree(sys.argv[0] and prof._dir)\nprint(sorted(prof.counts))\n", "-W", "error")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("missing", done.stdout)
        self.assertEqual(done.stderr.count("missing:"), 1)

    def test_a_job_without_torch_is_not_disturbed(self):
        done = self.run_job("for i in range(100): prof.step(); time.sleep(0.001)\nprint(prof.counts)\n", path=[f"{HERE}/../../python"])
        self.assertEqual((done.returncode, done.stdout), (0, "{'taken': 0, 'failed': 1}\n"), done.stderr)

    def test_the_version_is_that_of_the_whole(self):
        with open(f"{HERE}/../../configure.ac") as file:
            self.assertEqual(trainspotter.__version__, re.search(r"AC_INIT\(\[trainspotter\], \[([^]]+)\]\)", file.read())[1])
