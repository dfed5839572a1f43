"""A JAX job as people write them, with one line in it about being profiled: job.py jit|op_by_op|selfish STOP-FILE TIMES-FILE

A small model goes round until STOP-FILE is there: jitted, op by op, or jitted and profiling itself all the time. Then writes to TIMES-FILE
when each step began and how long it took (wall, ns), and when the loop ended.
"""
import json
import os
import sys
import time

import jax
import jax.numpy as jnp

D = 64


def norm(x, w):
    return x * jax.lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-6) * w


def block(x, p):
    y = norm(x, p["w"])
    a = jax.nn.softmax(y @ p["q"] @ (y @ p["k"]).T / 8, -1) @ (y @ p["v"])
    return x + a @ p["o"]


def model(x, p):
    return block(block(x, p), p)


def loop(step, x, p, stop, times):
    while not os.path.exists(stop):
        began = time.time_ns()
        with jax.profiler.StepTraceAnnotation("serve", step_num=len(times)):
            step(x, p).block_until_ready()
        times.append((began, time.time_ns() - began))
        time.sleep(0.002)


def main():
    kind, stop, out = sys.argv[1:]
    port = int(os.environ.get("TRAINSPOTTER_XLA_PORT") or os.environ["PORT"])
    key = jax.random.PRNGKey(0)
    p = {name: jax.random.normal(key, (D, D)) / 8 for name in "qkvo"}
    p["w"] = jnp.ones(D)
    x = jax.random.normal(key, (D, D))
    step = model if kind == "op_by_op" else jax.jit(model)
    step(x, p).block_until_ready()
    times = []
    if kind == "selfish":  # a trace that began while another one was under way would fail at its end
        with jax.profiler.trace(f"{out}.trace"):
            jax.profiler.start_server(port)
            loop(step, x, p, stop, times)
    else:
        jax.profiler.start_server(port)
        loop(step, x, p, stop, times)
    with open(out, "w") as f:
        json.dump({"steps": times, "ended": time.time()}, f)


main()
