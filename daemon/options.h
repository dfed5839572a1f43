/* options.h — what the daemon is told: the command line, and trainspotterd.yaml read against one table. */
#ifndef DAEMON_OPTIONS_H
#define DAEMON_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/conf.h"
#include "base/err.h"

struct daemon_conf {
	char *listen_address;
	int64_t listen_port;

	char *store_dir;
	int64_t store_retention_ns, store_retention_report_ns, store_retention_rollup_ns, store_max_bytes, store_readers;

	char *auth_tokens_file;
	bool auth_allow_anonymous_reads;

	char *webhook_url, *webhook_token_file, *webhook_ca_file;
	int64_t webhook_timeout_ns, webhook_tries;

	int64_t detect_interval_ns, detect_settle_ns;
	int64_t detect_windows_before, detect_windows_after, detect_steps;
	char *detect_fusion_table;

	int64_t capture_max_per_service, capture_max_share, capture_max_per_host, capture_poll_ns, capture_expire_ns;
	bool capture_on_alert;
	int64_t capture_on_alert_every_ns;

	int64_t limit_body_bytes, limit_header_bytes, limit_request_ns;
	int64_t limit_connections, limit_queue, limit_threads;

	int64_t log_level;
};

extern const struct conf_schema daemon_schema;

struct options {
	int argc; /* for reading the file again */
	char **argv;
	struct daemon_conf conf;
};

/* Statuses of the program, beside 0 and 1. */
enum { EXIT_USAGE = 2, EXIT_CONFIG = 78 };

/* Defaults, the file, then --set. --check and --print-config do their work and end the program. E_USAGE says what is wrong. */
int options_read(struct options *o, int argc, char **argv, struct err *e) MUST_USE;
/* The same command line again, into *conf; nothing is printed and nothing ends. For SIGHUP. */
int options_reread(const struct options *o, struct daemon_conf *conf, struct err *e) MUST_USE;
void options_fini(struct options *o);

#endif
