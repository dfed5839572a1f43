"""peer_tracelens.py FILE — TraceLens makes its performance report of a trace. bench_summarize runs it as a peer where
BENCH_TRACELENS names a Python that has the package."""
import sys
import tempfile

from TraceLens.Reporting.generate_perf_report_pytorch import generate_perf_report_pytorch

with tempfile.TemporaryDirectory() as folder:
    report = generate_perf_report_pytorch(profile_json_path=sys.argv[1], output_csvs_dir=folder)
    print(len(report), "tables")
