#include "daemon/tables.h"

int tables_load(struct tables *t, const struct daemon_conf *c, struct err *e)
{
	int rc;

	*t = (struct tables){ NULL, NULL };
	rc = fusion_table_new(&t->fusion, e);
	if (rc == OK && c->detect_fusion_table[0] != '\0')
		rc = fusion_table_add(t->fusion, c->detect_fusion_table, e);
	if (rc == OK && c->auth_tokens_file[0] != '\0')
		rc = auth_load(&t->auth, c->auth_tokens_file, e);
	return rc;
}

void tables_fini(struct tables *t)
{
	fusion_table_free(t->fusion);
	auth_free(t->auth);
}

int tables_give(struct tables *t, struct api *api, struct err *e)
{
	int rc = api_set_fusion(api, &t->fusion, e);

	return rc == OK ? api_set_auth(api, &t->auth, e) : rc;
}
