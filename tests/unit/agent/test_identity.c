#include "agent/identity.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/podinfo.h"
#include "base/clock.h"
#include "tests/unit/agent/folder.h"

Suite *suite_identity(void);

#define A "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define B "fedcba9876543210fedcba9876543210fedcba9876543210fedcba9876543210"
#define UID "1f0c8a5e-77b1-4c21-9c4d-0a1b2c3d4e5f"
#define UID_ "1f0c8a5e_77b1_4c21_9c4d_0a1b2c3d4e5f"
#define STATIC "0123456789abcdef0123456789abcdef"

static struct worker w;
static struct identity id;
static struct identity_conf cf;
static struct err e;
static char podinfo[] = "/etc/podinfo", name[] = "app.kubernetes.io/name", version[] = "app.kubernetes.io/version", none[] = "";
static char release[] = "team/release", longer[] = "long";

static void setup(void)
{
	folder_make();
	w = (struct worker){ .pid = 7, .born_ticks = 1 };
	ck_assert(str_copy_to(str_of(folder), w.root, sizeof(w.root)));
	cf = (struct identity_conf){ .podinfo = podinfo, .service_label = name, .deploy_label = version, .neuron_ls = none };
	err_clear(&e);
}

/* ---- cgroups */

static const struct {
	const char *what, *text, *container, *pod_uid, *runtime;
} cgroups[] = {
	{ "no container", "0::/user.slice/user-1000.slice/session-3.scope\n", "", "", "" },
	{ "the root", "0::/\n", "", "", "" },
	{ "containerd, systemd's driver, version 2",
		"0::/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" UID_ ".slice/cri-containerd-" A ".scope\n", A, UID,
		"containerd" },
	{ "a guaranteed pod", "0::/kubepods.slice/kubepods-pod" UID_ ".slice/cri-containerd-" A ".scope\n", A, UID, "containerd" },
	{ "cri-o", "0::/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod" UID_ ".slice/crio-" A ".scope\n", A, UID,
		"cri-o" },
	{ "cri-o with a group of its own inside", "0::/kubepods.slice/kubepods-pod" UID_ ".slice/crio-" A ".scope/container\n", A,
		UID, "cri-o" },
	{ "cri-o, cgroupfs", "0::/kubepods/burstable/pod" UID "/crio-" A "\n", A, UID, "cri-o" },
	{ "its monitor is in no container", "0::/kubepods.slice/kubepods-pod" UID_ ".slice/crio-conmon-" A ".scope\n", "", UID, "" },
	{ "cgroupfs does not tell whose", "0::/kubepods/besteffort/pod" UID "/" A "\n", A, UID, "" },
	{ "a static pod", "0::/kubepods/burstable/pod" STATIC "/" A "\n", A, STATIC, "" },
	{ "docker", "0::/system.slice/docker-" A ".scope\n", A, "", "docker" },
	{ "docker, cgroupfs", "0::/docker/" A "\n", A, "", "docker" },
	{ "docker of Kubernetes", "0::/kubepods.slice/kubepods-pod" UID_ ".slice/docker-" A ".scope\n", A, UID, "docker" },
	{ "podman without root", "0::/user.slice/user-1.slice/user@1.service/user.slice/libpod-" A ".scope/container\n", A, "", "podman" },
	{ "version 1",
		"12:memory:/kubepods/burstable/pod" UID "/" A "\n11:cpu,cpuacct:/kubepods/burstable/pod" UID "/" A "\n"
		"1:name=systemd:/kubepods/burstable/pod" UID "/" A "\n0::/system.slice/containerd.service\n", A, UID, "" },
	{ "a mixture whose first line says nothing", "0::/\n5:pids:/\n1:name=systemd:/docker/" A "\n", A, "", "docker" },
	{ "nested in a service", "11:memory:/system.slice/containerd.service/kubepods-burstable-pod" UID_ ".slice:cri-containerd:" A "\n",
		A, UID, "containerd" },
	{ "Kubernetes in docker: the inner one",
		"0::/docker/" B "/kubelet/kubepods/burstable/pod" UID "/" A "\n", A, UID, "" },
	{ "kind, with slices of its own",
		"0::/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-burstable.slice/kubelet-kubepods-burstable-pod" UID_
		".slice/cri-containerd-" A ".scope\n", A, UID, "containerd" },
	{ "systemd in a container", "0::/system.slice/docker-" A ".scope/system.slice/sshd.service\n", A, "", "docker" },
	{ "seen from a cgroup namespace beside it", "0::/../../kubepods-pod" UID_ ".slice/cri-containerd-" A ".scope\n", A, UID,
		"containerd" },
	{ "a task of ECS", "0::/ecs/5f2c1d/" A "\n", A, "", "" },
	{ "a scope that only looks like one", "0::/system.slice/mydocker-" A ".scope/docker-0123.scope/podium\n", "", "", "" },
	{ "digits that are too many", "0::/docker/0" A "\n", "", "", "" },
	{ "a pod without a uid", "0::/kubepods/podabc/pod-" UID "\n", "", "", "" },
	{ "rubbish", "a\n::\n:\n\n0:", "", "", "" },
};

