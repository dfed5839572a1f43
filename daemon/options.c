#include "daemon/options.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "api/api.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/opt.h"
#include "daemon/tables.h"
#include "net/token.h"

#define AT(member) offsetof(struct daemon_conf, member)

static const char default_path[] = "/etc/trainspotter/trainspotterd.yaml";

static const char *const log_levels[] = { "error", "warn", "info", "debug", NULL };
_Static_assert(COUNT(log_levels) == LOG_LEVELS + 1, "name every log level");

static const struct conf_key keys[] = {
	{ "listen.address", CONF_TEXT, AT(listen_address), 1, 255, "127.0.0.1",
	  "Address of the API. Others than loopback need auth.tokens_file.", NULL },
	{ "listen.port", CONF_INT, AT(listen_port), 0, 65535, "8940", "TCP port of the API; 0 takes any free one.", NULL },
	{ "store.dir", CONF_PATH, AT(store_dir), 0, 0, "/var/lib/trainspotter",
	  "Folder of the store; made when missing.", NULL },
	{ "store.retention", CONF_DURATION, AT(store_retention_ns), NS_PER_HOUR, 20 * 366 * NS_PER_DAY, "90d",
	  "How long windows are kept, by their own time.", NULL },
	{ "store.retention_report", CONF_DURATION, AT(store_retention_report_ns), NS_PER_HOUR, 20 * 366 * NS_PER_DAY, "14d",
	  "How long windows without ops are kept: the reports of neuron-monitor and of the driver.", NULL },
	{ "store.retention_rollup", CONF_DURATION, AT(store_retention_rollup_ns), NS_PER_HOUR, 20 * 366 * NS_PER_DAY, "400d",
	  "How long hourly rollups are kept; never shorter than windows.", NULL },
	{ "store.max_size", CONF_SIZE, AT(store_max_bytes), 0, INT64_MAX, "100GiB",
	  "Size of the store's files at which windows without ops go, then the oldest others; 0 is no cap.", NULL },
	{ "store.readers", CONF_INT, AT(store_readers), 0, 64, "0", "Reading connections; 0 is one a core.", NULL },
	{ "auth.tokens_file", CONF_PATH, AT(auth_tokens_file), 0, 0, "",
	  "YAML list of roles and SHA-256 of tokens. SIGHUP reads it again.", NULL },
	{ "auth.allow_anonymous_reads", CONF_BOOL, AT(auth_allow_anonymous_reads), 0, 0, "no",
	  "Without a tokens file: listen on other addresses too, and let anyone read. Writing stays with loopback.", NULL },
	{ "notify.webhook.url", CONF_TEXT, AT(webhook_url), 0, 2000, "",
	  "Where alerts are posted when they fire and are resolved; empty for nowhere.", NULL },
	{ "notify.webhook.token_file", CONF_PATH, AT(webhook_token_file), 0, 0, "", "Bearer token for the webhook.", NULL },
	{ "notify.webhook.ca_file", CONF_PATH, AT(webhook_ca_file), 0, 0, "",
	  "Certificates that may sign the webhook's; empty for the system's.", NULL },
	{ "notify.webhook.timeout", CONF_DURATION, AT(webhook_timeout_ns), 100 * NS_PER_MS, 10 * NS_PER_MIN, "10s",
	  "For one post.", NULL },
	{ "notify.webhook.tries", CONF_INT, AT(webhook_tries), 1, 1000, "20", "Posts until an alert is given up.", NULL },
	{ "detect.interval", CONF_DURATION, AT(detect_interval_ns), 100 * NS_PER_MS, NS_PER_DAY, "1m",
	  "Services are looked at this often at least.", NULL },
	{ "detect.settle", CONF_DURATION, AT(detect_settle_ns), 0, NS_PER_HOUR, "1s",
	  "Wait after new windows arrived, so that many are judged at once.", NULL },
	{ "detect.windows_before", CONF_INT, AT(detect_windows_before), 1, 64, "3",
	  "Windows of the deploy before that a judgement needs.", NULL },
	{ "detect.windows_after", CONF_INT, AT(detect_windows_after), 1, 64, "2",
	  "Windows of a new deploy that at least one host must have.", NULL },
	{ "detect.steps", CONF_INT, AT(detect_steps), 0, 1000000, "50",
	  "Steps that each deploy's windows must have together; windows without steps are not held to it.", NULL },
	{ "detect.fusion_table", CONF_PATH, AT(detect_fusion_table), 0, 0, "",
	  "YAML of your own fused ops and lists, added to the built-in ones.", NULL },
	{ "capture.max_per_service", CONF_INT, AT(capture_max_per_service), 1, 10000, "16",
	  "Workers of a service that are profiled at once, at most, over all hosts.", NULL },
	{ "capture.max_share", CONF_INT, AT(capture_max_share), 1, 100, "10",
	  "Percent of the fleet's workers that are profiled at once, at most; one always may.", NULL },
	{ "capture.max_per_host", CONF_INT, AT(capture_max_per_host), 1, 1000, "4",
	  "Leases that one host has at once, at most.", NULL },
	{ "capture.poll", CONF_DURATION, AT(capture_poll_ns), NS_PER_S, 10 * NS_PER_MIN, "10s",
	  "How often agents are told to ask for leases, and learn that capture is paused.", NULL },
	{ "capture.expire", CONF_DURATION, AT(capture_expire_ns), NS_PER_S, NS_PER_DAY, "10m",
	  "How long a capture that was asked for waits for its workers.", NULL },
	{ "capture.on_alert", CONF_BOOL, AT(capture_on_alert), 0, 0, "no",
	  "Ask for a capture of the hosts that an alert names, when it fires.", NULL },
	{ "capture.on_alert_every", CONF_DURATION, AT(capture_on_alert_every_ns), 0, 366 * NS_PER_DAY, "1h",
	  "At most one such capture of a service in this time.", NULL },
	{ "limits.body", CONF_SIZE, AT(limit_body_bytes), 4096, API_BODY_MAX, "4MiB", "Largest request body.", NULL },
	{ "limits.headers", CONF_SIZE, AT(limit_header_bytes), 1024, 1 << 20, "16KiB", "Largest request line with headers.", NULL },
	{ "limits.request_time", CONF_DURATION, AT(limit_request_ns), NS_PER_S, NS_PER_HOUR, "30s",
	  "From the first byte of a request to its last.", NULL },
	{ "limits.connections", CONF_INT, AT(limit_connections), 1, 100000, "512", "Connections at once.", NULL },
	{ "limits.queue", CONF_INT, AT(limit_queue), 1, 100000, "256",
	  "Requests that wait for a handler; further ones get 503.", NULL },
	{ "limits.threads", CONF_INT, AT(limit_threads), 1, 256, "8", "Requests handled at once.", NULL },
	{ "log.level", CONF_CHOICE, AT(log_level), 0, 0, "info", "What is logged: error, warn, info or debug.", log_levels },
};

