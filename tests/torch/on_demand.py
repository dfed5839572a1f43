"""The source "kineto" against an unmodified PyTorch: real jobs, the real agent, the real daemon: on_demand.py BUILD-FOLDER. TAP.

A training loop is found by the abstract socket, an inference loop by one in a folder; windows by time and by iteration, on the daemon's
leases, on request and not while capture is paused. The agent stays alive, is restarted, stopped, killed; the jobs must not notice: exit
status, how long they take to end, how long their steps take. Where there is a C++ compiler more jobs have a made-up accelerator
(device.cpp), whose events must arrive.
"""
import json
import os
import re
import signal
import sys
import time

from fleet import HERE, Fleet, finish, median, ok, say, skip, wait_for

fleet = Fleet(sys.argv[1])
INTERVAL_S = 8
# From the end of a job's loop to the end of its process. Measured on an idle machine (doc/capture.md): 1.1 s without the variable, 1.7 to 4.7 s
# with a live agent, 12 s during a window, 8.8 s when the agent had gone ten seconds before, 39 s when it went while the job was ending.
SLOWEST_EXIT_S = {"alive": 20, "restarted": 20, "stopped": 25, "killed": 60}


def agent_config(capture, kineto=""):
    return (f"poll:\n  interval: 2s\ncapture:\n  interval: {INTERVAL_S}s\n  min_age: 8s\n  max_at_once: 4\n  {capture}\n"
            f"kineto:\n  enabled: yes\n  socket_dirs: [{fleet.dir}/s]\n  {kineto}\nlog:\n  level: debug\n")


def start_job(name, kind, **env):
    return fleet.start(name, [sys.executable, f"{HERE}/job.py", kind, f"{fleet.dir}/{name}.stop"], KINETO_USE_DAEMON="1", KINETO_LOG_LEVEL="4",
                       TRAINSPOTTER_SERVICE=name, TRAINSPOTTER_DEPLOY="v1", **env)


def start_helped(name, kind, **env):
    """A job with the helper, which leaves windows to the agent and runs one empty profile at its start and one at its end."""
    settings = {"every": 0, "dir": f"{fleet.dir}/in"}
    return fleet.start(name, [sys.executable, f"{HERE}/self.py", kind, fleet.dir, f"{fleet.dir}/{name}.stop"], KINETO_USE_DAEMON="1",
                       KINETO_LOG_LEVEL="4", TRAINSPOTTER_SERVICE=name, HELPER=json.dumps(settings), PYTHONPATH=f"{HERE}/../../python", **env)


def start_pair(which):
    return {f"train-{which}": start_job(f"train-{which}", "train"),
            f"serve-{which}": start_job(f"serve-{which}", "serve", KINETO_IPC_SOCKET_DIR=f"{fleet.dir}/s")}


def tell_steps(name, steps):
    """How long steps took inside windows and outside; what loads and warms up is left out."""
    steps = [s for s in steps if s[0] > steps[0][0] + 1e9]
    windows = [(w["start_ns"], w["start_ns"] + w["dur_ns"]) for w in fleet.windows(name)]

    def near(begin, end):
        return [took for began, took in steps if any(a + begin <= began < b + end for a, b in windows)]

    inside, after = near(0, 0), near(0, 2e9)
    everywhere_else = [took for began, took in steps if not any(a - 2e9 <= began < b + 2e9 for a, b in windows)]
    if not inside or not everywhere_else:
        return ok(False, f"{name}: there are steps inside windows and outside")
    in_us, out_us = median(inside) / 1e3, median(everywhere_else) / 1e3
    say(f"{name}: a step takes {out_us:.0f} us outside (slowest {max(everywhere_else) / 1e3:.0f}), {in_us:.0f} us inside {len(windows)} windows "
        f"({100 * (in_us / out_us - 1):+.0f} %), at most {max(after) / 1e3:.0f} us in them and the 2 s after, when the trace is written")
    return ok(in_us < 3 * out_us + 200, f"{name}: a window does not stop the job")


