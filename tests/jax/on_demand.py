"""The source "xla" against an unmodified JAX: real jobs, the real agent, the real daemon. TAP.

on_demand.py BUILD-FOLDER, with the interpreter that has jax. One job says its port in its environment, another is named in the
configuration and profiles itself all the time, a third one has files of its own as in a container; the agent is killed in the middle of a
window and started again; the jobs must not notice. Then a deploy runs op by op what was one compiled module, and the daemon must say so.
"""
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, f"{HERE}/../torch")
import fleet  # noqa: E402

SLOWEST_EXIT_S = 15
WINDOW_S = 0.5
DIR = "/var/tmp"
# with files of its own there, as a container has them
CONTAINED = ["unshare", "--mount", "sh", "-c", f'mount -t tmpfs none {DIR} && exec "$@"', "sh"]
CONFIG = """
capture:
  interval: 5s
  min_age: 2s
  duration: 500ms
  max_at_once: 2
xla:
  enabled: yes
  scan: 1s
  timeout: 10s
  dir: {dir}
  jobs:
    - address: 127.0.0.1:{selfish}
      service: selfish
poll:
  interval: 1s
log:
  level: debug
"""


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def start_job(f, name, kind, stop, inside=(), **env):
    return f.start(name, [*inside, sys.executable, f"{HERE}/job.py", kind, f"{f.dir}/{stop}", f"{f.dir}/{name}.json"],
                   OMP_NUM_THREADS="1", JAX_PLATFORMS="cpu", **env)


def wait_for_ends(f, jobs):
    """Their times, once they have ended; says how."""
    ended = {}

    def all_ended():
        for name, job in jobs.items():
            if job.poll() is not None:
                ended.setdefault(name, time.time())
        return len(ended) == len(jobs)

    fleet.wait_for(all_ended, 60)
    times = {}
    for name, job in jobs.items():
        times[name] = json.loads(f.read(f"{name}.json")) if job.returncode == 0 else {"steps": [], "ended": 0}
        delay = ended.get(name, time.time()) - times[name]["ended"]
        fleet.say(f"{name}: exit status {job.returncode}, {delay:.1f} s after the end of its loop")
        fleet.ok(job.returncode == 0 and delay < SLOWEST_EXIT_S, f"the job '{name}' ends well, and in time")
    return times


def say_cost(f, service, times):
    """Step times inside windows, in the second after each, and elsewhere."""
    places = {"in": [], "after": [], "outside": []}
    spans = [(w["start_ns"], w["start_ns"] + w["dur_ns"]) for w in f.windows(service)]
    for began, took in times["steps"]:
        place = "outside"
        for start, end in spans:
            if start <= began < end:
                place = "in"
            elif end <= began < end + 1e9:
                place = "after"
        places[place].append(took)
    text = ", ".join(f"{name} {fleet.median(v) / 1e6:.3f} ms (p99 {sorted(v)[len(v) * 99 // 100] / 1e6:.2f}, {len(v)} steps)"
                     for name, v in places.items() if v)
    fleet.say(f"{service}: median step {text}")
    inside, outside = fleet.median(places["in"]), fleet.median(places["outside"])
    fleet.ok(inside and outside and inside < 3 * outside, "a step in a window takes no more than three times as long")


def folders():
    return [name for name in os.listdir(DIR) if name.startswith("trainspotter-xla.")]


def kill_in_window(f, port):
    """Right after the agent has asked for a window there."""
    def count():
        return f.read("agent.log").count(f"xla.asked address=127.0.0.1:{port} ")

    asked = count()
    fleet.wait_for(lambda: count() > asked)
    f.agent.kill()
    f.agent.wait()


def ends(f, word):
    return re.findall(rf"xla\.window .*end={word}\b.*", f.read("agent.log"))


def say_ends(f):
    found = re.findall(r'xla\.window .*service="(\w*)" end=(\w+)', f.read("agent.log"))
    fleet.say("windows: " + ", ".join(f"{service} {end} {found.count((service, end))}" for service, end in sorted(set(found))))