const struct conf_schema daemon_schema = { keys, COUNT(keys), sizeof(struct daemon_conf) };

struct answers {
	const char *config;
	bool check, print;
	struct opt_texts set;
};

static const struct opt opts[] = {
	{ "config", 'c', OPT_TEXT, offsetof(struct answers, config), 0, 0, "FILE",
	  "Configuration file; without it, /etc/trainspotter/trainspotterd.yaml where that exists.", NULL },
	{ "set", 's', OPT_TEXTS, offsetof(struct answers, set), 0, 0, "KEY=VALUE",
	  "Sets one key over the file's; may be repeated.", NULL },
	{ "check", 0, OPT_FLAG, offsetof(struct answers, check), 0, 0, NULL, "Check the configuration, and that the files it names can be read, and end.", NULL },
	{ "print-config", 0, OPT_FLAG, offsetof(struct answers, print), 0, 0, NULL,
	  "Print the configuration in force, each key with its meaning, and end.", NULL },
};

static const struct opt_exit exits[] = {
	{ 0, "it was asked to end, or the check found nothing" },
	{ 1, "it could not start or go on" },
	{ EXIT_USAGE, "the command line is wrong" },
	{ EXIT_CONFIG, "the configuration is wrong" },
};

static const struct opt_command command = {
	.name = "trainspotterd",
	.operands = "",
	.summary = "keep windows of a fleet, answer questions about them, and tell of regressions",
	.detail = "Takes windows from agents over HTTP, keeps them in a folder, answers the API, and judges each new deploy "
		  "of a service against the one before.\n\n"
		  "SIGTERM and SIGINT end it: requests under way are answered first. SIGHUP reads the configuration again; when "
		  "it is wrong, the old one stays in force. Tokens, webhook, detector, capture and log level change at "
		  "once; listen, store and limits at the next start.",
	.examples = "trainspotterd                                     on 127.0.0.1:8940, with defaults\n"
		    "trainspotterd --config my.yaml --check            is the file good?\n"
		    "trainspotterd --set store.dir=/tmp/x --set listen.port=0   for a try\n",
	.opts = opts,
	.n_opts = COUNT(opts),
	.exits = exits,
	.n_exits = COUNT(exits),
	.conf = &daemon_schema,
};

