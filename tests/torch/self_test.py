"""Jobs that profile themselves by python/trainspotter.py, with an unmodified PyTorch: self_test.py BUILD-FOLDER. TAP.

Every number of every window is compared with what PyTorch's own key_averages() said in the job at that moment: of the trace by
`trainspotter summarize`, of the stored window by way of agent and daemon, and of all windows together by the top table."""
import json
import os
import subprocess
import sys
import time
from collections import defaultdict

from fleet import HERE, Fleet, ok, finish, say, skip, wait_for

fleet = Fleet(sys.argv[1])
JOB = f"{HERE}/self.py"
HELPER = os.path.join(HERE, "../../python")
COLUMNS = ("calls", "cpu_self", "cpu", "device_self", "device_total")


def start_job(name, kind, more=None, stop=None, **env):
    os.makedirs(f"{fleet.dir}/{name}", exist_ok=True)
    settings = {"service": name, "deploy": "v1", "dir": f"{fleet.dir}/in", "every": 2, "steps": 5, "budget": 1, **(more or {})}
    return fleet.start(name, [sys.executable, JOB, kind, f"{fleet.dir}/{name}", f"{fleet.dir}/{stop or name}.stop"],
                       HELPER=json.dumps(settings), PYTHONPATH=HELPER, KINETO_LOG_LEVEL="4", **env)


def stop_job(name, job, seconds=60):
    """What it said of itself at its end; exit status and delay, too."""
    fleet.write(f"{name}.stop", "")
    try:
        job.wait(timeout=seconds)
    except subprocess.TimeoutExpired:
        return None
    lines = [line for line in fleet.read(f"{name}.log").splitlines() if line.startswith('{"ended"')]
    if not ok(job.returncode == 0 and lines, f"{name}: the job ends well"):
        return None
    said = json.loads(lines[-1])
    said["delay"] = wait_for(lambda: getattr(job, "ended", None)) - said["ended"]
    return said


def tables(name):
    """key_averages() of each window, oldest first."""
    found = []
    for file in os.listdir(f"{fleet.dir}/{name}"):
        if file.endswith(".json"):
            with open(f"{fleet.dir}/{name}/{file}") as f:
                found.append(json.load(f))
    return [f["rows"] for f in sorted(found, key=lambda f: f["start_ns"])]


def traces(name):
    """Of a service, oldest first, from where the agent put them."""
    found = []
    for file in os.listdir(f"{fleet.dir}/done"):
        if file.endswith(".meta.json"):
            with open(f"{fleet.dir}/done/{file}") as f:
                side = json.load(f)
            if side["service"] == name:
                found.append((side["start_ns"], f"{fleet.dir}/done/{file[:-len('.meta.json')]}"))
    return [path for _, path in sorted(found)]


def as_table(rows):
    return sorted((r["name"], r["device"], r["annotation"]) + tuple(r[c] for c in COLUMNS) for r in rows)


def summarized(path):
    done = fleet.trainspotter("summarize", "--format", "tsv", path)
    lines = [line.split("\t") for line in done.stdout.splitlines()]
    assert lines[0] == ["name", "is_device", "is_user_annotation", "count", "self_cpu_ns", "cpu_total_ns", "self_device_ns", "device_total_ns"]
    return sorted((line[0], line[1] == "1", line[2] == "1") + tuple(map(int, line[3:])) for line in lines[1:])


def stored(rows):
    """Rows of the API, in which kinds stand for what is device and annotation."""
    return sorted((r["op"], r["calls"], r["cpu_self_ns"], r["cpu_total_ns"], r["device_self_ns"], r["device_total_ns"])
                  for r in rows if r["kind"] != "gap")


def without_kind(table):
    return sorted(row[:1] + row[3:] for row in table)


def merged(every_table):
    sums = defaultdict(lambda: [0] * len(COLUMNS))
    for table in every_table:
        for row in table:
            key = row[:3]
            sums[key] = [a + b for a, b in zip(sums[key], row[3:])]
    return sorted(key + tuple(values) for key, values in sums.items())


