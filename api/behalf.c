#include "api/behalf.h"

#include <arpa/inet.h>

enum { BEHALF_NAME_MAX = 255 };

/* "host", "host:port" or "[v6]:port" to what stands in front of the port, without brackets; false where it is none of them. */
static bool split_authority(struct str authority, struct str *host, bool *v6)
{
	struct str rest = authority;

	*v6 = str_drop_prefix(&rest, STR("["));
	*host = str_upto(rest, str_find_byte(rest, *v6 ? ']' : ':'));
	rest = str_from(rest, host->n);
	if (*v6 && !str_drop_prefix(&rest, STR("]")))
		return false;
	if (str_drop_prefix(&rest, STR(":")))
		while (!str_empty(rest) && rest.p[0] >= '0' && rest.p[0] <= '9')
			rest = str_from(rest, 1);
	return str_empty(rest) && !str_empty(*host) && host->n <= BEHALF_NAME_MAX;
}

struct place {
	bool address;  /* not a name */
	bool loopback; /* ::1, 127.…, localhost and names under it */
	bool ownable;  /* a name with a dot: somebody may have registered it */
};

static struct place place_of_address(int family, const char *text)
{
	struct in6_addr six;
	struct in_addr four;

	if (family == AF_INET6 && inet_pton(AF_INET6, text, &six) == 1)
		return (struct place){ .address = true, .loopback = IN6_IS_ADDR_LOOPBACK(&six) };
	if (family == AF_INET && inet_pton(AF_INET, text, &four) == 1)
		return (struct place){ .address = true, .loopback = ntohl(four.s_addr) >> 24 == 127 };
	return (struct place){ .address = false };
}

/* localhost.localdomain and localhost6.localdomain6, which nobody can register. */
static bool is_of_hosts_file(struct str name)
{
	return str_has_suffix(name, STR(".localdomain")) || str_has_suffix(name, STR(".localdomain6"));
}

static struct place place_of(struct str authority)
{
	struct place other = { .ownable = true }, at;
	char text[BEHALF_NAME_MAX + 1];
	struct str host;
	bool v6;

	if (!split_authority(authority, &host, &v6))
		return other;
	str_drop_suffix(&host, STR(".")); /* of the root */
	if (str_empty(host) || !str_copy_to(host, text, sizeof(text)))
		return other;
	at = place_of_address(v6 ? AF_INET6 : AF_INET, text);
	if (at.address)
		return at;
	for (size_t i = 0; i < host.n; i++) {
		if (text[i] >= 'A' && text[i] <= 'Z')
			text[i] = (char)(text[i] + ('a' - 'A'));
		if ((text[i] < 'a' || text[i] > 'z') && (text[i] < '0' || text[i] > '9') && strchr("-_.", text[i]) == NULL)
			return other;
	}
	at.loopback = !v6 && (str_eq(str_of(text), STR("localhost")) || str_has_suffix(str_of(text), STR(".localhost")));
	at.ownable = v6 || (!at.loopback && strchr(text, '.') != NULL && !is_of_hosts_file(str_of(text)));
	return at;
}

static bool is_origin_here(struct str origin, struct str host)
{
	if (!str_drop_prefix(&origin, STR("http://")) && !str_drop_prefix(&origin, STR("https://")))
		return false;
	return place_of(origin).loopback || (!str_empty(host) && str_eq(origin, host));
}

const char *behalf_of_other(const struct http_request *rq, bool writes)
{
	static const char *const passed_on[] = { "Forwarded", "X-Forwarded-For", "X-Real-IP", "Via" };
	struct str host = http_header_get(rq, "Host"), origin = http_header_get(rq, "Origin");

	if (!str_empty(host) && place_of(host).ownable)
		return "Host";
	if (!str_empty(origin) && !is_origin_here(origin, host))
		return "Origin";
	for (size_t i = 0; writes && i < COUNT(passed_on); i++)
		if (!str_empty(http_header_get(rq, passed_on[i])))
			return passed_on[i];
	return NULL;
}
