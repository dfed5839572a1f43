#include "api/route.h"

#define P(id) PARAM_BIT(PARAM_##id)
#define P_PAGE (P(LIMIT) | P(CURSOR))
#define P_WINDOWS (P(SERVICE) | P(DEPLOY) | P(HOST) | P(WORKER) | P(FROM) | P(TO))

const struct route routes[] = {
	{ HTTP_POST, "/api/v1/windows", NEED_INGEST, 0, ingest_post, "Store a batch of windows.", "WindowBatch", "Accepted", 0 },
	{ HTTP_GET, "/api/v1/services", NEED_READ, P(SERVICE) | P_PAGE, services_get, "Services, and what capturing costs them.", NULL,
	  "ServiceList", 0 },
	{ HTTP_GET, "/api/v1/hosts", NEED_READ, P(SERVICE) | P(DEPLOY) | P(HOST) | P_PAGE, hosts_get, "Hosts.", NULL, "HostList", 0 },
	{ HTTP_GET, "/api/v1/deploys", NEED_READ, P(SERVICE) | P(DEPLOY) | P_PAGE, deploys_get, "Deploys, the newest first.", NULL,
	  "DeployList", 0 },
	{ HTTP_POST, "/api/v1/deploys", NEED_INGEST, 0, deploys_post, "Announce a deploy.", "DeployAnnouncement", "DeployAnnouncement",
	  0 },
	{ HTTP_GET, "/api/v1/windows", NEED_READ, P_WINDOWS | P(ORDER) | P_PAGE, windows_get, "Windows by their start.", NULL,
	  "WindowList", 0 },
	{ HTTP_GET, "/api/v1/windows/{id}", NEED_READ, 0, window_get, "One window with its ops.", NULL, "WholeWindow", 0 },
	{ HTTP_GET, "/api/v1/top", NEED_READ, P_WINDOWS | P(KIND) | P(OP) | P_PAGE, top_get, "Ops of all windows that match, most time first.",
	  NULL, "Top", 0 },
	{ HTTP_GET, "/api/v1/trend", NEED_READ, P_WINDOWS | P(KIND) | P(OP) | P(RESOLUTION), trend_get, "One op over time.", NULL, "Trend",
	  0 },
	{ HTTP_GET, "/api/v1/compare", NEED_READ, P(SERVICE) | P(BEFORE) | P(AFTER) | P(LIMIT), compare_get, "Two deploys of a service, judged.",
	  NULL, "Comparison", 0 },
	{ HTTP_GET, "/api/v1/alerts", NEED_READ, P(SERVICE) | P(DEPLOY) | P(STATE) | P_PAGE, alerts_get, "Alerts, the newest first.", NULL,
	  "AlertList", 0 },
	{ HTTP_GET, "/api/v1/alerts/{id}", NEED_READ, 0, alert_get, "One alert.", NULL, "Alert", 0 },
	{ HTTP_POST, "/api/v1/agents/{id}/poll", NEED_INGEST, 0, poll_post, "An agent tells of its workers and hears of its leases.", "Poll",
	  "PollAnswer", 0 },
	{ HTTP_GET, "/api/v1/agents", NEED_READ, P(SERVICE) | P(HOST) | P_PAGE, agents_get, "Agents that poll, with their workers.", NULL,
	  "AgentList", 0 },
	{ HTTP_GET, "/api/v1/captures", NEED_READ, P(SERVICE) | P_PAGE, captures_get, "Captures that were asked for, the newest first.", NULL,
	  "CaptureList", 0 },
	{ HTTP_POST, "/api/v1/captures", NEED_ADMIN, 0, captures_post, "Ask for windows of running workers.", "CaptureRequest", "Capture",
	  201 },
	{ HTTP_GET, "/api/v1/captures/{id}", NEED_READ, 0, capture_get, "One capture.", NULL, "Capture", 0 },
	{ HTTP_GET, "/api/v1/capture/policy", NEED_READ, 0, policy_get, "Is capture paused?", NULL, "CapturePolicy", 0 },
	{ HTTP_POST, "/api/v1/capture/policy", NEED_ADMIN, 0, policy_post, "Pause capture on the whole fleet, or let it go on.",
	  "CapturePolicyRequest", "CapturePolicy", 0 },
	{ HTTP_GET, "/api/v1/openapi.yaml", NEED_NOTHING, 0, openapi_get, "This description.", NULL, "application/yaml", 0 },
	{ HTTP_GET, "/metrics", NEED_READ, 0, metrics_get, "The daemon's own metrics, as Prometheus text.", NULL, "text/plain", 0 },
	{ HTTP_GET, "/-/healthy", NEED_NOTHING, 0, healthy_get, "Does the process answer?", NULL, "Status", 0 },
	{ HTTP_GET, "/-/ready", NEED_NOTHING, 0, ready_get, "Can the store be written to?", NULL, "Status", 0 },
	{ HTTP_GET, "/", NEED_NOTHING, 0, page_get, "What this is.", NULL, "text/html", 0 },
};
const size_t n_routes = COUNT(routes);
