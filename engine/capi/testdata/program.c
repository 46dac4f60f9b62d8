/* The test of the C library: it runs in an empty folder, prints each check that fails, and exits with 1 then. */
#include "heddle.h"
#include "libheddle.h" /* of cgo: its declarations must agree with heddle.h */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failed;
static heddle_error why;

#define CHECK(condition) \
	do { if (!(condition)) { failed = 1; printf("%s:%d: %s (%d %s)\n", __FILE__, __LINE__, #condition, why.code, why.text); } } while (0)
#define OK(call) CHECK((call) == HEDDLE_OK)
#define FAILS(code_, call) \
	do { CHECK((call) == code_); CHECK(why.code == code_ && why.text[0] != 0); } while (0)
#define LENGTH(array) (sizeof(array) / sizeof *(array))

static void write_file(const char *name, const char *text) {
	FILE *f = fopen(name, "w");
	CHECK(f && fputs(text, f) >= 0 && fclose(f) == 0);
}

static heddle_handle engine, books, years;

static void opening(void) {
	heddle_bytes summary = {0};
	uint64_t rows = 0;
	const char *text = "books.tsv", *attributes = "years.csv", *absent = "absent.tsv";
	CHECK(heddle_abi_version() == HEDDLE_ABI_VERSION && heddle_version()[0] != 0);
	CHECK(strcmp(heddle_code_name(HEDDLE_INVALID_QUERY), "invalid_query") == 0);
	CHECK(strcmp(heddle_code_name(HEDDLE_INTERNAL), "internal") == 0 && strcmp(heddle_code_name(HEDDLE_UNAVAILABLE), "unavailable") == 0 && strcmp(heddle_code_name(HEDDLE_SHORT_BUFFER), "short_buffer") == 0);
	CHECK(heddle_code_name(50) == NULL && heddle_code_name(-1) == NULL);

	OK(heddle_engine_open(NULL, "devices.backend=host\ndevices.threads=2\n", &engine, &why));
	FAILS(HEDDLE_INVALID_OPTION, heddle_engine_open(NULL, "devices.bakcend=host", &(heddle_handle){0}, &why));
	CHECK(strstr(why.text, "devices.backend") != NULL); /* the nearest key */
	FAILS(HEDDLE_INVALID_ARGUMENT, heddle_engine_open(NULL, NULL, NULL, &why));

	write_file("books.tsv", "whale\tthe white whale and the sea\nisland\ta map, an island and the sea\nmoor\ta house on the moor\nballoon\tover sea and land by balloon\n");
	write_file("years.csv", "year,lang\n1851,en\n1883,en\n1847,en\n1863,fr\n");
	OK(heddle_index_build("books.hdl", &text, 1, "{\"format\":\"text\",\"store\":\"text\"}", &summary, NULL, &why));
	CHECK(summary.size > 0 && memmem(summary.data, summary.size, "\"documents\":4", 13) != NULL);
	heddle_free(&summary);
	CHECK(summary.data == NULL && summary.size == 0);
	heddle_free(&summary);
	heddle_free(NULL);
	FAILS(HEDDLE_NOT_FOUND, heddle_index_build("books.hdl", &absent, 1, NULL, &summary, NULL, &why));
	const char *wrong[] = {
		"{\"stemm\":1}", "{\"stem\":\"klingon\"}", "{\"format\":\"odt\"}", "{\"store\":\"all\"}", "{\"impacts\":7}",
		"{\"impacts\":300}", "{\"text\":[\"a\"],\"fields\":[\"b\"]}", "{} {}",
	};
	for (size_t i = 0; i < LENGTH(wrong); i++) FAILS(HEDDLE_INVALID_ARGUMENT, heddle_index_build("books.hdl", &text, 1, wrong[i], &summary, NULL, &why));
	FAILS(HEDDLE_INVALID_ARGUMENT, heddle_index_build("books.hdl", NULL, 1, NULL, &summary, NULL, &why));
	OK(heddle_table_build("years.hdb", &attributes, 1, &rows, NULL, &why));
	CHECK(rows == 4);

	OK(heddle_index_open(engine, "books.hdl", &books, NULL, &why));
	OK(heddle_table_open(engine, "years.hdb", &years, NULL, &why));
	FAILS(HEDDLE_NOT_FOUND, heddle_index_open(engine, "absent.hdl", &(heddle_handle){0}, NULL, &why));
	FAILS(HEDDLE_INVALID_ARGUMENT, heddle_index_open(engine, NULL, &(heddle_handle){0}, NULL, &why));
	FAILS(HEDDLE_INVALID_ARGUMENT, heddle_table_open(engine, NULL, &(heddle_handle){0}, NULL, &why));
	FAILS(HEDDLE_INVALID_ARGUMENT, heddle_collection_open(engine, NULL, NULL, &(heddle_handle){0}, NULL, &why));
	FAILS(HEDDLE_INVALID_HANDLE, heddle_index_open(books, "books.hdl", &(heddle_handle){0}, NULL, &why));
	FAILS(HEDDLE_INVALID_HANDLE, heddle_index_open(0, "books.hdl", &(heddle_handle){0}, NULL, &why));
	FAILS(HEDDLE_INVALID_HANDLE, heddle_close(1234567, &why));
	CHECK(heddle_close(1234567, NULL) == HEDDLE_INVALID_HANDLE); /* an error without a place for its text */
	heddle_info info;
	OK(heddle_info_of(books, &info, &why));
	CHECK(info.documents == 4 && info.segments == 1);
	OK(heddle_info_of(years, &info, &why));
	CHECK(info.documents == 4);
	FAILS(HEDDLE_INVALID_HANDLE, heddle_info_of(engine, &info, &why));
}

static void ranked(void) {
	const char *texts[] = {"whale sea", "moor", "nothing at all", "sea OR"};
	enum { K = 3, GUARD = 7 };
	uint32_t docs[4 * K + 1];
	double scores[4 * K + 1];
	uint64_t counts[5];
	int32_t codes[5] = {0, 0, 0, 0, GUARD};
	docs[4 * K] = GUARD, scores[4 * K] = GUARD, counts[4] = GUARD;
	heddle_queries q = {.count = 3, .texts = texts, .k = K};
	heddle_hits h = {.docs = docs, .scores = scores, .room = 4 * K, .counts = counts, .codes = codes};
	OK(heddle_search(books, &q, &h, NULL, &why));
	CHECK(counts[0] == 3 && docs[0] == 0 && scores[0] > scores[1] && scores[1] >= scores[2]);
	CHECK(counts[1] == 1 && docs[K] == 2 && docs[K + 1] == HEDDLE_NO_DOCUMENT && isinf(scores[K + 1]));
	CHECK(counts[2] == 0 && docs[2 * K] == HEDDLE_NO_DOCUMENT && codes[2] == HEDDLE_OK);
	double first = scores[0];

	q.count = 4;
	FAILS(HEDDLE_INVALID_QUERY, heddle_search(books, &q, &h, NULL, &why));
	CHECK(codes[3] == HEDDLE_INVALID_QUERY && codes[0] == HEDDLE_OK && docs[0] == 0 && docs[K] == 2);
	CHECK(docs[4 * K] == GUARD && scores[4 * K] == GUARD && counts[4] == GUARD && codes[4] == GUARD);
	h.room = 4 * K - 1;
	FAILS(HEDDLE_SHORT_BUFFER, heddle_search(books, &q, &h, NULL, &why));
	h.room = 4 * K, q.count = 3;
	uint64_t offsets[] = {0, K, 2 * K, 3 * K - 1};
	h.offsets = offsets;
	FAILS(HEDDLE_SHORT_BUFFER, heddle_search(books, &q, &h, NULL, &why));
	h.offsets = NULL;
	q.count = 2000000000; // a wrong count ends no process
	FAILS(HEDDLE_INVALID_ARGUMENT, heddle_search(books, &q, &h, NULL, &why));
	q.count = 3;

	q.variant = "robertson", q.k1 = 1.2, q.b = 0.75;
	OK(heddle_search(books, &q, &h, NULL, &why));
	CHECK(scores[0] != first);
	q.variant = "no such";
	FAILS(HEDDLE_INVALID_ARGUMENT, heddle_search(books, &q, &h, NULL, &why));
	q.variant = NULL;
	q.where = "year > 1860", q.table = years;
	OK(heddle_search(books, &q, &h, NULL, &why));
	CHECK(counts[0] == 2 && counts[1] == 0);
	q.where = "year >", q.table = years;
	CHECK(heddle_search(books, &q, &h, NULL, &why) == HEDDLE_INVALID_QUERY);
	q.table = books;
	FAILS(HEDDLE_INVALID_HANDLE, heddle_search(books, &q, &h, NULL, &why));
	q.where = NULL, q.table = 0;

	const char *terms[] = {"balloon", "moor", "sea"};
	double weights[] = {0.5, 2, 1};
	uint64_t of[] = {0, 2, 3};
	heddle_queries w = {.count = 2, .terms = terms, .weights = weights, .first = of, .k = K};
	OK(heddle_search(books, &w, &h, NULL, &why));
	CHECK(counts[0] == 2 && docs[0] == 2 && docs[1] == 3 && counts[1] == 3);
	of[1] = 4;
	FAILS(HEDDLE_INVALID_ARGUMENT, heddle_search(books, &w, &h, NULL, &why));
	w.first = NULL;
	FAILS(HEDDLE_INVALID_ARGUMENT, heddle_search(books, &w, &h, NULL, &why));

	FAILS(HEDDLE_INVALID_ARGUMENT, heddle_search(books, NULL, &h, NULL, &why));
	FAILS(HEDDLE_INVALID_ARGUMENT, heddle_search(books, &q, NULL, NULL, &why));
	h.docs = NULL;
	FAILS(HEDDLE_INVALID_ARGUMENT, heddle_search(books, &q, &h, NULL, &why));
	h.docs = docs, h.counts = NULL;
	FAILS(HEDDLE_INVALID_ARGUMENT, heddle_search(books, &q, &h, NULL, &why));
	h.counts = counts, q.texts = NULL;
	FAILS(HEDDLE_INVALID_ARGUMENT, heddle_search(books, &q, &h, NULL, &why));
	texts[1] = NULL, q.texts = texts;
	FAILS(HEDDLE_INVALID_ARGUMENT, heddle_search(books, &q, &h, NULL, &why));
	q = (heddle_queries){.match = 9};
	FAILS(HEDDLE_INVALID_ARGUMENT, heddle_search(books, &q, &h, NULL, &why));
	FAILS(HEDDLE_INVALID_HANDLE, heddle_search(engine, &q, &h, NULL, &why));
}

static void matching(void) {
	const char *texts[] = {"sea", "house OR balloon"};
	uint32_t docs[6] = {7, 7, 7, 7, 7, 7};
	uint64_t counts[2] = {0}, offsets[] = {0, 3, 5};
	heddle_queries q = {.count = 2, .texts = texts};
	heddle_hits h = {.counts = counts};
	OK(heddle_search(books, &q, &h, NULL, &why));
	CHECK(counts[0] == 3 && counts[1] == 2);
	h.docs = docs, h.room = 5;
	FAILS(HEDDLE_INVALID_ARGUMENT, heddle_search(books, &q, &h, NULL, &why));
	h.offsets = offsets;
	OK(heddle_search(books, &q, &h, NULL, &why));
	CHECK(docs[0] == 0 && docs[1] == 1 && docs[2] == 3 && docs[3] == 2 && docs[4] == 3 && docs[5] == 7);
	offsets[1] = 2, counts[0] = 0;
	FAILS(HEDDLE_SHORT_BUFFER, heddle_search(books, &q, &h, NULL, &why));
	CHECK(counts[0] == 3);

	uint32_t asked[] = {3, HEDDLE_NO_DOCUMENT, 0};
	uint64_t ends[3];
	heddle_bytes names = {0};
	heddle_handle snapshot;
	OK(heddle_snapshot_open(books, &snapshot, &why));
	OK(heddle_names(snapshot, asked, 3, ends, &names, &why));
	CHECK(names.size == 12 && memcmp(names.data, "balloonwhale", 12) == 0 && ends[0] == 7 && ends[1] == 7 && ends[2] == 12);
	heddle_free(&names);
	OK(heddle_close(snapshot, &why));
	FAILS(HEDDLE_CLOSED, heddle_names(snapshot, asked, 3, ends, &names, &why));
	asked[0] = 4;
	FAILS(HEDDLE_INVALID_ARGUMENT, heddle_names(books, asked, 3, ends, &names, &why));
	FAILS(HEDDLE_INVALID_ARGUMENT, heddle_names(books, NULL, 3, ends, &names, &why));
	FAILS(HEDDLE_INVALID_HANDLE, heddle_names(years, asked, 3, ends, &names, &why));
}

static void limits(void) {
	const char *texts[] = {"sea"}, *where = "year > 1860";
	uint64_t counts[1];
	heddle_queries q = {.count = 1, .texts = texts};
	heddle_hits h = {.counts = counts};
	heddle_control c = {.timeout_ns = 1};
	FAILS(HEDDLE_DEADLINE, heddle_search(books, &q, &h, &c, &why));
	c.timeout_ns = -1;
	FAILS(HEDDLE_INVALID_ARGUMENT, heddle_search(books, &q, &h, &c, &why));
	c.timeout_ns = 60000000000;
	OK(heddle_token_open(&c.token, &why));
	OK(heddle_search(books, &q, &h, &c, &why));
	OK(heddle_cancel(c.token, &why));
	FAILS(HEDDLE_CANCELED, heddle_search(books, &q, &h, &c, &why));
	FAILS(HEDDLE_CANCELED, heddle_table_count(years, &where, 1, counts, &c, &why));
	OK(heddle_close(c.token, &why));
	FAILS(HEDDLE_CLOSED, heddle_search(books, &q, &h, &c, &why));
	FAILS(HEDDLE_INVALID_HANDLE, heddle_cancel(books, &why));
	OK(heddle_search(books, &q, &h, NULL, &why)); /* the library is usable */
}

static void table(void) {
	const char *where[] = {"year > 1860", "lang = 'en'", "year <"};
	uint64_t counts[3], count = 0;
	uint32_t rows[3] = {7, 7, 7};
	heddle_bytes file = {0};
	OK(heddle_table_count(years, where, 2, counts, NULL, &why));
	CHECK(counts[0] == 2 && counts[1] == 3);
	FAILS(HEDDLE_INVALID_QUERY, heddle_table_count(years, where, 3, counts, NULL, &why));
	FAILS(HEDDLE_INVALID_ARGUMENT, heddle_table_count(years, where, 2000000000, counts, NULL, &why));
	FAILS(HEDDLE_SHORT_BUFFER, heddle_table_rows(years, where[0], NULL, 0, &count, NULL, &why));
	CHECK(count == 2);
	OK(heddle_table_rows(years, where[0], rows, 2, &count, NULL, &why));
	CHECK(rows[0] == 1 && rows[1] == 3 && rows[2] == 7);
	heddle_aggregation a = {.select = "lang, count(*)", .group_by = "lang", .format = "csv"};
	OK(heddle_table_values(years, &a, &file, NULL, &why));
	CHECK(file.size == 24 && memcmp(file.data, "lang,count(*)\nen,3\nfr,1\n", 24) == 0);
	heddle_free(&file);
	a.format = "xml";
	FAILS(HEDDLE_INVALID_ARGUMENT, heddle_table_values(years, &a, &file, NULL, &why));
	a.format = NULL, a.select = "count(";
	FAILS(HEDDLE_INVALID_QUERY, heddle_table_values(years, &a, &file, NULL, &why));
	a.select = NULL;
	FAILS(HEDDLE_INVALID_ARGUMENT, heddle_table_values(years, &a, &file, NULL, &why));
	FAILS(HEDDLE_INVALID_HANDLE, heddle_table_values(books, &a, &file, NULL, &why));
}

static void collection(void) {
	const char lines[] = "{\"id\":\"a\",\"text\":\"red loom\",\"year\":1999}\n{\"id\":\"b\",\"text\":\"blue loom\",\"year\":2004}\n";
	const char *names[] = {"a", "absent"}, *texts[] = {"loom"};
	heddle_handle news, old, now;
	heddle_change change;
	heddle_info info;
	heddle_bytes name = {0};
	uint32_t docs[2];
	uint64_t counts[1], ends[1];
	heddle_queries q = {.count = 1, .texts = texts, .k = 2, .where = "year > 2000"};
	heddle_hits h = {.docs = docs, .room = 2, .counts = counts};
	FAILS(HEDDLE_NOT_FOUND, heddle_collection_open(engine, "news", NULL, &news, NULL, &why));
	OK(heddle_collection_open(engine, "news", "{\"store\":\"source\",\"attributes\":[{\"name\":\"year\",\"type\":\"int\"}]}", &news, NULL, &why));
	OK(heddle_collection_add(news, lines, sizeof lines - 1, &change, NULL, &why));
	CHECK(change.added == 2 && change.info.documents == 2);
	OK(heddle_collection_update(news, "{\"id\":\"a\",\"year\":2001}", 22, &change, NULL, &why));
	OK(heddle_snapshot_open(news, &old, &why));
	OK(heddle_collection_delete(news, names, 2, &change, NULL, &why));
	CHECK(change.deleted == 1 && change.missing == 1 && change.info.documents == 1);
	OK(heddle_collection_merge(news, &info, NULL, &why));
	CHECK(info.documents == 1 && info.bound == 1);
	OK(heddle_collection_refresh(news, &info, NULL, &why));
	OK(heddle_search(old, &q, &h, NULL, &why));
	CHECK(counts[0] == 2);
	OK(heddle_snapshot_open(news, &now, &why));
	OK(heddle_search(now, &q, &h, NULL, &why));
	OK(heddle_names(now, docs, 1, ends, &name, &why));
	CHECK(counts[0] == 1 && name.size == 1 && name.data[0] == 'b');
	heddle_free(&name);
	FAILS(HEDDLE_INVALID_HANDLE, heddle_names(news, docs, 1, ends, &name, &why));
	CHECK(heddle_collection_add(news, "{", 1, NULL, NULL, &why) != HEDDLE_OK);
	OK(heddle_close(news, &why)); /* closes both snapshots */
	FAILS(HEDDLE_CLOSED, heddle_search(old, &q, &h, NULL, &why));
}

static void evaluation(void) {
	const char run[] = "1 Q0 a 1 2.5 x\n1 Q0 b 2 1.5 x\n", qrels[] = "1 0 b 1\n", topics[] = "1\tjesus wept\n2\tmilk\n";
	heddle_bytes report = {0};
	OK(heddle_evaluate(run, sizeof run - 1, qrels, sizeof qrels - 1, "{\"measures\":[\"map\"]}", &report, &why));
	CHECK(memmem(report.data, report.size, "\"map\":0.5", 9) != NULL);
	heddle_free(&report);
	FAILS(HEDDLE_INVALID_ARGUMENT, heddle_evaluate("x", 1, qrels, sizeof qrels - 1, NULL, &report, &why));
	OK(heddle_topics(topics, sizeof topics - 1, NULL, &report, &why));
	CHECK(memmem(report.data, report.size, "jesus wept", 10) != NULL);
	heddle_free(&report);
	FAILS(HEDDLE_INVALID_ARGUMENT, heddle_topics(topics, 1, "none", &report, &why));
}

static heddle_handle shared;

/* asking searches until the index is closed. Its answers are right or the error "closed". */
static void *asking(void *unused) {
	(void)unused;
	const char *texts[] = {"sea", "moor"};
	for (;;) {
		uint32_t docs[4];
		uint64_t counts[2];
		heddle_error own;
		heddle_queries q = {.count = 2, .texts = texts, .k = 2};
		heddle_hits h = {.docs = docs, .room = 4, .counts = counts};
		int32_t code = heddle_search(shared, &q, &h, NULL, &own);
		if (code == HEDDLE_CLOSED) return NULL;
		if (code != HEDDLE_OK || counts[0] != 2 || counts[1] != 1 || docs[2] != 2) {
			printf("a thread got %d %s\n", code, own.text);
			return &failed;
		}
	}
}

static void threads(void) {
	pthread_t all[6];
	heddle_queries none = {0};
	heddle_hits empty = {0};
	OK(heddle_index_open(engine, "books.hdl", &shared, NULL, &why));
	for (size_t i = 0; i < LENGTH(all); i++) CHECK(pthread_create(&all[i], NULL, asking, NULL) == 0);
	for (int i = 0; i < 200; i++) OK(heddle_search(shared, &none, &empty, NULL, &why));
	OK(heddle_close(shared, &why));
	for (size_t i = 0; i < LENGTH(all); i++) {
		void *bad;
		CHECK(pthread_join(all[i], &bad) == 0 && bad == NULL);
	}
}

int main(void) {
	opening();
	ranked();
	matching();
	limits();
	table();
	collection();
	evaluation();
	threads();
	OK(heddle_close(engine, &why));
	FAILS(HEDDLE_CLOSED, heddle_close(engine, &why));
	FAILS(HEDDLE_CLOSED, heddle_info_of(books, &(heddle_info){0}, &why));
	if (!failed) puts("passed");
	return failed;
}
