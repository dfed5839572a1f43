/* openapi.c — GET /api/v1/openapi.yaml: OpenAPI 3.1 out of the tables of routes, parameters, schemas and problems. */
#include "api/route.h"
#include "api/schema.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "json/text.h"

/* ---- YAML: lines with their depth; texts in double quotes, which JSON's escapes suit */

PRINTF_LIKE(3, 4) static void line(struct buf *out, int depth, const char *fmt, ...);

static void line(struct buf *out, int depth, const char *fmt, ...)
{
	char text[400];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	buf_fill(out, ' ', (size_t)depth * 2);
	buf_text(out, text);
	buf_byte(out, '\n');
}

static void quoted(struct buf *out, int depth, const char *key, const char *text)
{
	if (text == NULL)
		return;
	buf_fill(out, ' ', (size_t)depth * 2);
	buf_fmt(out, "%s: \"", key);
	json_escape(str_of(text), out);
	buf_text(out, "\"\n");
}

/* ---- types of schema.h */

static bool is_plain(struct str type)
{
	return str_eq(type, STR("string")) || str_eq(type, STR("integer")) || str_eq(type, STR("number")) ||
	       str_eq(type, STR("boolean")) || str_eq(type, STR("object"));
}

static void put_type(struct buf *out, int depth, struct str type)
{
	bool or_null = str_drop_suffix(&type, STR("?"));
	struct str inner = str_from(str_upto(type, type.n - 1), 1);

	if (is_plain(type) && or_null)
		line(out, depth, "type: [%.*s, 'null']", STR_ARG(type));
	else if (is_plain(type))
		line(out, depth, "type: %.*s", STR_ARG(type));
	else if (type.p[0] == '[') {
		line(out, depth, "type: array");
		line(out, depth, "items:");
		put_type(out, depth + 1, inner);
	} else if (type.p[0] == '{') {
		line(out, depth, "type: object");
		line(out, depth, "additionalProperties:");
		put_type(out, depth + 1, inner);
	} else if (or_null) {
		line(out, depth, "anyOf:");
		line(out, depth + 1, "- $ref: '#/components/schemas/%.*s'", STR_ARG(type));
		line(out, depth + 1, "- type: 'null'");
	} else {
		line(out, depth, "$ref: '#/components/schemas/%.*s'", STR_ARG(type));
	}
}

static void put_required(struct buf *out, int depth, const struct schema *s)
{
	bool any = false;

	for (size_t i = 0; i < s->n; i++) {
		if (s->members[i].optional)
			continue;
		if (!any)
			line(out, depth, "required:");
		any = true;
		line(out, depth + 1, "- %s", s->members[i].name);
	}
}

static void put_object(struct buf *out, int depth, const struct schema *s)
{
	line(out, depth, "type: object");
	put_required(out, depth, s);
	line(out, depth, "properties:");
	for (size_t i = 0; i < s->n; i++) {
		line(out, depth + 1, "%s:", s->members[i].name);
		put_type(out, depth + 2, str_of(s->members[i].type));
		quoted(out, depth + 2, "description", s->members[i].help);
	}
}

static void put_schema(struct buf *out, const struct schema *s)
{
	line(out, 2, "%s:", s->name);
	quoted(out, 3, "description", s->help);
	if (s->base == NULL) {
		put_object(out, 3, s);
		return;
	}
	line(out, 3, "allOf:");
	line(out, 4, "- $ref: '#/components/schemas/%s'", s->base);
	line(out, 4, "-");
	put_object(out, 5, s);
}

/* ---- paths */

static const char *method_key(enum http_method m)
{
	return m == HTTP_GET ? "get" : "post"; /* all there are in the table */
}

/* "get_api_v1_windows_id" */
static void put_operation_id(struct buf *out, const struct route *r)
{
	bool gap = true;

	buf_fmt(out, "      operationId: %s", method_key(r->method));
	for (const char *p = r->path; *p != '\0'; p++) {
		bool letter = (*p >= 'a' && *p <= 'z') || (*p >= '0' && *p <= '9');

		if (letter && gap)
			buf_byte(out, '_');
		if (letter)
			buf_byte(out, *p);
		gap = !letter;
	}
	buf_text(out, r->path[1] == '\0' ? "_root\n" : "\n");
}

