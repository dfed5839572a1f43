"""What the tests against a real PyTorch have in common: a daemon, an agent, jobs, TAP. Import, then use Fleet."""
import atexit
import importlib.util
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
PATIENCE_S = 90
number = 0
failed = 0


def ok(good, sentence):
    global number, failed
    number += 1
    failed += not good
    print(f"{'ok' if good else 'not ok'} {number} - {sentence}", flush=True)
    return good


def skip(why):
    global number
    number += 1
    print(f"ok {number} # SKIP {why}", flush=True)


def say(text):
    print(f"# {text}", flush=True)


def finish():
    print(f"1..{number}", flush=True)
    sys.exit(1 if failed else 0)


def wait_for(what, seconds=PATIENCE_S):
    until = time.time() + seconds
    while time.time() < until:
        got = what()
        if got:
            return got
        time.sleep(0.25)
    return what()


def median(values):
    values = sorted(values)
    return values[len(values) // 2] if values else None


def note_end(p):
    p.wait()
    p.ended = time.time()


class Fleet:
    """A folder with one daemon and one agent that runs in it, and jobs. All ends when the program does."""

    def __init__(self, build):
        self.build = os.path.abspath(build)
        self.dir = tempfile.mkdtemp(prefix="ts-torch.", dir="/tmp")  # short: a socket's folder may have 50 bytes
        self.processes = []
        self.agent = None
        self.port = None
        atexit.register(self.close)

    def close(self):
        for p in self.processes:
            if p.poll() is None:
                p.kill()
                p.wait()
        if failed:
            for name in sorted(os.listdir(self.dir)):
                if name.endswith(".log"):
                    print(f"---- {name}\n{self.read(name)[-4000:]}", file=sys.stderr)
        shutil.rmtree(self.dir, ignore_errors=True)

    def read(self, name):
        with open(f"{self.dir}/{name}", errors="replace") as f:
            return f.read()

    def write(self, name, text):
        with open(f"{self.dir}/{name}", "w") as f:
            f.write(text)

    def start(self, name, argv, **env):
        with open(f"{self.dir}/{name}.log", "ab") as log:
            p = subprocess.Popen(argv, stdout=log, stderr=log, env={**os.environ, **env}, cwd=self.dir)
        self.processes.append(p)
        threading.Thread(target=note_end, args=(p,), daemon=True).start()
        return p

    def start_daemon(self, more=""):
        self.write("daemon.yaml", f"store:\n  dir: {self.dir}/store\nlisten:\n  port: 0\n{more}")
        os.mkdir(f"{self.dir}/store")
        self.start("daemon", [f"{self.build}/trainspotterd", "--config", "daemon.yaml"])
        self.port = int(wait_for(lambda: re.search(r"daemon\.listening.*port=(\d+)", self.read("daemon.log")), 20)[1])

    def start_agent(self, more=None):
        if more is not None:
            self.write("agent.yaml", f"server: http://127.0.0.1:{self.port}\nstate_dir: {self.dir}/state\nhost: h1\n{more}")
        self.agent = self.start("agent", [f"{self.build}/trainspotter-agent", "--config", "agent.yaml"])
        return self.agent

    def end_agent(self, how=signal.SIGTERM):
        self.agent.send_signal(how)
        return self.agent.wait(timeout=60)

    def ask(self, path):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/api/v1/{path}", timeout=20) as answer:
            return json.load(answer)

    def ask_all(self, path):
        items, cursor = [], ""
        while cursor is not None:
            page = self.ask(path + (f"&cursor={cursor}" if cursor else ""))
            items += page["items"]
            cursor = page["next"]
        return items

    def windows(self, service):
        return self.ask_all(f"windows?service={service}&order=oldest&limit=1000")

    def has_more(self, service, than, count=1, seconds=PATIENCE_S):
        return wait_for(lambda: len(self.windows(service)) >= than + count, seconds)

    def trainspotter(self, *argv):
        return subprocess.run([f"{self.build}/trainspotter", *argv], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              env={**os.environ, "TRAINSPOTTER_SERVER": f"http://127.0.0.1:{self.port}"}, cwd=self.dir)

    def build_device(self):
        """The library of a made-up accelerator, or None where nothing can build it."""
        torch = os.path.dirname(importlib.util.find_spec("torch").origin)
        library = f"{self.dir}/device.so"
        if not shutil.which("g++"):
            return None
        done = subprocess.run(["g++", "-std=c++20", "-O1", "-fPIC", "-shared", "-DUSE_KINETO", "-DFMT_HEADER_ONLY",
                               f"-I{torch}/include", f"-I{torch}/include/kineto", f"{HERE}/device.cpp", "-o", library,
                               f"-L{torch}/lib", "-ltorch_cpu", "-lc10"], stderr=subprocess.PIPE, text=True)
        if done.returncode != 0:
            print(done.stderr[-3000:], file=sys.stderr)
            return None
        return library