def main():
    f = fleet.Fleet(sys.argv[1])
    before = folders()
    port, selfish_port = free_port(), free_port()
    f.start_daemon("capture:\n  poll: 1s\n")
    f.start_agent(CONFIG.format(selfish=selfish_port, dir=DIR))
    jit = start_job(f, "v1", "jit", "stop-v1", TRAINSPOTTER_XLA_PORT=str(port), TRAINSPOTTER_SERVICE="llm", TRAINSPOTTER_DEPLOY="v1",
                    RANK="0")
    selfish = start_job(f, "selfish", "selfish", "stop-v1", PORT=str(selfish_port))

    jobs = {"v1": jit, "selfish": selfish}
    if subprocess.run([*CONTAINED, "true"], stderr=subprocess.DEVNULL).returncode == 0:
        jobs["contained"] = start_job(f, "contained", "jit", "stop-v1", CONTAINED,
                                      TRAINSPOTTER_XLA_PORT=str(free_port()), TRAINSPOTTER_SERVICE="contained")

    fleet.ok(f.has_more("llm", 0, 2), "a job that says its port in its environment is profiled on schedule")
    first = f.windows("llm")[0]
    fleet.ok((first["source"], first["deploy"], first["host"], first["worker"]) == ("xla", "v1", "h1", "0"),
             "whose window it is comes from the environment")
    fleet.ok(first["has_device"] and first["steps"] > 10 and abs(first["dur_ns"] / 1e9 - WINDOW_S) < 0.4,
             "a window is as long as asked for and holds the job's steps")
    rows = f.ask("top?service=llm&from=now-1h")["items"]
    fleet.ok([r for r in rows if r["kind"] == "hlo" and r["device_self_ns"] > 0] and
             [r for r in rows if r["op"].startswith("hlo_module jit_model")], "the windows hold the job's HLO ops and its module")
    fleet.ok(fleet.wait_for(lambda: ends(f, "busy")), "a job that profiles itself is busy, and left alone")
    fleet.ok(ends(f, "busy") and "cure=" in ends(f, "busy")[0], "that is said with what there is to do about it")

    if "contained" in jobs:
        fleet.ok(f.has_more("contained", 0), "a job that has files of its own there, as in a container, is profiled, too")
    else:
        fleet.skip("no mount namespace can be made here")

    kill_in_window(f, port)
    left = [name for name in folders() if name not in before]
    had = len(f.windows("llm"))
    f.start_agent()
    fleet.ok(f.has_more("llm", had, 2), "windows go on after the agent was killed in one and started again")
    fleet.ok(all(job.poll() is None for job in jobs.values()), "all jobs are alive")
    open(f"{f.dir}/stop-v1", "w").close()
    say_cost(f, "llm", wait_for_ends(f, jobs)["v1"])

    had = len(f.windows("llm"))
    eager = start_job(f, "v2", "op_by_op", "stop-v2", TRAINSPOTTER_XLA_PORT=str(port), TRAINSPOTTER_SERVICE="llm", TRAINSPOTTER_DEPLOY="v2",
                      RANK="0")
    fleet.ok(f.has_more("llm", had, 3), "the next deploy at the same port is profiled, too")
    alerts = fleet.wait_for(lambda: [a for a in f.ask("alerts?service=llm")["items"] if a["kind"] == "fusion_lost"])
    for a in alerts:
        fleet.say(f"{a['state']}: {a['sentence']}")
    fleet.ok(alerts and alerts[0]["deploy"] == "v2" and alerts[0]["state"] == "firing",
             "a deploy that runs op by op what was compiled raises the alert")
    open(f"{f.dir}/stop-v2", "w").close()
    wait_for_ends(f, {"v2": eager})

    fleet.ok(left and fleet.wait_for(lambda: not set(left) & set(folders()), 180),
             "the folder of the window that the agent was killed in is removed")
    fleet.ok(f.end_agent(signal.SIGTERM) == 0, "the agent ends well")
    fleet.ok(not set(folders()) - set(before), "no folder stays behind")
    say_ends(f)
    for line in re.findall(r"xla\.status.*", f.read("agent.log"))[-1:]:
        fleet.say(line)
    fleet.finish()


main()
