"""The source "kineto" against an unmodified PyTorch: real jobs, the real agent, the real daemon. TAP.

on_demand.py BUILD-FOLDER, with the interpreter that has torch. A training loop is found by the abstract socket, an inference loop by one
in a folder; windows by time and by iteration; the agent is killed and started again; the jobs must not notice. Where there is a C++
compiler a third job has a made-up accelerator (device.cpp), whose events must arrive.
"""
import importlib.util
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request

BUILD = os.path.abspath(sys.argv[1])
HERE = os.path.dirname(os.path.abspath(__file__))
DIR = tempfile.mkdtemp(prefix="ts-torch.", dir="/tmp")  # short: a socket's folder may have 50 bytes
PATIENCE_S = 90
SLOWEST_EXIT_S = 30  # a window may be under way
processes = []
number = 0
failed = 0


def ok(good, sentence):
    global number, failed
    number += 1
    failed += not good
    print(f"{'ok' if good else 'not ok'} {number} - {sentence}", flush=True)


def number_skipped(why):
    global number
    number += 1
    print(f"ok {number} # SKIP {why}", flush=True)


def start(name, argv, **env):
    log = open(f"{DIR}/{name}.log", "ab")
    p = subprocess.Popen(argv, stdout=subprocess.PIPE if "job.py" in argv[1] else log, stderr=log,
                         env={**os.environ, **env}, cwd=DIR)
    processes.append(p)
    return p


def wait_for(what, seconds=PATIENCE_S):
    until = time.time() + seconds
    while time.time() < until:
        got = what()
        if got:
            return got
        time.sleep(0.5)
    return what()


def read(name):
    with open(f"{DIR}/{name}", errors="replace") as f:
        return f.read()


def start_daemon():
    with open(f"{DIR}/daemon.yaml", "w") as f:
        f.write(f"store:\n  dir: {DIR}/store\nlisten:\n  port: 0\n")
    os.mkdir(f"{DIR}/store")
    start("daemon", [f"{BUILD}/trainspotterd", "--config", "daemon.yaml"])
    return int(wait_for(lambda: re.search(r"daemon\.listening.*port=(\d+)", read("daemon.log")), 20)[1])


def write_config(port, capture, kineto=""):
    with open(f"{DIR}/agent.yaml", "w") as f:
        f.write(f"server: http://127.0.0.1:{port}\nstate_dir: {DIR}/state\nhost: h1\n"
                f"capture:\n  interval: 8s\n  min_age: 8s\n  max_at_once: 2\n  {capture}\n"
                f"kineto:\n  enabled: yes\n  socket_dirs: [{DIR}/s]\n  {kineto}\n"
                "log:\n  level: debug\n")


def start_agent():
    return start("agent", [f"{BUILD}/trainspotter-agent", "--config", "agent.yaml"])


def start_job(name, kind, **env):
    return start(name, [sys.executable, f"{HERE}/job.py", kind, f"{DIR}/stop"], KINETO_USE_DAEMON="1", KINETO_LOG_LEVEL="4",
                 TRAINSPOTTER_SERVICE=name, TRAINSPOTTER_DEPLOY="v1", **env)