START_TEST(a_cgroup_tells_pod_and_container)
{
	struct cgroup c;

	cgroup_parse(&c, str_of(cgroups[_i].text));
	ck_assert_msg(strcmp(c.container, cgroups[_i].container) == 0, "%s: %s", cgroups[_i].what, c.container);
	ck_assert_msg(strcmp(c.pod_uid, cgroups[_i].pod_uid) == 0, "%s: %s", cgroups[_i].what, c.pod_uid);
	ck_assert_msg(strcmp(cgroup_runtime_name(c.runtime), cgroups[_i].runtime) == 0, "%s: %s", cgroups[_i].what,
		cgroup_runtime_name(c.runtime));
}
END_TEST

/* ---- the downward API's quotes */

static const struct {
	const char *text, *key, *value; /* NULL: none */
} labels[] = {
	{ "app=\"llm\"\ntier=\"gpu\"", "tier", "gpu" },
	{ "app=\"llm\"\ntier=\"gpu\"\n", "app", "llm" },
	{ "xapp=\"a\"\nappx=\"b\"\napp/x=\"c\"", "app", NULL },
	{ "a=\"\"", "a", "" },
	{ "a=\"1\\n2, \\\"q\\\" \\\\ \\t\"", "a", "1\n2, \"q\" \\ \t" },
	{ "a=\"b=c\"", "a", "b=c" },
	{ "a=\"\\u00e9\\u4e16\\U0001f600\\x7e\"", "a", "\303\251\344\270\226\360\237\230\200~" },
	{ "a=\"\303\251\"", "a", "\303\251" },
	{ "a=\"\\a\\b\\f\\r\\v\"", "a", "\a\b\f\r\v" },
	{ "a=bare", "a", "bare" },
	{ "a=\"open", "a", NULL },
	{ "a=\"", "a", NULL },
	{ "a=\"shut\"more", "a", NULL },
	{ "a=\"\\q\"", "a", NULL },
	{ "a=\"\\", "a", NULL },
	{ "a=\"\\u12\"", "a", NULL },
	{ "a=\"\\u12", "a", NULL },
	{ "a=\"\\ud800\"", "a", NULL },
	{ "a=\"\\U00110000\"", "a", NULL },
	{ "a=\"\\x00b\"", "a", NULL },
	{ "a=\"0123456789abcdef\"", "a", NULL },
	{ "a=\"0123456789abcde\"", "a", "0123456789abcde" },
	{ "a", "a", NULL },
	{ "", "a", NULL },
};

START_TEST(labels_are_read_with_their_quotes)
{
	char out[20] = "before";
	bool found = podinfo_get(str_of(labels[_i].text), str_of(labels[_i].key), out, 16);

	ck_assert_msg(found == (labels[_i].value != NULL), "%s", labels[_i].text);
	ck_assert_str_eq(out, labels[_i].value == NULL ? "" : labels[_i].value);
}
END_TEST

/* ---- who is first */

static void make_podinfo(void)
{
	ck_assert_int_eq(mkdir(folder_path("etc"), 0700), 0);
	ck_assert_int_eq(mkdir(folder_path("etc/podinfo"), 0700), 0);
	ck_assert_int_eq(mkdir(folder_path("etc/podinfo/..2026"), 0700), 0);
	ck_assert_int_eq(symlink("..2026", folder_path("etc/podinfo/..data")), 0);
	ck_assert_int_eq(symlink("..data/labels", folder_path("etc/podinfo/labels")), 0);
	folder_write("etc/podinfo/..2026/labels", STR("app.kubernetes.io/name=\"llm-decode\"\napp.kubernetes.io/version=\"v42\""));
	folder_write("etc/podinfo/name", STR("llm-decode-5b8f-x2x7z\n"));
	folder_write("etc/podinfo/namespace", STR("inference"));
}

