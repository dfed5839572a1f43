"""A job as people write them, with nothing in it about being profiled: job.py train|serve STOP-FILE

Goes round until STOP-FILE is there, then prints the wall time at which its loop ended. With DEVICE, a library made of device.cpp, there is an
accelerator; with WARM too the job runs one empty profile first, as jobs on one should.
"""
import ctypes
import os
import sys
import time

import torch


def train(model, stop):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.001)
    while not os.path.exists(stop):
        optimizer.zero_grad()
        model(torch.randn(32, 64)).square().mean().backward()
        optimizer.step()
        time.sleep(0.002)


def serve(model, stop):
    with torch.no_grad():
        while not os.path.exists(stop):
            model(torch.randn(8, 64))
            time.sleep(0.002)


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
    {"train": train, "serve": serve}[sys.argv[1]](model, sys.argv[2])
    print(time.time(), flush=True)


main()
