"""trainspotter — a PyTorch job profiles itself, now and then, for the Trainspotter agent on its host.

    import trainspotter

    with trainspotter.profiler(service="llm-decode", deploy="v42") as prof:
        for batch in batches:
            serve(batch)
            prof.step()             # after each iteration, from the thread that runs the model

Every five minutes ten iterations are profiled by torch.profiler. The trace goes into the folder that the agent watches, first
its sidecar (whose trace it is), then the trace, each by rename. A server that has no loop makes one object and calls step()
after each request; nothing has to be closed then. Between windows step() takes a fraction of a microsecond.

profiler(...) takes, all by name and all optional:

    service   what the fleet calls this job; else TRAINSPOTTER_SERVICE, else NEURON_PROCESS_TAG, else what the agent is told
    deploy    the version that runs; else TRAINSPOTTER_DEPLOY
    worker    which process of the job this is; else torch.distributed's rank, RANK, NEURON_RT_VISIBLE_CORES
    labels    a dict of texts that go with each window
    dir       the agent's folder; else TRAINSPOTTER_DIR, else /var/spool/trainspotter. It must be there already
    every     how often: seconds (300), "30s", "5m", "1h", or iterations, "2000 steps"; 0: never, which leaves the agent's source
              "kineto" to ask for windows, and still counts steps. Windows begin at an offset that is a hash of host and
              worker, so ranks and hosts spread themselves
    steps     iterations of a window (10); one more before them warms the profiler up
    longest   seconds after which a window ends with the iteration under way (5)
    gzip      True: compress traces; smaller files for more time of the job
    keep      unread traces that the folder may hold (64), of all jobs: with more there is no window, since nobody reads
    budget    share of the job's time that beginning, ending and writing windows may take (0.01); beyond it, windows are rarer
    on_window called with the torch.profiler.profile of each window, after it was written
    neuron    ProfileMode names for NeuronConfig where torch_neuronx was imported ("RUNTIME",); () does without. DEVICE reserves
              some 5 GB of device memory
    neuron_dir  where to keep what the Neuron runtime itself writes in a window (.ntff, .pb); without, it is removed again.
              It counts for keep like traces do

Nothing here raises into the job. What goes wrong is counted in prof.counts by one word and told once by logging, under the name
"trainspotter", with what helps. The words:

    taken                                               a window
    young busy paused missing unwritable full unread budget     none this time: the job has just begun; another profile is active in
              this process; the daemon's kill switch is on, or a file .paused is in the folder; no folder; not writable; no
              space; nobody reads; windows cost more than budget
    cancelled forked thread exit                        one was dropped: the job began a profile of its own, which has precedence; it
              forked; step() came from other threads only; it ended
    unwritten failed                                    one was lost: torch wrote no whole trace, or refused
    usage unsupported uncounted hook                    see the log

The first step() runs one empty profile: without it, windows that the agent asks for (source "kineto") never see the device. With
KINETO_USE_DAEMON set one is prepared at the end, too: a process that ends during such a window would crash.
A forked child starts afresh at its own first step(), so loader processes, which have none, cost nothing.

DIR/PID.steps, by which the agent measures what windows cost; it goes when the job ends. Where containers share the folder and that is
another job's, it is DIR/PID.NAMESPACE.steps, with the number of /proc/self/ns/pid. Little-endian:

     0  8 bytes  "TSSTEPS1"                                    32  u64  windows ended
     8  u64  steps so far                                      40  u64  steps inside windows
    16  i64  CLOCK_MONOTONIC ns of the last of them            48  i64  ns inside windows, beginning and writing included
    24  u64  windows begun                                     56  i64  CLOCK_MONOTONIC ns of the first step
"""
import atexit
import fcntl
import functools
import hashlib
import json
import logging
import os
import re
import shutil
import socket
import struct
import sys
import tempfile
import threading
import time
import weakref
import zlib

__version__ = "0.1.0"
__all__ = ["profiler"]

_log = logging.getLogger("trainspotter")
_now = time.monotonic_ns  # CLOCK_MONOTONIC