static struct str label(const char *key)
{
	static struct label all[IDENTITY_LABELS_MAX];
	size_t n = identity_labels(&id, all);

	for (size_t i = 0; i < n; i++)
		if (str_eq(all[i].key, str_of(key)))
			return all[i].value;
	return STR("");
}

START_TEST(a_pod_names_service_and_deploy_where_nobody_else_does)
{
	make_podinfo();
	identity_read(&id, &cf, &w, &(struct identity_section){ "", "", "" }, NULL);
	ck_assert_str_eq(id.service, "llm-decode");
	ck_assert_str_eq(id.deploy, "v42");
	ck_assert(str_eq(label("pod"), STR("llm-decode-5b8f-x2x7z")));
	ck_assert(str_eq(label("namespace"), STR("inference")));
	identity_read(&id, &cf, &w, &(struct identity_section){ "from-conf", "", "" }, NULL);
	ck_assert_str_eq(id.service, "from-conf");
	ck_assert_str_eq(id.deploy, "v42");
	snprintf(w.service, sizeof(w.service), "from-env");
	snprintf(w.deploy, sizeof(w.deploy), "v43");
	identity_read(&id, &cf, &w, &(struct identity_section){ "from-conf", "v1", "" }, NULL);
	ck_assert_str_eq(id.service, "from-env");
	ck_assert_str_eq(id.deploy, "v43");
}
END_TEST

START_TEST(of_a_process_that_was_not_read_no_pod_is_asked)
{
	make_podinfo();
	w.born_ticks = 0;
	identity_read(&id, &cf, &w, &(struct identity_section){ "s", "", "3" }, NULL);
	ck_assert_str_eq(id.service, "s");
	ck_assert_str_eq(id.worker, "3");
	ck_assert_str_eq(id.deploy, "");
	ck_assert_str_eq(id.pod, "");
}
END_TEST

START_TEST(annotations_are_asked_after_labels)
{
	make_podinfo();
	folder_write("etc/podinfo/annotations", STR("app.kubernetes.io/name=\"no\"\nteam/release=\"r7\\u002d1\"\nlong=\"a\\nb\""));
	cf.deploy_label = release;
	identity_read(&id, &cf, &w, &(struct identity_section){ "", "", "" }, NULL);
	ck_assert_str_eq(id.service, "llm-decode");
	ck_assert_str_eq(id.deploy, "r7-1");
	cf.deploy_label = longer; /* a value that is no name */
	cf.service_label = none;
	identity_read(&id, &cf, &w, &(struct identity_section){ "", "", "" }, NULL);
	ck_assert_str_eq(id.service, "");
	ck_assert_str_eq(id.deploy, "");
}
END_TEST

START_TEST(a_link_in_a_container_reads_nothing_of_the_host)
{
	char secret[] = "/tmp/secret-XXXXXX";
	int fd = mkstemp(secret);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, "secret", 6), 6);
	close(fd);
	make_podinfo();
	unlink(folder_path("etc/podinfo/name"));
	unlink(folder_path("etc/podinfo/namespace"));
	ck_assert_int_eq(symlink(secret, folder_path("etc/podinfo/name")), 0);
	ck_assert_int_eq(symlink("../../../../../../../../../../../../etc/hostname", folder_path("etc/podinfo/namespace")), 0);
	identity_read(&id, &cf, &w, &(struct identity_section){ "", "", "" }, NULL);
	ck_assert_str_eq(id.pod, "");
	ck_assert_str_eq(id.pod_namespace, "");
	unlink(folder_path("etc/podinfo/name"));
	ck_assert_int_eq(mkfifo(folder_path("etc/podinfo/name"), 0600), 0); /* never waited for */
	identity_read(&id, &cf, &w, &(struct identity_section){ "", "", "" }, NULL);
	ck_assert_str_eq(id.pod, "");
	unlink(secret);
}
END_TEST