def end_jobs(jobs, how):
    """Not during a window: see in_a_window."""
    fleet.trainspotter("capture", "--pause", "--reason", "jobs end")
    time.sleep(12)  # a poll of the agent, and what was under way
    if how == "killed":
        fleet.end_agent(signal.SIGKILL)
    elif how == "stopped":
        ok(fleet.end_agent() == 0, "the agent ends well")
        time.sleep(10)
    for name in jobs:
        fleet.write(f"{name}.stop", "")
    for name, job in jobs.items():
        ended = wait_for(lambda: getattr(job, "ended", None), 90)
        lines = [line for line in fleet.read(f"{name}.log").splitlines() if line.startswith('{"ended"')]
        if not ok(ended and job.returncode == 0 and lines, f"{name}: the job ends well, with the agent {how}"):
            continue
        said = json.loads(lines[-1])
        delay = ended - said["ended"]
        say(f"{name}: {delay:.1f} s from the end of its loop to its end")
        ok(delay < SLOWEST_EXIT_S[how], f"{name}: and in time, within {SLOWEST_EXIT_S[how]} s")
        if isinstance(said["steps"], list):
            tell_steps(name, said["steps"])
    fleet.trainspotter("capture", "--resume")


def in_a_window():
    """torch 2.15 crashes most processes that end while a window of theirs is being taken on demand. A profile of their own in atexit,
    which the helper begins, cancels it first."""
    fleet.end_agent()
    fleet.start_agent(agent_config("duration: 6s"))
    jobs = {f"careful-{i}": start_helped(f"careful-{i}", "serve") for i in range(3)}
    jobs["careless"] = start_job("careless", "serve")
    for name in jobs:
        ok(fleet.has_more(name, 0, 1, 120), f"{name}: the job has a window of six seconds each eight")
    for name in jobs:
        fleet.write(f"{name}.stop", "")
    for name, job in jobs.items():
        job.wait(timeout=60)
        if name == "careless":
            say(f"careless: a job without that ends with {job.returncode}")
        else:
            ok(job.returncode == 0, f"{name}: a job with the helper ends well in the middle of a window")


def on_schedule(name, count):
    """So many windows, one an interval."""
    if not ok(fleet.has_more(name, 0, count, 120), f"{name}: the job is profiled on schedule"):
        return
    starts = [w["start_ns"] / 1e9 for w in fleet.windows(name)]
    each = (starts[-1] - starts[0]) / (len(starts) - 1)
    # polls come every five seconds, so windows begin up to that later than they are due
    ok(abs(each - INTERVAL_S) < 5 / (len(starts) - 1) + 1, f"{name}: one window an interval ({each:.1f} s for {INTERVAL_S})")


def devices(device):
    """The events of an accelerator arrive on demand, after one empty profile at the start of the job."""
    for name in "device", "helped":
        ok(wait_for(lambda: [w for w in fleet.windows(name) if w["has_device"]]), f"{name}: device events arrive on demand, after one empty profile")
        rows = fleet.ask(f"top?service={name}&from=now-1h")["items"]
        ok([r for r in rows if r["kind"] == "kernel" and r["device_self_ns"] >= 1000 * r["calls"] > 0] and
           [r for r in rows if r["op"] == "aten::addmm" and r["device_total_ns"] > 0], f"{name}: device time stands in the rows of kernels and of ops")


def asked():
    """From the request on the command line to the stored window."""
    begun = time.time()
    done = fleet.trainspotter("capture", "--service", "train-1", "--duration", "200ms", "--reason", "a test", "--timeout", "90s")
    captures = fleet.ask("captures?service=train-1")["items"]
    target = captures[0]["targets"][0] if captures else {}
    say(f"a capture that was asked for took {time.time() - begun:.1f} s: {target}")
    good = ok(done.returncode == 0 and target.get("state") == "taken", "trainspotter capture gets a window, and exits 0 when it is there")
    if not good:
        say(f"{done.returncode} {done.stdout} {done.stderr}")
        return
    window = wait_for(lambda: [w for w in fleet.windows("train-1") if w["id"] == target["window"]], 20)
    ok(window and window[0]["start_ns"] / 1e9 > begun and 0.1e9 < window[0]["dur_ns"] < 1.5e9, "it is stored, is of after the request, and as long as was asked for")