_S = 1_000_000_000
_NEVER = 1 << 62
_FLUSH_NS = 50_000_000  # the counter may be as old as this
_STEPS_FIRST = 5  # no window before: the first iterations compile and allocate
_FREE_BYTES = 16 << 20  # what a window leaves on the disk, besides four times the largest trace so far
_TRACE_BYTES = 64 << 20  # a larger trace makes the next windows shorter
_TMP_OLD_S = 3600  # nobody writes a trace for so long
_YIELD_S = 1.0  # a profile of another thread waits so long for our window's own thread to end it
_COUNTER_OLD_S = 60  # so that nobody looks at one that is just being made
_DIR = "/var/spool/trainspotter"
_PREFIX = "trainspotter-"
_SIDECAR = ".meta.json"
_COUNTER = struct.Struct("<8sQqQQQqq")

_CURES = {
    "busy": "another profile is active in this process",
    "paused": "capture is switched off: a file .paused or .paused-by-daemon is in the folder",
    "missing": "no such folder: is the agent installed, and is this what its 'watch' names?",
    "unwritable": "this user may not write to the folder",
    "full": "the folder's file system is full",
    "unread": "nobody takes the traces in the folder: is the agent running, and is this what its 'watch' names?",
    "budget": "windows take more of the job's time than 'budget' allows; fewer 'steps' make them cheaper",
    "cancelled": "the job began a profile of its own during the window",
    "forked": "the process forked during the window",
    "thread": "step() came from other threads than the one in which the window began",
    "exit": "the job ended during the window",
    "unwritten": "torch wrote no whole trace: is the folder's file system full?",
    "failed": "the window could not be taken",
    "usage": "a wrong argument; its default is used",
    "unsupported": "this torch is not known well enough to profile it safely: no windows",
    "uncounted": "the step counter could not be made: the agent cannot measure what windows cost",
    "hook": "on_window raised",
}
_QUIET_WORDS = {"busy", "paused", "cancelled", "forked", "exit"}  # part of a normal life: told at level info


class _Guard:
    """Knows of all profiles of this process, so that never two are active at once.

    A profile that is begun while another is prepared or active cancels that other one in libkineto, which then crashes the process when
    its trace is exported. So these three functions of torch.autograd.profiler, through which every profile of Python goes, are wrapped
    once: a profile of the job's ends our window first, and ours waits for the end of the job's."""

    def __init__(self):
        self.owner = None  # the profiler whose window is open
        self.others = set()  # threads with a profile of the job's own
        self.calling = None  # the thread that is in torch for us
        self.installed = False

    def install(self, module):
        if self.installed:
            return True
        begin = [getattr(module, name, None) for name in ("_prepare_profiler", "_enable_profiler")]
        end = getattr(module, "_disable_profiler", None)
        if not all(map(callable, begin + [end])):
            return False
        module._prepare_profiler, module._enable_profiler = (self._wrap(call, self._began, None) for call in begin)
        module._disable_profiler = self._wrap(end, None, self._ended)
        self.installed = True
        return True

    def _wrap(self, call, before, after):
        @functools.wraps(call)
        def wrapped(*args, **kwargs):
            theirs = self.calling != threading.get_ident()
            if theirs and before:
                before()
            try:
                return call(*args, **kwargs)
            finally:
                if theirs and after:
                    after()
        return wrapped

    def _began(self):
        owner = self.owner
        if owner is not None:
            owner._yield()
        self.others.add(threading.get_ident())

    def _ended(self):
        self.others.discard(threading.get_ident())

    def busy(self, torch):
        return (self.owner is not None or bool(self.others) or torch.autograd._profiler_enabled()
                or bool(getattr(torch.autograd.profiler, "_is_profiler_enabled", False)))

    def call(self, function, *args):
        before, self.calling = self.calling, threading.get_ident()
        try:
            return function(*args)
        finally:
            self.calling = before


_guard = _Guard()
_living = weakref.WeakSet()


def _before_fork():
    for each in list(_living):
        each._before_fork()


def _after_fork_in_child():
    _guard.owner, _guard.calling = None, None
    _guard.others.clear()
    for each in list(_living):
        each._after_fork_in_child()


os.register_at_fork(before=_before_fork, after_in_child=_after_fork_in_child)


def _period(every):
    """(nanoseconds, None), (None, steps) or (None, None) for never; ValueError."""
    if isinstance(every, str):
        got = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*(ms|s|m|h|steps?|)\s*", every)
        if not got:
            raise ValueError(f"every={every!r}: want seconds, or a text like '30s', '5m', '1h', '2000 steps'")
        number, unit = float(got[1]), got[2] or "s"
    else:
        number, unit = float(every), "s"
    if number == 0:
        return None, None
    if not 0 < number < 1e9:
        raise ValueError(f"every={every!r} is out of range")
    if unit.startswith("step"):
        return None, max(int(number), 1)
    return max(int(number * {"ms": 1e-3, "s": 1, "m": 60, "h": 3600}[unit] * _S), 1), None