START_TEST(an_absolute_link_of_a_container_is_its_own)
{
	make_podinfo();
	unlink(folder_path("etc/podinfo/name"));
	folder_write("etc/its-name", STR("mine"));
	ck_assert_int_eq(symlink("/etc/its-name", folder_path("etc/podinfo/name")), 0);
	identity_read(&id, &cf, &w, &(struct identity_section){ "", "", "" }, NULL);
	ck_assert_str_eq(id.pod, "mine");
}
END_TEST

START_TEST(without_files_the_environment_names_the_pod)
{
	snprintf(w.pod, sizeof(w.pod), "p-0");
	snprintf(w.pod_namespace, sizeof(w.pod_namespace), "ns");
	cgroup_parse(&w.cgroup, STR("0::/kubepods.slice/kubepods-pod" UID_ ".slice/cri-containerd-" A ".scope\n"));
	identity_read(&id, &cf, &w, &(struct identity_section){ "", "", "" }, NULL);
	ck_assert(str_eq(label("pod"), STR("p-0")));
	ck_assert(str_eq(label("namespace"), STR("ns")));
	ck_assert(str_eq(label("pod_uid"), STR(UID)));
	ck_assert(str_eq(label("container"), STR(A)));
	ck_assert(str_eq(label("container_runtime"), STR("containerd")));
	ck_assert(str_eq(label("neuron_cores"), STR("")));
}
END_TEST

/* ---- neuron-ls */

static const char two_devices[] =
	"[{\"neuron_device\":0,\"nc_count\":4,\"neuroncore_ids\":[0,1,2,3],\"neuron_processes\":[{\"pid\":11,\"command\":\"\"},"
	"{\"pid\":12,\"command\":\"x\"}]},"
	"{\"neuron_device\":1,\"nc_count\":4,\"neuroncore_ids\":[4,5,6,7],\"neuron_processes\":[{\"pid\":7,\"command\":\"\"}]},"
	"{\"neuron_device\":3,\"nc_count\":4,\"neuroncore_ids\":[12,13,14,15],\"neuron_processes\":[{\"pid\":7},{\"pid\":7}]}]";

START_TEST(neuron_ls_tells_cores_by_process)
{
	struct cores_table t;

	ck_assert_msg(cores_parse(&t, str_of(two_devices), &e) == OK, "%s", e.text);
	ck_assert_uint_eq(t.n, 3);
	ck_assert_int_eq(t.v[0].pid, 7);
	ck_assert_str_eq(t.v[0].text, "4-7,12-15");
	ck_assert_str_eq(t.v[0].devices, "1,3");
	ck_assert(t.v[0].alone);
	ck_assert_int_eq(t.v[1].pid, 11);
	ck_assert_str_eq(t.v[1].text, "0-3");
	ck_assert_str_eq(t.v[1].devices, "0");
	ck_assert(!t.v[1].alone);
	vec_fini(&t);
	ck_assert_int_eq(cores_parse(&t, STR("neuron-ls: no driver\n"), &e), E_FORMAT);
	vec_fini(&t);
}
END_TEST

START_TEST(cores_of_any_number_are_told_as_they_are)
{
	struct cores_table t;

	ck_assert_msg(cores_parse(&t, STR("[{\"neuron_device\":0,\"nc_count\":2,\"neuroncore_ids\":[9223372036854775807,"
		"9223372036854775806,0],\"neuron_processes\":[{\"pid\":11}]}]"), &e) == OK, "%s", e.text);
	ck_assert_uint_eq(t.n, 1);
	ck_assert_str_eq(t.v[0].text, "0,9223372036854775806-9223372036854775807");
	vec_fini(&t);
}
END_TEST

static void wait_for_cores(struct identities *ids, int64_t now_ns)
{
	for (int i = 0; i < 1000; i++) {
		identities_read(ids, &id, &w, &(struct identity_section){ "", "", "" }, now_ns);
		if (id.devices[0] != '\0' || id.cores[0] != '\0')
			return;
		clock_sleep_ns(10 * NS_PER_MS);
		identities_look(ids);
	}
}

static void write_program(const char *text)
{
	folder_write("neuron-ls", str_of(text));
	ck_assert_int_eq(chmod(folder_path("neuron-ls"), 0700), 0);
}