/* ---- parameters */

static void put_words(struct buf *out, int depth, const char *(*word)(unsigned), unsigned n)
{
	line(out, depth, "enum:");
	for (unsigned i = 0; i < n; i++)
		line(out, depth + 1, "- %s", word(i));
}

static const char *kind_word(unsigned i)
{
	return op_kind_name((enum op_kind)i);
}

static const char *state_word(unsigned i)
{
	return alert_state_name((enum alert_state)i);
}

static const char *order_word(unsigned i)
{
	return i == 0 ? "newest" : "oldest";
}

static void put_parameter(struct buf *out, int depth, enum param_id id, bool required)
{
	line(out, depth, "name: %s", param_name(id));
	line(out, depth, "in: query");
	if (required)
		line(out, depth, "required: true");
	quoted(out, depth, "description", param_help(id));
	line(out, depth, "schema:");
	line(out, depth + 1, "type: %s", id == PARAM_LIMIT ? "integer" : "string");
	if (id == PARAM_KIND)
		put_words(out, depth + 1, kind_word, OP_KINDS);
	if (id == PARAM_STATE)
		put_words(out, depth + 1, state_word, ALERT_STATES);
	if (id == PARAM_ORDER)
		put_words(out, depth + 1, order_word, 2);
	if (id != PARAM_LIMIT)
		return;
	line(out, depth + 1, "minimum: 1");
	line(out, depth + 1, "maximum: %d", QUERY_LIMIT_MAX);
	line(out, depth + 1, "default: %d", QUERY_LIMIT_DEFAULT);
}

/* Without which there is no answer. */
static bool is_required(const struct route *r, enum param_id id)
{
	return (r->run == trend_get && id == PARAM_OP) || (r->run == compare_get && id == PARAM_SERVICE);
}

static void put_parameters(struct buf *out, const struct route *r)
{
	bool has_id = str_contains(str_of(r->path), STR("{id}"));

	if (r->params == 0 && !has_id)
		return;
	line(out, 3, "parameters:");
	if (has_id)
		line(out, 4, "- $ref: '#/components/parameters/id'");
	for (unsigned i = 0; i < PARAMS; i++) {
		enum param_id id = (enum param_id)i;

		if ((r->params & PARAM_BIT(i)) == 0)
			continue;
		if (!is_required(r, id)) {
			line(out, 4, "- $ref: '#/components/parameters/%s'", param_name(id));
			continue;
		}
		line(out, 4, "-");
		put_parameter(out, 5, id, true);
	}
}

static void put_body(struct buf *out, const struct route *r)
{
	if (r->body == NULL)
		return;
	line(out, 3, "requestBody:");
	line(out, 4, "required: true");
	line(out, 4, "content:");
	line(out, 5, "application/json:");
	line(out, 6, "schema:");
	put_type(out, 7, str_of(r->body));
	if (r->run == ingest_post) {
		line(out, 5, "application/x-protobuf:");
		line(out, 6, "schema:");
		line(out, 7, "type: string");
		line(out, 7, "contentEncoding: binary");
	}
}

static void put_responses(struct buf *out, const struct route *r)
{
	bool other = strchr(r->answer, '/') != NULL;

	line(out, 3, "responses:");
	line(out, 4, "'%d':", r->status == 0 ? 200 : r->status);
	line(out, 5, "description: Done.");
	line(out, 5, "content:");
	line(out, 6, "%s:", other ? r->answer : "application/json");
	line(out, 7, "schema:");
	put_type(out, 8, other ? STR("string") : str_of(r->answer));
	line(out, 4, "default:");
	line(out, 5, "$ref: '#/components/responses/problem'");
}

