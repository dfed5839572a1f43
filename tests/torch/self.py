"""A job that profiles itself by the helper: self.py KIND OUT STOP-FILE

KIND is train, serve, device (serve with a made-up accelerator, DEVICE), own (profiles of its own besides), threads (those in another thread), fork (loader
processes), rank (one of several, by torch.distributed), full and filling (on a disk that is full, and without a look at that before), waits (every=0: windows are asked for from outside). Settings of the helper come as JSON in HELPER. The table
of each window goes to OUT/PID-N.json; when STOP-FILE is there it prints one JSON line about itself and ends.
"""
import ctypes
import json
import os
import sys
import threading
import time

import torch
import trainspotter

kind, out, stop = sys.argv[1:4]
windows = 0
own = 0


def ns(us):
    return round(us * 1000)


def keep_table(profile):
    """PyTorch's own numbers of this window."""
    global windows
    windows += 1
    rows = [{"name": a.key, "device": a.device_type != torch.autograd.DeviceType.CPU, "annotation": bool(getattr(a, "is_user_annotation", False)),
             "calls": a.count, "cpu_self": ns(a.self_cpu_time_total), "cpu": ns(a.cpu_time_total),
             "device_self": ns(a.self_device_time_total), "device_total": ns(a.device_time_total)} for a in profile.key_averages()]
    path = f"{out}/{os.getpid()}-{windows}.json"
    with open(f"{path}.tmp", "w") as file:
        json.dump({"start_ns": time.time_ns(), "rows": rows}, file)
    os.rename(f"{path}.tmp", path)


def load_device():
    class Module:
        is_available = staticmethod(lambda: True)
        device_count = staticmethod(lambda: 1)
        current_device = staticmethod(lambda: 0)
        synchronize = staticmethod(lambda device=None: None)

    ctypes.CDLL(os.environ["DEVICE"])
    torch.utils.rename_privateuse1_backend("made_up")
    torch._register_device_module("made_up", Module)


def profile_own(_=None):
    """What a job does that has a profiler of its own: with a schedule, and exported."""
    global own
    action = torch.profiler.schedule(wait=1, warmup=1, active=2, repeat=1)
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], schedule=action,
                                on_trace_ready=lambda p: p.export_chrome_trace(f"{out}/own-{os.getpid()}.txt")) as p:
        for _ in range(5):
            model(torch.randn(8, 64))
            time.sleep(0.002)
            p.step()
            if kind == "own":
                prof.step()
    with open(f"{out}/own-{os.getpid()}.txt") as file:
        assert json.load(file)["traceEvents"]
    own += 1


class Samples(torch.utils.data.Dataset):
    def __len__(self):
        return 40

    def __getitem__(self, i):
        return torch.randn(64)


def batches():
    """Endless, with whatever else this kind of job does now and then."""
    n = 0
    while kind == "rank" or not os.path.exists(stop):  # ranks agree on their end
        n += 1
        if kind == "own" and n % 7 == 0:
            profile_own()
        if kind == "threads" and n % 20 == 0:
            thread = threading.Thread(target=profile_own)
            thread.start()
            for _ in range(3):
                yield torch.randn(8, 64)
            thread.join()
        if kind == "fork":
            yield from torch.utils.data.DataLoader(Samples(), batch_size=8, num_workers=2)
        yield torch.randn(32 if kind in ("train", "rank") else 8, 64)


def main():
    global model, prof
    torch.set_num_threads(1)
    if "DEVICE" in os.environ:
        load_device()
    if kind == "rank":
        torch.distributed.init_process_group("gloo")
    if kind == "filling":
        trainspotter._FREE_BYTES = -1 << 60
    model = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.GELU(), torch.nn.LayerNorm(64), torch.nn.Linear(64, 8))
    trains = kind in ("train", "rank")
    net = torch.nn.parallel.DistributedDataParallel(model) if kind == "rank" else model
    optimizer = torch.optim.AdamW(net.parameters(), lr=0.001) if trains else None
    took = []
    with trainspotter.profiler(on_window=keep_table, **json.loads(os.environ["HELPER"])) as prof, \
            torch.set_grad_enabled(trains):
        for batch in batches():
            if kind == "rank":  # all leave together
                leave = torch.tensor([os.path.exists(stop)], dtype=torch.int)
                torch.distributed.all_reduce(leave)
                if leave.item():
                    break
            if trains:
                optimizer.zero_grad()
                net(batch).square().mean().backward()
                optimizer.step()
            else:
                net(batch)
            time.sleep(0.002)
            began = time.perf_counter_ns()
            prof.step()
            took.append((time.perf_counter_ns() - began, prof._window is not None))
        with open(prof._counter.path, "rb") as file:
            counter = list(trainspotter._COUNTER.unpack(file.read()))[1:]
    outside = sorted(ns for ns, inside in took if not inside)
    print(json.dumps({"ended": time.time(), "counts": prof.counts, "own": own, "steps": len(took), "counter": counter,
                      "step_ns": outside[len(outside) // 2] if outside else 0}), flush=True)


main()