START_TEST(neuron_ls_is_asked_for_a_worker_that_holds_a_device_and_rarely)
{
	struct identities *ids;
	char script[6000], program[PATH_MAX];

	snprintf(script, sizeof(script), "#!/bin/sh\n[ \"$*\" = -j ] && [ -z \"$TRAINSPOTTER_TOKEN\" ] || exit 2\necho x >> %s/asked\nexec echo '%s'\n", folder, two_devices);
	write_program(script);
	snprintf(program, sizeof(program), "%s", folder_path("neuron-ls"));
	cf.neuron_ls = program;
	cf.neuron_ls_every_ns = 10 * NS_PER_MIN;
	ck_assert_int_eq(setenv("TRAINSPOTTER_TOKEN", "a secret", 1), 0);
	ids = identities_new(&cf);
	identities_read(ids, &id, &w, &(struct identity_section){ "", "", "" }, NS_PER_S);
	ck_assert_int_eq(identities_fd(ids), -1); /* no device, no question */
	w.owns_device = true;
	wait_for_cores(ids, 2 * NS_PER_S);
	ck_assert_str_eq(id.cores, "4-7,12-15");
	ck_assert_str_eq(id.worker, "4-7,12-15");
	ck_assert(str_eq(label("neuron_devices"), STR("1,3")));
	for (int i = 0; i < 9; i++) { /* known: every ten minutes; unknown: every minute */
		identities_read(ids, &id, &w, &(struct identity_section){ "", "", "" }, (int64_t)i * NS_PER_MIN);
		clock_sleep_ns(10 * NS_PER_MS);
		identities_look(ids);
	}
	{
		struct buf b;

		buf_init(&b, 100);
		folder_read("asked", &b);
		ck_assert_uint_eq(b.n, 2);
		buf_fini(&b);
	}
	snprintf(w.worker, sizeof(w.worker), "3");
	w.pid = 11;
	identities_read(ids, &id, &w, &(struct identity_section){ "", "", "" }, 3 * NS_PER_S);
	ck_assert_str_eq(id.worker, "3");
	ck_assert_str_eq(id.devices, "0");
	ck_assert_str_eq(id.cores, ""); /* another process holds the device, too */
	identities_free(ids);
	unsetenv("TRAINSPOTTER_TOKEN");
}
END_TEST

START_TEST(a_neuron_ls_that_fails_is_no_harm)
{
	struct identities *ids;
	char program[PATH_MAX];

	write_program("#!/bin/sh\nexit 3\n");
	snprintf(program, sizeof(program), "%s", folder_path("neuron-ls"));
	cf.neuron_ls = program;
	cf.neuron_ls_every_ns = 10 * NS_PER_MIN;
	w.owns_device = true;
	ids = identities_new(&cf);
	for (int i = 0; i < 20; i++) {
		identities_read(ids, &id, &w, &(struct identity_section){ "s", "", "" }, NS_PER_S);
		clock_sleep_ns(10 * NS_PER_MS);
		identities_look(ids);
	}
	ck_assert_str_eq(id.service, "s");
	ck_assert_str_eq(id.cores, "");
	identities_free(ids);
}
END_TEST

Suite *suite_identity(void)
{
	Suite *s = suite_create("agent/identity");
	TCase *tc = tcase_create("identity");

	tcase_add_checked_fixture(tc, setup, folder_remove);
	tcase_add_loop_test(tc, a_cgroup_tells_pod_and_container, 0, COUNT(cgroups));
	tcase_add_loop_test(tc, labels_are_read_with_their_quotes, 0, COUNT(labels));
	tcase_add_test(tc, a_pod_names_service_and_deploy_where_nobody_else_does);
	tcase_add_test(tc, of_a_process_that_was_not_read_no_pod_is_asked);
	tcase_add_test(tc, annotations_are_asked_after_labels);
	tcase_add_test(tc, a_link_in_a_container_reads_nothing_of_the_host);
	tcase_add_test(tc, an_absolute_link_of_a_container_is_its_own);
	tcase_add_test(tc, without_files_the_environment_names_the_pod);
	tcase_add_test(tc, neuron_ls_tells_cores_by_process);
	tcase_add_test(tc, cores_of_any_number_are_told_as_they_are);
	tcase_add_test(tc, neuron_ls_is_asked_for_a_worker_that_holds_a_device_and_rarely);
	tcase_add_test(tc, a_neuron_ls_that_fails_is_no_harm);
	suite_add_tcase(s, tc);
	return s;
}
