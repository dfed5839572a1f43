#include "tests/support/check_main.h"

suite_maker suite_auth, suite_grpc_client, suite_http_client, suite_http_parse, suite_http_server, suite_token;

TEST_MAIN(suite_http_parse, suite_auth, suite_grpc_client, suite_http_server, suite_http_client, suite_token)