def build_device():
    """The library, or None where nothing can build it."""
    torch = os.path.dirname(importlib.util.find_spec("torch").origin)
    if not shutil.which("g++"):
        return None
    done = subprocess.run(["g++", "-std=c++20", "-O1", "-fPIC", "-shared", "-DUSE_KINETO", "-DFMT_HEADER_ONLY",
                           f"-I{torch}/include", f"-I{torch}/include/kineto", f"{HERE}/device.cpp", "-o", f"{DIR}/device.so",
                           f"-L{torch}/lib", "-ltorch_cpu", "-lc10"], stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        print(done.stderr[-3000:], file=sys.stderr)
    return f"{DIR}/device.so"


def ask(port, path):
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/api/v1/{path}", timeout=10) as answer:
        return json.load(answer)


def windows(port, service):
    return ask(port, f"windows?service={service}&limit=1000")["items"]


def has_more(port, service, than, count=1):
    return wait_for(lambda: len(windows(port, service)) >= than + count)


def wait_for_exits(jobs):
    """When each of them ended, by name."""
    ended = {}

    def look():
        for name, job in jobs.items():
            if name not in ended and job.poll() is not None:
                ended[name] = time.time()
        return len(ended) == len(jobs)

    wait_for(look, 60)
    return ended


def main():
    port = start_daemon()
    os.mkdir(f"{DIR}/s")
    write_config(port, "duration: 300ms")
    agent = start_agent()
    train = start_job("train", "train")
    serve = start_job("serve", "serve", KINETO_IPC_SOCKET_DIR=f"{DIR}/s")
    device = build_device()
    jobs = {"train": train, "serve": serve}
    if device:
        jobs["device"] = start_job("device", "serve", DEVICE=device, WARM="1")

    ok(has_more(port, "train", 0, 2), "a training loop is profiled on schedule, through the abstract socket")
    ok(has_more(port, "serve", 0, 2), "an inference loop is profiled on schedule, through a socket in a folder")
    ops = {r["op"]: r["calls"] for r in ask(port, "top?service=train&from=now-1h")["items"]}
    ok(ops.get("aten::linear", 0) > 10 and ops.get("aten::gelu_backward", 0) > 10, "the windows hold the ops that the job runs")
    first = windows(port, "train")[0]
    ok((first["source"], first["deploy"], first["host"]) == ("kineto", "v1", "h1"), "whose window it is comes from the environment")
    if device:
        has_device = wait_for(lambda: [w for w in windows(port, "device") if w["has_device"]])
        ok(has_device, "the events of an accelerator arrive on demand, after one empty profile at the start of the job")
        rows = ask(port, "top?service=device&from=now-1h")["items"]
        ok([r for r in rows if r["kind"] == "kernel" and r["device_self_ns"] >= 1000 * r["calls"] > 0] and
           [r for r in rows if r["op"] == "aten::addmm" and r["device_total_ns"] > 0], "device time stands in the rows of kernels and of ops")
    else:
        number_skipped("no g++: a made-up accelerator cannot be built")
    pids = "|".join(str(job.pid) for job in jobs.values())
    ok(not [f for f in os.listdir("/tmp") if re.fullmatch(rf"trainspotter_.*_({pids})\.json(\.tmp)?", f)
            and os.path.getmtime(f"/tmp/{f}") < time.time() - 10], "traces that were taken are gone")

    agent.kill()
    agent.wait()
    had = len(windows(port, "train")), len(windows(port, "serve"))
    time.sleep(3)
    write_config(port, "iterations: 5", "roundup: 50")
    agent = start_agent()
    ok(has_more(port, "train", had[0], 2), "windows go on after the agent was killed and started again")
    five = [w for w in windows(port, "train") if w["steps"] == 5 and w["steps_from"] == "optimizer"]
    ok(len(five) >= 1, "by iteration, a window has exactly the steps asked for")
    ok(has_more(port, "serve", had[1]), "a loop without an optimizer gets its window by time all the same")
    ok(all(job.poll() is None for job in jobs.values()), "all jobs are alive")

    open(f"{DIR}/stop", "w").close()
    ended = wait_for_exits(jobs)
    for name, job in jobs.items():
        delay = ended.get(name, float("inf")) - float(job.stdout.read() if name in ended else 0)
        print(f"# {name}: exit status {job.returncode}, {delay:.1f} s after the end of its loop")
        ok(job.returncode == 0 and delay < SLOWEST_EXIT_S, f"the job '{name}' ends well, and in time")
    agent.send_signal(signal.SIGTERM)
    ok(agent.wait(timeout=30) == 0, "the agent ends well")
    for line in re.findall(r"kineto\.status.*", read("agent.log"))[-1:]:
        print(f"# {line}")
    ok("strange=0" in line and "bad_polls=0" in line, "no poll of the real client was taken for something else")
    print(f"1..{number}")


try:
    main()
finally:
    for p in processes:
        if p.poll() is None:
            p.kill()
    if failed:
        print(read("agent.log")[-6000:], file=sys.stderr)
    shutil.rmtree(DIR, ignore_errors=True)
sys.exit(1 if failed else 0)
