/* The source "xla" against a stand-in for a profiler server, with the real client, plan, and reader of traces: its own program, since
 * test_agent has a made-up daemon in the client's place. */
#include "tests/support/check_main.h"

suite_maker suite_xla;

TEST_MAIN(suite_xla)