static int read_command_line(int argc, char **argv, struct answers *an, struct err *e)
{
	/* opt_parse moves operands, and the words are needed again at SIGHUP */
	char **words = mem_dup(argv, (size_t)(argc + 1) * sizeof(*argv));
	int n_operands = 0;
	int rc = opt_parse(&command, command.name, argc - 1, words + 1, an, &n_operands, e);

	if (rc == OK && n_operands > 0)
		rc = err_set(e, E_USAGE, "%s: there are no operands; a file is named with --config", words[1]);
	mem_free(words);
	return rc;
}

/* The file that is read; NULL where there is none and the defaults hold. */
static const char *config_of(const struct answers *an)
{
	if (an->config != NULL)
		return an->config;
	return file_exists(default_path) ? default_path : NULL;
}

static int read_conf(const struct answers *an, struct daemon_conf *conf, struct err *e)
{
	const char *path = config_of(an);
	int rc = OK;

	if (path != NULL)
		rc = conf_load(&daemon_schema, path, conf, e);
	else
		conf_init(&daemon_schema, conf);
	return rc == OK ? conf_set_words(&daemon_schema, conf, an->set.v, an->set.n, e) : rc;
}

static bool is_loopback(struct str address)
{
	return str_has_prefix(address, STR("127.")) || str_eq(address, STR("::1")) || str_eq(address, STR("localhost"));
}

static int check_conf(const struct daemon_conf *conf, struct err *e)
{
	bool tokens = conf->auth_tokens_file[0] != '\0';
	struct str url = str_of(conf->webhook_url);

	if (!str_empty(url) && !str_has_prefix(url, STR("http://")) && !str_has_prefix(url, STR("https://")))
		return err_set(e, E_USAGE, "notify.webhook.url: \"%s\" is neither http://… nor https://…", conf->webhook_url);
	if (is_loopback(str_of(conf->listen_address)) || tokens || conf->auth_allow_anonymous_reads)
		return OK;
	return err_set(e, E_USAGE,
		"listen.address: %s can be reached from other machines, so auth.tokens_file must name who may write and "
		"read (doc/api.md); or set auth.allow_anonymous_reads to let anyone read", conf->listen_address);
}

/* --check: can what the configuration names be read, too? The daemon would find out at its start. */
static int check_files(const struct daemon_conf *conf, struct err *e)
{
	char *token = NULL;
	struct tables t;
	int rc = tables_load(&t, conf, e);

	if (rc == OK && conf->webhook_token_file[0] != '\0')
		rc = token_load(conf->webhook_token_file, &token, e);
	tables_fini(&t);
	mem_free(token);
	return rc;
}

/* The answer to --print-config and --check; the program ends here. */
static void answer_and_exit(const struct answers *an, const struct daemon_conf *conf)
{
	const char *path = config_of(an);
	struct buf b;

	if (!an->print) {
		printf("%s: good\n", path != NULL ? path : "the defaults");
	} else {
		buf_init(&b, 1 << 20);
		conf_print(&daemon_schema, conf, &b);
		fwrite(b.p, 1, b.n, stdout);
		buf_fini(&b);
	}
	exit(fflush(stdout) == 0 ? 0 : 1);
}

int options_read(struct options *o, int argc, char **argv, struct err *e)
{
	struct answers an = { 0 };
	int rc;

	memset(o, 0, sizeof(*o));
	o->argc = argc;
	o->argv = argv;
	rc = read_command_line(argc, argv, &an, e);
	if (rc != OK) {
		opt_complain(&command, command.name, e);
		exit(EXIT_USAGE);
	}
	rc = read_conf(&an, &o->conf, e);
	if (rc == OK)
		rc = check_conf(&o->conf, e);
	if (rc == OK && an.check)
		rc = check_files(&o->conf, e);
	if (rc == OK && (an.print || an.check))
		answer_and_exit(&an, &o->conf);
	return rc;
}

int options_reread(const struct options *o, struct daemon_conf *conf, struct err *e)
{
	struct answers an = { 0 };
	int rc = read_command_line(o->argc, o->argv, &an, e);

	memset(conf, 0, sizeof(*conf));
	if (rc == OK)
		rc = read_conf(&an, conf, e);
	if (rc == OK)
		rc = check_conf(conf, e);
	return rc;
}

void options_fini(struct options *o)
{
	conf_fini(&daemon_schema, &o->conf);
}