static void put_security(struct buf *out, const struct route *r)
{
	static const char *const roles[NEEDS] = { [NEED_READ] = "read", [NEED_INGEST] = "ingest",
		[NEED_ADMIN] = "admin" };

	if (r->need == NEED_NOTHING) {
		line(out, 3, "security: []");
		return;
	}
	line(out, 3, "security:");
	line(out, 4, "- token: [%s]", roles[r->need]);
	line(out, 4, "- {}"); /* from loopback */
}

static void put_route(struct buf *out, const struct route *r)
{
	line(out, 2, "%s:", method_key(r->method));
	put_operation_id(out, r);
	quoted(out, 3, "summary", r->summary);
	put_security(out, r);
	put_parameters(out, r);
	put_body(out, r);
	put_responses(out, r);
}

static void put_paths(struct buf *out)
{
	line(out, 0, "paths:");
	for (size_t i = 0; i < n_routes; i++) {
		bool seen = false;

		for (size_t k = 0; k < i; k++)
			seen = seen || strcmp(routes[k].path, routes[i].path) == 0;
		if (seen)
			continue;
		line(out, 1, "%s:", routes[i].path);
		for (size_t k = i; k < n_routes; k++)
			if (strcmp(routes[k].path, routes[i].path) == 0)
				put_route(out, &routes[k]);
	}
}

/* ---- components */

static void put_all_parameters(struct buf *out)
{
	line(out, 1, "parameters:");
	line(out, 2, "id:");
	line(out, 3, "name: id");
	line(out, 3, "in: path");
	line(out, 3, "required: true");
	line(out, 3, "schema:");
	line(out, 4, "type: string");
	for (unsigned i = 0; i < PARAMS; i++) {
		line(out, 2, "%s:", param_name((enum param_id)i));
		put_parameter(out, 3, (enum param_id)i, false);
	}
}

static void put_problem(struct buf *out)
{
	line(out, 1, "responses:");
	line(out, 2, "problem:");
	buf_text(out, "      description: \"A mistake. Types (behind urn:trainspotter:) and their status:");
	for (unsigned i = 0; i < PROBLEMS; i++)
		buf_fmt(out, "%s %s %d", i == 0 ? "" : ",", problem_word((enum problem)i),
			problem_status((enum problem)i));
	buf_text(out, ".\"\n");
	line(out, 3, "content:");
	line(out, 4, "application/problem+json:");
	line(out, 5, "schema:");
	line(out, 6, "$ref: '#/components/schemas/Problem'");
}

/* Of "trainspotterd 0.1.0" the number. */
static const char *number_of(const char *version)
{
	const char *blank = version == NULL ? NULL : strrchr(version, ' ');

	return blank != NULL ? blank + 1 : version == NULL ? "" : version;
}

static void put_head(struct buf *out, const char *version)
{
	line(out, 0, "openapi: 3.1.0");
	line(out, 0, "info:");
	line(out, 1, "title: Trainspotter");
	quoted(out, 1, "version", number_of(version));
	quoted(out, 1, "description",
		"Per-op timings of a fleet of Trainium hosts, and what deploys did to them. Times are nanoseconds, moments nanoseconds since "
		"1970. Requests from loopback need no token. doc/api.md tells more.");
	line(out, 1, "license:");
	line(out, 2, "name: Apache-2.0");
	line(out, 2, "identifier: Apache-2.0");
	line(out, 0, "servers:");
	line(out, 1, "- url: /");
}

void openapi_get(struct api_call *c)
{
	struct buf *out = &c->rp->body;

	c->rp->content_type = "application/yaml";
	put_head(out, c->api->set.version);
	put_paths(out);
	line(out, 0, "components:");
	line(out, 1, "securitySchemes:");
	line(out, 2, "token:");
	line(out, 3, "type: http");
	line(out, 3, "scheme: bearer");
	put_all_parameters(out);
	put_problem(out);
	line(out, 1, "schemas:");
	for (size_t i = 0; i < n_schemas; i++)
		put_schema(out, &schemas[i]);
}