def paused():
    """The kill switch, over a restart of the agent too."""
    ok(fleet.trainspotter("capture", "--pause", "--reason", "a test").returncode == 0, "capture can be paused")
    time.sleep(12)  # a poll of the agent, and the windows that were under way
    had = len(fleet.windows("train-1")), len(fleet.windows("serve-1"))
    time.sleep(2 * INTERVAL_S)
    ok(fleet.end_agent() == 0, "the agent ends well")
    fleet.start_agent()
    time.sleep(INTERVAL_S + 4)
    ok((len(fleet.windows("train-1")), len(fleet.windows("serve-1"))) == had, "while capture is paused there is no window, after a restart of the agent neither")
    ok(fleet.trainspotter("capture", "--resume").returncode == 0 and fleet.has_more("train-1", had[0]), "windows go on when it is lifted")


def main():
    fleet.start_daemon("capture:\n  poll: 2s\n  max_share: 100\n")
    os.mkdir(f"{fleet.dir}/s")
    os.mkdir(f"{fleet.dir}/in")
    fleet.start_agent(agent_config("duration: 300ms"))
    jobs = start_pair("1")
    device = fleet.build_device()
    if device:
        jobs["device"] = start_job("device", "serve", DEVICE=device, WARM="1")
        jobs["helped"] = start_helped("helped", "device", DEVICE=device)

    on_schedule("train-1", 3)
    on_schedule("serve-1", 3)
    ops = {r["op"]: r["calls"] for r in fleet.ask("top?service=train-1&from=now-1h")["items"]}
    ok(ops.get("aten::linear", 0) > 10 and ops.get("aten::gelu_backward", 0) > 10, "the windows hold the ops that the job runs")
    first = fleet.windows("train-1")[0]
    ok((first["source"], first["deploy"], first["host"]) == ("kineto", "v1", "h1"), "whose window it is comes from the environment")
    if device:
        devices(device)
    else:
        skip("no g++: a made-up accelerator cannot be built")
    asked()
    paused()
    pids = "|".join(str(job.pid) for job in jobs.values())
    ok(not [f for f in os.listdir("/tmp") if re.fullmatch(rf"trainspotter_.*_({pids})\.json(\.tmp)?", f)
            and os.path.getmtime(f"/tmp/{f}") < time.time() - 10], "traces that were taken are gone")
    end_jobs(jobs, "alive")

    fleet.end_agent()
    fleet.start_agent(agent_config("iterations: 5", "roundup: 50"))
    jobs, others = start_pair("2"), start_pair("3")
    on_schedule("train-2", 3)
    five = [w for w in fleet.windows("train-2") if w["steps"] == 5 and w["steps_from"] == "optimizer"]
    ok(len(five) >= 2, "by iteration, a window has exactly the steps asked for")
    ok(fleet.has_more("serve-2", 0), "a loop without an optimizer gets its window by time all the same")
    fleet.end_agent(signal.SIGKILL)
    time.sleep(3)
    had = {name: len(fleet.windows(name)) for name in jobs}
    fleet.start_agent()
    for name in jobs:
        ok(fleet.has_more(name, had[name], 2 if name == "train-2" else 1), f"{name}: windows go on after the agent was killed and started again")
    end_jobs(jobs, "restarted")

    ok(fleet.has_more("train-3", 0) and fleet.has_more("serve-3", 0), "two more jobs have their windows")
    end_jobs(others, "stopped")
    for line in re.findall(r"kineto\.status.*", fleet.read("agent.log"))[-1:]:
        say(line)
    ok("strange=0" in line and "bad_polls=0" in line, "no poll of the real client was taken for something else")

    fleet.start_agent()
    jobs = start_pair("4")
    ok(fleet.has_more("train-4", 0, 2) and fleet.has_more("serve-4", 0, 2), "the last two jobs have their windows")
    end_jobs(jobs, "killed")

    fleet.start_agent()
    in_a_window()
    finish()


main()
