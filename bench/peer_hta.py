"""peer_hta.py FILE — HolisticTraceAnalysis reads a trace and makes its table of kernels. bench_summarize runs it as a peer
where BENCH_HTA names a Python that has the package."""
import os
import sys
import tempfile

from hta.trace_analysis import TraceAnalysis

path = os.path.abspath(sys.argv[1])
with tempfile.TemporaryDirectory() as folder:
    link = os.path.join(folder, os.path.basename(path))
    os.symlink(path, link)
    analysis = TraceAnalysis(trace_files={0: link}, trace_dir=folder)
    _, kernels = analysis.get_gpu_kernel_breakdown(visualize=False, num_kernels=1000)
    print(len(kernels), "rows")