def compare(name, at_least):
    """All windows of a job that has ended; the agent may still be at the last."""
    expected = [as_table(rows) for rows in tables(name)]
    wait_for(lambda: len(fleet.windows(name)) >= len(expected), 30)
    files = traces(name)
    rows = sum(map(len, expected))
    ok(len(files) == len(expected) >= at_least, f"{name}: each window of the job left its trace ({len(files)} of {len(expected)})")
    ok([summarized(path) for path in files] == expected, f"{name}: summarize gives key_averages() of the job, to the nanosecond ({rows} rows)")
    windows = [fleet.ask(f"windows/{w['id']}") for w in fleet.windows(name)]
    ok([stored(w["ops"]) for w in windows] == [without_kind(t) for t in expected], f"{name}: so does each stored window")
    top = sum((fleet.ask_all(f"top?service={name}&from=now-1h&kind={kind}&limit=1000") for kind in
               ("step", "cpu_op", "annotation", "region", "runtime", "overhead", "kernel", "memcpy", "memset", "collective")), [])
    ok(stored(top) == without_kind(merged(expected)), f"{name}: and so does the top table, of all windows together")
    return windows


def tell_cost(name, said):
    """What windows took of the job, from the counter that the agent reads."""
    steps, last_ns, begun, ended, inside_steps, inside_ns, first_ns = said["counter"]
    outside = (last_ns - first_ns - inside_ns) / max(steps - 1 - inside_steps, 1)
    inside = inside_ns / max(inside_steps, 1)
    say(f"{name}: {steps} steps; {outside / 1e6:.2f} ms a step outside, {inside / 1e6:.2f} ms inside {ended} windows with their beginning and "
        f"end; step() {said['step_ns'] / 1e3:.1f} us outside; exit {said['delay']:.1f} s after the loop; {said['counts']}")
    return begun == ended and inside_steps > 0


def long_enough(name, count):
    return wait_for(lambda: len(tables(name)) >= count)


def compared_jobs():
    """Windows by time and by iteration, with a device, of two ranks."""
    device = fleet.build_device()
    ranks = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "29541", "WORLD_SIZE": "2"}
    jobs = {"train": start_job("train", "train"), "serve": start_job("serve", "serve", {"every": "300 steps", "gzip": True})}
    if device:
        jobs["device"] = start_job("device", "device", DEVICE=device)
    jobs["ranks"] = start_job("ranks", "rank", {"steps": 3}, "ranks", RANK="0", **ranks)
    jobs["ranks1"] = start_job("ranks1", "rank", {"steps": 3, "service": "ranks1"}, "ranks", RANK="1", **ranks)
    for name in jobs:
        long_enough(name, 3)
    fleet.write("ranks.stop", "")
    for name, job in jobs.items():
        said = stop_job(name, job)
        if not said:
            continue
        ok(tell_cost(name, said) and said["counts"]["taken"] >= 3, f"{name}: nothing but windows was counted, and all that began ended")
        windows = compare(name, 3)
        ok(all(w["steps"] == (3 if name.startswith("ranks") else 5) and w["steps_from"] == "marker" for w in windows),
           f"{name}: each window has the steps asked for")
        whose = {(w["deploy"], w["worker"], w["source"], w["host"]) for w in windows}
        ok(whose == {("v1", "1" if name == "ranks1" else "0", "watch", "h1")}, f"{name}: the sidecar says whose window it is")
        if name == "train":
            starts = [w["start_ns"] / 1e9 for w in windows]
            ok(all(abs(b - a - round((b - a) / 2) * 2) < 0.5 for a, b in zip(starts, starts[1:])), "train: windows begin when they are due, by time")
        if name == "device":
            ok(all(w["has_device"] for w in windows) and any(r["kind"] == "kernel" for r in windows[0]["ops"]), "device: the device is in the windows")
    if not device:
        skip("no g++: a made-up accelerator cannot be built")


def troubled_jobs():
    """Jobs that would be killed by a careless helper."""
    jobs = {kind: start_job(kind, kind, {"every": 0.05, "steps": steps}) for kind, steps in (("own", 3), ("threads", 8), ("fork", 2))}
    for name in jobs:
        long_enough(name, 3)
        wait_for(lambda: name == "fork" or os.path.exists(f"{fleet.dir}/{name}/own-{jobs[name].pid}.txt"), 20)
    for name, job in jobs.items():
        said = stop_job(name, job)
        if not said:
            continue
        say(f"{name}: {said['own']} profiles of its own; {said['counts']}")
        word = "forked" if name == "fork" else "cancelled"
        ok(said["counts"].get(word, 0) > 0 and said["counts"].get("failed", 0) == 0, f"{name}: windows were cut short, and the job was not")
        ok(name == "fork" or said["own"] > 3, f"{name}: the job's own profiles came out whole")
        wait_for(lambda: len(fleet.windows(name)) >= len(tables(name)), 30)
        ok([summarized(p) for p in traces(name)] == [as_table(t) for t in tables(name)], f"{name}: the windows that were taken are exact")


