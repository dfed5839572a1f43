"""A job as people write them, with nothing in it about being profiled: job.py train|serve STOP-FILE

Goes round until STOP-FILE is there, then prints the wall time at which its loop ended.
"""
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


def main():
    torch.set_num_threads(1)
    model = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.GELU(), torch.nn.LayerNorm(64), torch.nn.Linear(64, 8))
    {"train": train, "serve": serve}[sys.argv[1]](model, sys.argv[2])
    print(time.time(), flush=True)


main()
