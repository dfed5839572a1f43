"""A job as people write them, with nothing in it about being profiled: job.py train|serve STOP-FILE

Goes round until STOP-FILE is there, then prints one JSON line: when its loop ended, and of each step when it began (wall) and how long it
took, in nanoseconds. With DEVICE, a library made of device.cpp, there is an accelerator; with WARM too the job runs one empty profile first,
as jobs on one should.
"""
import ctypes
import json
import os
import sys
import time

import torch


def rounds(stop, steps):
    """Each is one step of the job, timed without its pause."""
    while not os.path.exists(stop):
        began = time.time_ns()
        yield
        steps.append((began, time.time_ns() - began))
        time.sleep(0.002)


def train(model, stop, steps):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.001)
    for _ in rounds(stop, steps):
        optimizer.zero_grad()
        model(torch.randn(32, 64)).square().mean().backward()
        optimizer.step()


def serve(model, stop, steps):
    with torch.no_grad():
        for _ in rounds(stop, steps):
            model(torch.randn(8, 64))


def load_device():
    class Module:
        is_available = staticmethod(lambda: True)
        device_count = staticmethod(lambda: 1)
        current_device = staticmethod(lambda: 0)
        synchronize = staticmethod(lambda device=None: None)

    ctypes.CDLL(os.environ["DEVICE"])
    torch.utils.rename_privateuse1_backend("made_up")
    torch._register_device_module("made_up", Module)
    if "WARM" in os.environ:
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.PrivateUse1]):
            pass


def main():
    torch.set_num_threads(1)
    if "DEVICE" in os.environ:
        load_device()
    model = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.GELU(), torch.nn.LayerNorm(64), torch.nn.Linear(64, 8))
    steps = []
    {"train": train, "serve": serve}[sys.argv[1]](model, sys.argv[2], steps)
    print(json.dumps({"ended": time.time(), "steps": steps}), flush=True)


main()