def _offset(worker, period):
    digest = hashlib.sha256(f"{socket.gethostname()}/{worker}".encode()).digest()
    return int.from_bytes(digest[:8], "little") % period


def _pid_namespace():
    return os.stat("/proc/self/ns/pid").st_ino


class _Counter:
    """DIR/PID.steps, or DIR/PID.NAMESPACE.steps where that is a job's of another container that has the same pid there. Locked while its
    process lives, which tells across pid namespaces whether it does. Written by pwrite and not through a mapping, since a mapped file on a
    file system that is full, or gone, ends the process by SIGBUS."""

    _held = set()

    def __init__(self, folder):
        self.path = f"{folder}/{os.getpid()}.steps"
        if (os.getpid(), self.path) in self._held:
            raise OSError(f"{self.path} counts for another profiler of this process")
        try:
            self._open()
        except (BlockingIOError, PermissionError):
            self.path = f"{folder}/{os.getpid()}.{_pid_namespace()}.steps"
            self._open()
        self._key = os.getpid(), f"{folder}/{os.getpid()}.steps"
        self._held.add(self._key)

    def _open(self):
        for more in (4, 3, 2, 1, 0):  # somebody who sweeps may hold it for a moment, or have taken it away
            self.fd = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o644)
            try:
                fcntl.flock(self.fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if os.path.samestat(os.fstat(self.fd), os.stat(self.path)):
                    return
            except OSError:
                if not more:
                    os.close(self.fd)
                    raise
            os.close(self.fd)
            time.sleep(0.001)
        raise OSError(f"{self.path} is taken away again and again")

    def write(self, *numbers):
        os.pwrite(self.fd, _COUNTER.pack(b"TSSTEPS1", *numbers), 0)

    def close(self):
        self._held.discard(self._key)
        try:
            os.unlink(self.path)
        finally:
            os.close(self.fd)

    def forget(self):  # in a forked child: the file and its lock are the parent's
        os.close(self.fd)


def _sweep(folder):
    """Takes away what killed jobs left: counters whose lock nobody holds, and half-written traces."""
    with os.scandir(folder) as entries:
        for entry in entries:
            try:
                if re.fullmatch(r"\d+(\.\d+)?\.steps", entry.name):
                    _sweep_counter(entry)
                elif entry.name.startswith(_PREFIX) and entry.name.endswith(".tmp"):
                    _sweep_half(entry)
            except OSError:
                pass  # it is in use, or another user's


def _is_old(entry, seconds):
    return time.time() - entry.stat(follow_symlinks=False).st_mtime > seconds


def _sweep_counter(entry):
    if not _is_old(entry, _COUNTER_OLD_S):
        return
    fd = os.open(entry.path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.unlink(entry.path)
    finally:
        os.close(fd)


def _sweep_half(entry):
    if not _is_old(entry, _TMP_OLD_S):
        return
    if entry.is_dir(follow_symlinks=False):
        shutil.rmtree(entry.path, ignore_errors=True)
    else:
        os.unlink(entry.path)


def _count_unread(folder, neuron_dir):
    with os.scandir(folder) as entries:
        unread = sum(e.name.startswith(_PREFIX) and not e.name.endswith((_SIDECAR, ".tmp")) for e in entries)
    if neuron_dir and os.path.isdir(neuron_dir):
        unread += len(_sessions(neuron_dir))
    return unread


def _sessions(neuron_dir):
    """INSTANCE_pid_PID/TIMESTAMP, one a window."""
    return [f"{top.path}/{name}" for top in os.scandir(neuron_dir) if top.is_dir() for name in os.listdir(top.path)]


def _compress(path, to):
    squeeze = zlib.compressobj(1, zlib.DEFLATED, 31)
    with open(path, "rb") as source, open(to, "wb") as target:
        for block in iter(lambda: source.read(1 << 20), b""):
            target.write(squeeze.compress(block))
        target.write(squeeze.flush())
    os.unlink(path)


def _is_whole(path):
    """Kineto does not say when the disk was full: the file is not there then, or ends early."""
    if not os.path.exists(path):
        return False
    with open(path, "rb") as trace:
        trace.seek(max(os.path.getsize(path) - 64, 0))
        return trace.read().rstrip().endswith((b"}", b"]"))


class profiler:
    __doc__ = __doc__

    def __init__(self, *, service=None, deploy=None, worker=None, labels=None, dir=None, every=300, steps=10, longest=5.0, gzip=False,
                 keep=64, budget=0.01, on_window=None, neuron=("RUNTIME",), neuron_dir=None):
        self.counts = {"taken": 0}
        self._told = set()
        self._given = service, deploy, worker, labels
        self._dir = self._checked(os.path.abspath, dir or os.environ.get("TRAINSPOTTER_DIR") or _DIR, _DIR)
        self._gzip, self._on_window, self._neuron, self._neuron_dir = gzip, on_window, neuron, neuron_dir
        self._every_ns, self._every_steps = self._checked(_period, every, 300)
        self._steps_wanted = self._checked(lambda n: max(int(n), 1), steps, 10)
        self._longest_ns = self._checked(lambda s: int(float(s) * _S), longest, 5)
        self._keep = self._checked(int, keep, 64)
        self._budget = self._checked(lambda b: min(max(float(b), 1e-6), 1), budget, 0.01)
        self._lock = threading.Lock()
        self._reset()
        _living.add(self)

    def _checked(self, make, value, default):
        try:
            return make(value)
        except (TypeError, ValueError, OverflowError, OSError) as e:
            self._count("usage", e)
            return make(default)

    def _reset(self):
        self._steps = 0
        self._wake, self._wake_step = 0, _NEVER  # when step() has something to do: at once, to arm
        self._armed = self._closed = False
        self._torch = None
        self._counter = None
        self._first_ns = self._last_ns = 0
        self._begun = self._ended = self._inside_steps = self._inside_ns = 0
        self._due_ns = self._due_step = _NEVER
        self._not_before_ns = 0  # of the budget
        self._largest = 0  # trace so far, bytes
        self._window = None
        self._worker = "0"

    # ---- what the job calls

    def step(self):
        """One iteration is done."""
        self._steps = steps = self._steps + 1
        now = _now()
        if now >= self._wake or steps >= self._wake_step:
            self._attend(now)

    def __enter__(self):
        if not self._armed:
            self._attend(_now(), entering=True)
            self._wake = 0  # the counter begins with the first step
        return self

    def __exit__(self, kind, value, trace):
        self.close()
        return False

    def close(self):
        """Ends it, and drops a window that is under way. step() only counts afterwards."""
        try:
            if self._window is not None:
                self._finish("exit")
        except Exception as e:
            self._count("failed", e)
        self._wake = self._wake_step = _NEVER
        self._closed = True
        try:
            if self._counter:
                self._counter.close()
        except OSError:
            pass  # somebody took the file away
        self._counter = None
        atexit.unregister(self.close)

    # ---- now and then

    def _count(self, word, why=None):
        self.counts[word] = self.counts.get(word, 0) + 1
        if word in self._told or word not in _CURES:
            return
        self._told.add(word)
        _log.log(logging.INFO if word in _QUIET_WORDS else logging.WARNING, "%s: %s%s (dir=%s; told once, counted as '%s')", word,
                 _CURES[word], f": {why}" if why else "", getattr(self, "_dir", None), word)

    def _attend(self, now, entering=False):
        lock = self._lock  # a child that on_window forks has a new one, which is not held
        if not lock.acquire(blocking=False):
            return  # another thread is at it
        try:
            if self._closed:
                return
            if not self._armed:
                self._arm()
                now = _now()
                self._schedule(now)
            elif self._window is not None:
                self._go_on(now)
            elif now >= self._due_ns or self._steps >= self._due_step:
                self._begin_if_possible(now)
            if self._counter and not entering:
                self._last_ns = _now()  # not before the end of a window that ended just now
                self._first_ns = self._first_ns or self._last_ns
                self._write_counter()
        except Exception as e:
            self._count("failed", e)
            self._give_up()
        finally:
            self._set_wake(now)
            lock.release()

    def _set_wake(self, now):
        if self._closed:
            self._wake = self._wake_step = _NEVER
        elif self._window is not None:
            self._wake = 0
        else:
            self._wake = min(self._due_ns, now + _FLUSH_NS if self._counter else _NEVER)
            self._wake_step = self._due_step

    def _write_counter(self):
        try:
            self._counter.write(self._steps, self._last_ns, self._begun, self._ended, self._inside_steps, self._inside_ns, self._first_ns)
        except OSError as e:
            self._count("uncounted", e)
            counter, self._counter = self._counter, None
            counter.close()

    def _open_counter(self):
        try:
            _sweep(self._dir)
        except OSError:
            pass  # what cannot be swept stays
        try:
            self._counter = _Counter(self._dir)
            self._write_counter()
        except OSError as e:
            self._count("uncounted", e)

    def _arm(self):
        self._armed = True
        atexit.register(self.close)
        self._worker = self._find_worker()
        self._open_counter()
        import torch
        import torch.profiler
        if not _guard.install(torch.autograd.profiler):
            self._count("unsupported", torch.__version__)
            return
        self._torch = torch
        if "KINETO_USE_DAEMON" in os.environ:
            atexit.register(self._refuse_on_demand)
        self._profile_nothing()

    def _profile_nothing(self):
        if self._torch and not _guard.busy(self._torch):
            empty = _Window(self, _now())
            try:
                empty.begin_and_end()
            finally:
                empty.clean()

    def _refuse_on_demand(self):
        """A process that ends during a window that the agent asked for is often crashed by libkineto (torch 2.15). A profile of one's own
        cancels that window, and while it is prepared libkineto refuses others: this one is never started, and never ended."""
        try:
            if self._torch and not _guard.busy(self._torch):
                self._last = _Window(self, _now())
                self._last.prepare()
        except Exception as e:
            self._count("failed", e)

    def _find_worker(self):
        given = self._given[2]
        if given is not None:
            return str(given)
        try:
            distributed = sys.modules["torch.distributed"]
            if distributed.is_available() and distributed.is_initialized():
                return str(distributed.get_rank())
        except Exception:
            pass  # not used, or half imported
        return os.environ.get("RANK") or os.environ.get("NEURON_RT_VISIBLE_CORES") or "0"

    def _schedule(self, now):
        """The next slot: a window begins at its first step."""
        self._due_ns = self._due_step = _NEVER
        if self._torch is None:
            return
        if self._every_steps:
            offset = _offset(self._worker, self._every_steps)
            after = max(self._steps, _STEPS_FIRST)
            self._due_step = after + self._every_steps - (after - offset) % self._every_steps
        elif self._every_ns:
            wait = max(self._not_before_ns - now, 0)
            into = (time.time_ns() + wait - _offset(self._worker, self._every_ns)) % self._every_ns
            self._due_ns = now + wait + self._every_ns - into
            if wait > self._every_ns:
                self._count("budget")

    def _hindrance(self, now):
        """The word for what stands in the way of a window, or None."""
        if _guard.busy(self._torch):
            return "busy"
        if now < self._not_before_ns:
            return "budget"
        if not os.path.isdir(self._dir):
            return "missing"
        if any(os.path.exists(f"{self._dir}/{name}") for name in (".paused", ".paused-by-daemon")):
            return "paused"
        if not os.access(self._dir, os.W_OK | os.X_OK):
            return "unwritable"
        disk = os.statvfs(self._dir)
        if disk.f_bavail * disk.f_frsize < _FREE_BYTES + 4 * self._largest:
            return "full"
        if _count_unread(self._dir, self._neuron_dir) >= self._keep:
            return "unread"
        return None

    def _begin_if_possible(self, now):
        if self._steps < _STEPS_FIRST:
            if "young" not in self.counts:
                self._count("young")
            return
        word = self._hindrance(now)
        if word:
            self._count(word)
            self._schedule(now)
            return
        if not self._counter:
            self._open_counter()  # the folder may be there only now
        self._worker = self._find_worker()  # torch.distributed may have been set up meanwhile
        self._window = _Window(self, now)
        self._begun += 1
        _guard.owner = self
        self._window.start()

    def _go_on(self, now):
        w = self._window
        if w.thread != threading.get_ident():
            if now - w.begun_ns > 10 * self._longest_ns + 60 * _S and "thread" not in self._told:
                self._count("thread")
            return
        if w.wanted and not w.stolen:
            self._finish("cancelled")
        elif w.stolen:
            if not _guard.others:  # now its end can do no harm to theirs
                self._finish("cancelled")
        elif w.recorded >= 0 and (w.recorded + 1 >= self._steps_wanted or now - w.recording_ns >= self._longest_ns):
            w.recorded += 1
            self._finish(None)
        else:
            w.step(now)

    def _finish(self, word):
        """Ends the window; with a word, without a trace, and counted by it."""
        w = self._window
        if w.thread != threading.get_ident() or (w.stolen and _guard.others):
            return  # only its own thread can end it, and not while libkineto works for somebody else
        try:
            w.stop(word is None)
            if word is None:
                word = w.write()
        finally:
            self._forget_window()
        self._count(word)
        if word == "taken" and self._on_window:
            try:
                self._on_window(w.profile)
            except Exception as e:
                self._count("hook", e)

    def _forget_window(self):
        w, self._window = self._window, None
        w.clean()
        _guard.owner = None
        self._ended += 1
        now = _now()
        self._not_before_ns = now + int(w.cost_ns / self._budget)
        self._inside_ns += now - w.begun_ns
        self._inside_steps += self._steps - w.begun_steps
        self._schedule(now)

    def _give_up(self):
        """After an error, wherever it was."""
        if self._window is not None:
            self._forget_window()
        else:
            self._schedule(_now())

    # ---- called by the guard and around forks

    def _yield(self):
        """The job begins a profile of its own, perhaps in another thread."""
        try:
            w = self._window
            if w is None:
                return
            if w.thread == threading.get_ident():
                self._finish("cancelled")
                self._set_wake(_now())
            else:
                w.wanted = True
                w.stolen = not w.over.wait(_YIELD_S)
        except Exception as e:
            self._count("failed", e)
            self._give_up()

    def _before_fork(self):
        """A child that was forked during a window would go on recording, and never end."""
        try:
            if self._window is not None:
                self._finish("forked")
        except Exception as e:
            self._count("failed", e)
            self._give_up()

    def _after_fork_in_child(self):
        closed, counter = self._closed, self._counter
        self._lock = threading.Lock()
        self._reset()
        self.counts = {"taken": 0}
        if closed:
            self._wake = _NEVER
            self._armed = self._closed = True
        try:
            if counter:
                counter.forget()
        except OSError:
            pass  # it was closed already


class _Window:
    """One window, from its beginning to its files."""

    def __init__(self, owner, now):
        self.owner, self.torch = owner, owner._torch
        self.thread = threading.get_ident()
        self.begun_ns, self.begun_steps = now, owner._steps
        self.start_wall_ns = self.recording_ns = 0
        self.recorded = -1  # steps; -1: warming up
        self.wanted = False  # by another thread, for a profile of the job's own
        self.stolen = False  # it could not wait, and has begun
        self.over = threading.Event()
        self.cost_ns = 0  # in here, of the job's time
        self.profile = self.exporter = None
        self.neuron_dir = None
        self.trace = f"{owner._dir}/{_PREFIX}{os.getpid()}-{time.time_ns()}.json"
        self.tmp = f"{self.trace}.tmp"

    def _spend(self, function, *args):
        began = _now()
        try:
            return _guard.call(function, *args)
        finally:
            self.cost_ns += _now() - began

    def start(self):
        actions = self.torch.profiler.ProfilerAction
        self._spend(self._start, lambda n: actions.RECORD if n else actions.WARMUP)

    def prepare(self):
        p = self.torch.profiler
        self.profile = p.profile(activities=[p.ProfilerActivity.CPU], schedule=lambda n: p.ProfilerAction.WARMUP)
        _guard.call(self.profile.start)

    def begin_and_end(self):
        """Makes the device known: profilers of PrivateUse1 register with libkineto when a profile of theirs is first prepared."""
        self._spend(self._start, None)
        self._spend(self.profile.stop)

    def _start(self, schedule):
        self.profile = self.torch.profiler.profile(activities=self._activities(), schedule=schedule, **self._neuron())
        self.profile.start()

    def _device(self):
        """The name of a device that registered itself as PrivateUse1, as torch_neuronx does; or None."""
        name = self.torch._C._get_privateuse1_backend_name()
        return None if name == "privateuseone" else name

    def _activities(self):
        p = self.torch.profiler
        wanted = set(p.supported_activities())
        if self._device() and hasattr(p.ProfilerActivity, "PrivateUse1"):
            wanted.add(p.ProfilerActivity.PrivateUse1)
        return wanted

    def _neuron(self):
        """NeuronConfig and NeuronProfiler as the Neuron documents have them, where the job uses them anyway."""
        if "torch_neuronx" not in sys.modules or not self.owner._neuron or os.environ.get("NEURON_RT_INSPECT_ENABLE", "0") == "1":
            return {}
        try:
            from torch_neuronx.profiling import NeuronConfig, NeuronProfiler, ProfileMode
        except ImportError:
            return {}  # torch_neuronx for PyTorch/XLA has none
        self.neuron_dir = self.owner._neuron_dir or tempfile.mkdtemp(
            prefix=_PREFIX, suffix=".tmp", dir=self.owner._dir if os.path.isdir(self.owner._dir) else None)
        config = NeuronConfig(modes=[getattr(ProfileMode, mode) for mode in self.owner._neuron], profile_output_dir=self.neuron_dir)
        self.exporter = NeuronProfiler(config)
        return {"experimental_config": config}

    def step(self, now):
        if self.recorded < 0:
            self.start_wall_ns, self.recording_ns = time.time_ns(), now
        self._spend(self.profile.step)
        self.recorded += 1

    def stop(self, whole):
        if whole:
            self._spend(self._synchronize)
        self._spend(self.profile.stop)

    def _synchronize(self):
        """What was launched in the window belongs to it."""
        module = getattr(self.torch, self._device() or "", None)
        if hasattr(module, "synchronize"):
            module.synchronize()

    def write(self):
        """Puts sidecar and trace into the folder; returns the word to count."""
        return self._spend(self._write)

    def _write(self):
        owner = self.owner
        self._export()
        if not _is_whole(self.tmp):
            return "unwritten"
        size = os.path.getsize(self.tmp)
        owner._largest = max(owner._largest, size)
        if size > _TRACE_BYTES:
            owner._steps_wanted = max(owner._steps_wanted // 2, 1)
        if owner._gzip:
            self.trace += ".gz"
            _compress(self.tmp, f"{self.trace}.tmp")
            self.tmp = f"{self.trace}.tmp"
        if _count_unread(owner._dir, None) >= owner._keep:
            return "unread"  # other workers wrote theirs meanwhile
        sidecar = f"{self.trace}{_SIDECAR}"
        with open(f"{sidecar}.tmp", "w") as file:
            json.dump(self._sidecar(), file)
        os.rename(f"{sidecar}.tmp", sidecar)
        try:
            os.rename(self.tmp, self.trace)
        except OSError:
            os.unlink(sidecar)
            raise
        return "taken"

    def _export(self):
        """By way of Neuron's exporter where there is one, since a trace can be exported only once and that one keeps the NEFFs too."""
        export, to = self.profile.export_chrome_trace, []

        def note(path, *args, **kwargs):
            export(path, *args, **kwargs)
            to.append(path)

        if self.exporter is not None:
            self.profile.export_chrome_trace = note
            self.exporter.export_trace(self.profile)
        if to:
            shutil.copyfile(to[-1], self.tmp)
        else:
            export(self.tmp)

    def _sidecar(self):
        service, deploy, _, labels = self.owner._given
        said = {
            "service": service or os.environ.get("TRAINSPOTTER_SERVICE") or os.environ.get("NEURON_PROCESS_TAG"),
            "deploy": deploy or os.environ.get("TRAINSPOTTER_DEPLOY"),
            "worker": self.owner._worker,
            "start_ns": self.start_wall_ns,
            "labels": {str(key): str(value) for key, value in (labels or {}).items()},
            "pid": os.getpid(),
        }
        return {key: value if key in ("start_ns", "labels", "pid") else str(value) for key, value in said.items() if value}

    def clean(self):
        """Whatever went wrong: no profile of ours stays active. Removes what was not finished, and what the Neuron runtime wrote
        unless it is wanted."""
        try:
            if self.thread == threading.get_ident() and not self.stolen and self.torch.autograd._profiler_enabled():
                self._spend(self.torch.autograd.profiler._disable_profiler)
        except Exception:
            pass  # it was not active after all
        self.over.set()
        for path in (self.tmp, f"{self.tmp}.tmp", f"{self.trace}{_SIDECAR}.tmp"):
            try:
                os.unlink(path)
            except OSError:
                pass  # it was not there
        if self.neuron_dir and not self.owner._neuron_dir:
            shutil.rmtree(self.neuron_dir, ignore_errors=True)