def full_disk():
    """A folder on a file system of its own that is full."""
    folder = f"{fleet.dir}/small"
    os.mkdir(folder)
    if os.getuid() != 0 or subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", folder], stderr=subprocess.DEVNULL).returncode != 0:
        skip("no file system can be mounted here: a full disk cannot be made")
        return
    try:
        # the second does not look before, and finds out while it writes
        for name, steps, word in (("full", 5, "full"), ("filling", 200, "unwritten")):
            job = start_job(name, name, {"dir": folder, "every": 0.2, "steps": steps})
            wait_for(lambda: f"\n{word}: " in fleet.read(f"{name}.log"))
            time.sleep(3)
            said = stop_job(name, job)
            if said:
                say(f"{name}: {said['counts']}")
                ok(said["counts"].get(word, 0) > 1 and not said["counts"]["taken"], f"{name}: a full disk is counted, and the job goes on")
            ok(not os.listdir(folder), f"{name}: nothing is left there")
    finally:
        subprocess.run(["umount", folder])


def cut_off():
    """A job that ends in the middle of a window of its own."""
    job = start_job("long", "serve", {"every": 0.5, "steps": 10 ** 6, "longest": 3600})
    wait_for(lambda: begun("long", job))
    said = stop_job("long", job)
    if said:
        ok(said["counter"][2:4] == [1, 0] and said["counts"]["taken"] == 0, "long: it was in a window, which was dropped")


def begun(name, job):
    """Windows that the job has begun, from its counter."""
    try:
        with open(f"{fleet.dir}/in/{job.pid}.steps", "rb") as file:
            return int.from_bytes(file.read()[24:32], "little")
    except OSError:
        return 0


def no_agent():
    """Nobody reads: the folder does not fill."""
    os.mkdir(f"{fleet.dir}/nobody")
    job = start_job("unread", "serve", {"dir": f"{fleet.dir}/nobody", "every": 0.1, "keep": 5})
    long_enough("unread", 5)
    time.sleep(3)
    said = stop_job("unread", job)
    if said:
        files = os.listdir(f"{fleet.dir}/nobody")
        ok(len(files) == 10 and said["counts"]["taken"] == 5 and said["counts"]["unread"] > 5, "unread: no more traces than allowed pile up without an agent")


def package():
    done = subprocess.run([f"{HERE}/../python/package.test"], env={**os.environ, "PYTHON": sys.executable, "srcdir": f"{HERE}/../.."},
                          stdout=subprocess.PIPE, text=True)
    if "SKIP" in done.stdout:
        skip(done.stdout.split("SKIP ")[1].strip())
    else:
        ok(done.returncode == 0 and "not ok" not in done.stdout, "the helper is built and installed by pip")


def overhead():
    """Of the newest window of the long job, as the agent measured it by the counter; None while it has not."""
    newest = fleet.ask("windows?service=measured&limit=1")["items"]
    gauges = {g["name"]: g["value"] for g in fleet.ask(f"windows/{newest[0]['id']}")["gauges"]} if newest else {}
    return gauges.get("capture_overhead")


def measured(job):
    """The agent tells what windows cost a job that profiles itself."""
    wait_for(lambda: overhead() is not None, 120)
    got = overhead()
    said = stop_job("measured", job)
    if said:
        tell_cost("measured", said)
        say(f"measured: the agent says {got} of the job's time")
    ok(got is not None and 0 <= got < 0.2, "measured: windows tell what windows cost this job, by its step counter")


def main():
    fleet.start_daemon()
    os.mkdir(f"{fleet.dir}/in")
    os.mkdir(f"{fleet.dir}/done")
    fleet.start_agent(f"watch:\n  - dir: {fleet.dir}/in\n    done: move\n    done_dir: {fleet.dir}/done\n"
                      "keep_files: 10000\njob:\n  cpu_percent: 50\nlog:\n  level: debug\n")
    job = start_job("measured", "train", {"every": 5})  # takes its time: the agent reads counters every ten seconds
    package()
    compared_jobs()
    troubled_jobs()
    cut_off()
    no_agent()
    full_disk()
    measured(job)
    ok(not [f for f in os.listdir(f"{fleet.dir}/in") if f.endswith((".tmp", ".steps"))], "nothing half-written is left in the folder")
    ok(fleet.end_agent() == 0, "the agent ends well")
    finish()


main()
