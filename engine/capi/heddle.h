/* Code generated from types.h and the Go files beside it; DO NOT EDIT. */
#ifndef HEDDLE_H
#define HEDDLE_H

/* heddle in process, for C and for every language that calls C.
 *
 * A handle is a number that stands for an open engine, index, table, collection, snapshot or token. A closed
 * handle, a handle of another kind and any other number give an error. 0 is never a handle.
 *
 * Functions may be called by several threads at a time, with the same handles too. heddle_close waits for the
 * calls that use the handle. Each function returns a code, HEDDLE_OK if it succeeded, and describes a failure in
 * `fault`, which may be NULL. Unless a text says "may be NULL", a null pointer gives HEDDLE_INVALID_ARGUMENT.
 * Texts are UTF-8 and end in a zero byte. The library keeps no pointer after a call.
 *
 * The library has the runtime of Go inside: after fork a child process must not call it, and it cannot be unloaded.
 */
#ifndef HEDDLE_TYPES
#define HEDDLE_TYPES
#include <stdint.h>

/* The version of this interface: heddle_abi_version returns the version of the library. A library with
 * another version has other functions or structures. */
#define HEDDLE_ABI_VERSION 1

/* Numbers stay as they are. Codes below 100 are the codes of the engine, which the server and the command share. */
enum heddle_code {
	HEDDLE_OK = 0,
	HEDDLE_INVALID_QUERY = 1,     /* the query or predicate cannot be understood */
	HEDDLE_INVALID_OPTION = 2,    /* an option is out of range or contradicts another option */
	HEDDLE_NOT_FOUND = 3,         /* no such file, term or column */
	HEDDLE_NO_DEVICE = 4,         /* no such device, or no processor is left */
	HEDDLE_OVERLOADED = 5,        /* the queue is full: try again */
	HEDDLE_DEADLINE = 6,          /* the time is over */
	HEDDLE_CANCELED = 7,          /* the token was cancelled */
	HEDDLE_OUT_OF_MEMORY = 8,     /* a device has no memory left */
	HEDDLE_CORRUPT = 9,           /* a file is damaged or has an unknown version */
	HEDDLE_UNSUPPORTED = 10,      /* no processor can do this, or the query is above a limit */
	HEDDLE_CLOSED = 11,           /* the handle, or the engine that it needs, is closed */
	HEDDLE_UNAUTHENTICATED = 12,  /* of servers alone */
	HEDDLE_FORBIDDEN = 13,        /* of servers alone */
	HEDDLE_GONE = 14,             /* the content that a cursor belongs to is no longer in service */
	HEDDLE_DISK_FULL = 15,        /* a disk has no room for a file */
	HEDDLE_INTERNAL = 16,         /* any other error */
	HEDDLE_UNAVAILABLE = 17,      /* of servers alone: a machine of the network does not answer */
	HEDDLE_INVALID_HANDLE = 100,  /* no handle, or a handle of another kind */
	HEDDLE_INVALID_ARGUMENT = 101, /* a null pointer, or a number out of range */
	HEDDLE_SHORT_BUFFER = 102     /* a buffer of the caller has too little room */
};

/* The values of heddle_queries.match. */
enum heddle_match {
	HEDDLE_OR = 0,    /* documents with any term */
	HEDDLE_AND = 1,   /* documents with every term */
	HEDDLE_AND_OR = 2 /* of ranked queries: AND if it finds k documents, else OR */
};

/* The number that fills the room of a ranked query behind its last document. It is no document. */
#define HEDDLE_NO_DOCUMENT UINT32_MAX

typedef uint64_t heddle_handle;

typedef struct heddle_error {
	int32_t code;    /* the code that the function returned */
	char text[1020]; /* what failed and why; longer texts are cut */
} heddle_error;

/* Memory that the library has allocated. heddle_free releases it. */
typedef struct heddle_bytes {
	uint8_t *data; /* NULL if size is 0 */
	uint64_t size;
} heddle_bytes;

/* Limits of a call. A null pointer in its place means no limits. */
typedef struct heddle_control {
	int64_t timeout_ns;  /* the time of the call in nanoseconds; 0: no limit */
	heddle_handle token; /* heddle_cancel with this token ends the call; 0: none */
} heddle_control;

/* A batch of queries. Zero is the default of each member. Either texts or terms are given. */
typedef struct heddle_queries {
	uint64_t count;           /* number of queries */
	const char *const *texts; /* `count` queries in heddle's language, such as "heaven^2 earth" */
	/* Index terms without analysis: query i has terms[first[i]] to terms[first[i+1]-1]. */
	const char *const *terms;
	const double *weights; /* a weight for each term, positive and finite; may be NULL: each 1 */
	const uint64_t *first; /* count + 1 numbers, ascending from 0 */
	uint32_t k;            /* the best k documents with scores; 0: all matching documents, without scores */
	int32_t match;         /* enum heddle_match */
	int32_t literal;       /* not 0: texts are words alone, without operators */
	const char *variant;   /* "lucene", "robertson", "atire" or "pisa"; NULL: the default, lucene with k1 0.9, b 0.4 */
	double k1, b;          /* of variant */
	const char *where;     /* a predicate on attributes, which documents must satisfy; may be NULL */
	heddle_handle table;   /* the attribute table of an index, for where; 0 for a collection */
} heddle_queries;

/* The memory of answers. */
typedef struct heddle_hits {
	uint32_t *docs;          /* docIDs; NULL: only counts are wanted, and k is 0 */
	double *scores;          /* scores of ranked documents; may be NULL */
	uint64_t room;           /* number of docIDs (and scores) that docs (and scores) can take */
	const uint64_t *offsets; /* where each query begins: count + 1 numbers. NULL: query i begins at i*k */
	uint64_t *counts;        /* receives the number of documents of each query: matching ones if k is 0 */
	int32_t *codes;          /* receives the code of each query; may be NULL. A wrong query does not stop others */
} heddle_hits;

/* Values of the rows of a table that satisfy a predicate. */
typedef struct heddle_aggregation {
	const char *select;   /* a select list, such as "city, count(*), sum(amount)" */
	const char *where;    /* may be NULL: all rows */
	const char *group_by; /* up to four columns; may be NULL */
	const char *order_by; /* such as "sum(amount) DESC"; may be NULL */
	uint64_t offset;      /* first rows of the answer to leave out */
	uint64_t limit;       /* most rows of the answer; 0: all */
	const char *format;   /* "arrow" (a stream in Arrow's IPC format), "parquet", "json" (lines) or "csv"; NULL: "arrow" */
} heddle_aggregation;

typedef struct heddle_info {
	uint64_t documents; /* documents of an index or collection, rows of a table */
	uint64_t bound;     /* above each docID */
	uint64_t state;     /* number of the state of a collection, checksum of a file */
	uint64_t segments;  /* of a collection; else 1 */
} heddle_info;

/* What a change of a collection did. */
typedef struct heddle_change {
	heddle_info info;  /* the collection after the change */
	uint64_t added;    /* documents of the change */
	uint64_t replaced; /* documents whose name a later document has */
	uint64_t deleted;
	uint64_t missing; /* names that no document had */
} heddle_change;

#endif

#ifdef __cplusplus
extern "C" {
#endif

/* heddle_abi_version returns HEDDLE_ABI_VERSION of the library. */
uint32_t heddle_abi_version(void);

/* heddle_version returns the version of heddle, such as "0.1.0". The text stays valid. */
const char *heddle_version(void);

/* heddle_code_name returns the name of a code, such as "invalid_query", or NULL for a number that is no code. The
 * text stays valid. */
const char *heddle_code_name(int32_t code);

/* heddle_free releases memory of the library, and sets `bytes` to zero. NULL and zero have no effect. */
void heddle_free(heddle_bytes *bytes);

/* heddle_engine_open opens the processors of the machine. `file` is a TOML file of heddle's configuration, and may
 * be NULL. `settings` are lines such as "devices.backend=host", which precede the file, and may be NULL. Variables of
 * the environment have no effect. Open one engine in a process: it serves all indexes, tables and threads. */
int32_t heddle_engine_open(const char *file, const char *settings, heddle_handle *handle, heddle_error *fault);

/* heddle_index_open opens an index file (.hdl). */
int32_t heddle_index_open(heddle_handle owner, const char *path, heddle_handle *handle, const heddle_control *control, heddle_error *fault);

/* heddle_table_open opens a table file (.hdb), or a folder of tables with equal columns. */
int32_t heddle_table_open(heddle_handle owner, const char *path, heddle_handle *handle, const heddle_control *control, heddle_error *fault);

/* heddle_collection_open opens the collection in a folder. `settings` may be NULL: then the collection must be there.
 * Else they make it in an absent or empty folder: JSON with the members stem ("english"), stop_words, fold, store
 * ("text" or "source"), positions (true for phrases), fields (["title","body"]) and attributes
 * ([{"name":"year","type":"int"}]), each of which may be absent. */
int32_t heddle_collection_open(heddle_handle owner, const char *path, const char *settings, heddle_handle *handle, const heddle_control *control, heddle_error *fault);

/* heddle_snapshot_open pins the content of an index or a collection: answers and names belong to one state whatever
 * changes follow. Close it soon. It takes the place of the index or collection in heddle_search and heddle_names. */
int32_t heddle_snapshot_open(heddle_handle source, heddle_handle *handle, heddle_error *fault);

/* heddle_token_open makes a token, which ends calls of other threads. */
int32_t heddle_token_open(heddle_handle *handle, heddle_error *fault);

/* heddle_cancel ends all calls with the token, and later ones: they return HEDDLE_CANCELED. */
int32_t heddle_cancel(heddle_handle handle, heddle_error *fault);

/* heddle_close closes what a handle stands for, when no call uses it any more, and before it all that was opened
 * with it: an engine closes its indexes, an index its snapshots. */
int32_t heddle_close(heddle_handle value, heddle_error *fault);

/* heddle_info_of describes an index, a table, a collection or a snapshot. */
int32_t heddle_info_of(heddle_handle source, heddle_info *info, heddle_error *fault);

/* heddle_search answers a batch of at most 2^24 queries into memory of the caller. `source` is an index, a collection
 * or a snapshot of them. Ranked documents come by descending score, then ascending docID; HEDDLE_NO_DOCUMENT and the score -infinity
 * fill the room behind them. Matching documents (k is 0) come by ascending docID.
 *
 * Errors: the code of the first query that is wrong, when all others have answers (hits.codes tells them apart);
 * HEDDLE_SHORT_BUFFER before a ranked batch runs, or after a batch with k = 0 of which a query has more documents than
 * room: hits.counts then has their numbers. */
int32_t heddle_search(heddle_handle source, const heddle_queries *queries, heddle_hits *hits, const heddle_control *control, heddle_error *fault);

/* heddle_names looks up the names of documents. `names` receives the names one behind another, without separators,
 * and ends[i] the end of name i in them. `source` is an index or a snapshot: numbers of a collection need a snapshot,
 * since a merge changes them. HEDDLE_NO_DOCUMENT has an empty name. */
int32_t heddle_names(heddle_handle source, const uint32_t *docs, uint64_t count, uint64_t *ends, heddle_bytes *names, heddle_error *fault);

/* heddle_table_count counts the rows of a table that satisfy each of `count` predicates, at most 2^24, in batches. */
int32_t heddle_table_count(heddle_handle table, const char *const *where, uint64_t count, uint64_t *counts, const heddle_control *control, heddle_error *fault);

/* heddle_table_rows writes the numbers of the rows that satisfy a predicate, ascending, and their number to `count`.
 * With too little room (`rows` may be NULL if room is 0) it writes `count` and returns HEDDLE_SHORT_BUFFER. */
int32_t heddle_table_rows(heddle_handle table, const char *where, uint32_t *rows, uint64_t room, uint64_t *count, const heddle_control *control, heddle_error *fault);

/* heddle_table_values returns aggregates of the rows of a table, or columns of the rows, as a file in memory. */
int32_t heddle_table_values(heddle_handle table, const heddle_aggregation *asked, heddle_bytes *answer, const heddle_control *control, heddle_error *fault);

/* heddle_collection_add adds documents in JSON lines, or replaces documents of the same names: all or none. The
 * change outlives a crash when the function returns. `change` may be NULL. */
int32_t heddle_collection_add(heddle_handle collection, const char *lines, uint64_t size, heddle_change *change, const heddle_control *control, heddle_error *fault);

/* heddle_collection_update changes members of documents, whose sources the collection stores, by JSON lines. `change`
 * may be NULL. */
int32_t heddle_collection_update(heddle_handle collection, const char *lines, uint64_t size, heddle_change *change, const heddle_control *control, heddle_error *fault);

/* heddle_collection_delete deletes documents by their names. `change` may be NULL. */
int32_t heddle_collection_delete(heddle_handle collection, const char *const *names, uint64_t count, heddle_change *change, const heddle_control *control, heddle_error *fault);

/* heddle_collection_merge joins all segments to one without deleted documents, and `info` describes the result. `info`
 * may be NULL. */
int32_t heddle_collection_merge(heddle_handle collection, heddle_info *info, const heddle_control *control, heddle_error *fault);

/* heddle_collection_refresh takes up the changes of another process. `info` may be NULL. */
int32_t heddle_collection_refresh(heddle_handle collection, heddle_info *info, const heddle_control *control, heddle_error *fault);

/* heddle_index_build builds an index file from files of documents. `settings` may be NULL: JSON with the members
 * format ("text", "jsonl", "trec", "warc", "pisa", "ciff"), text, fields, id, fold, stem, stop_words, store ("text",
 * "source"), positions (true for phrases), impacts (8 or 16 bits) and memory (bytes), each of which may be absent.
 * `summary` receives JSON. */
int32_t heddle_index_build(const char *path, const char *const *inputs, uint64_t count, const char *settings, heddle_bytes *summary, const heddle_control *control, heddle_error *fault);

/* heddle_table_build builds a table file from CSV files, compressed or not. `rows` receives the number of rows, and
 * may be NULL. */
int32_t heddle_table_build(const char *path, const char *const *inputs, uint64_t count, uint64_t *rows, const heddle_control *control, heddle_error *fault);

/* heddle_evaluate computes the measures of trec_eval. `run` and `qrels` are the contents of the files. `settings` may be
 * NULL: JSON with the members measures (["map", "nDCG@10"]), cutoffs, level and complete, as of heddle eval. `report`
 * receives JSON: {"all": {MEASURE: VALUE}, "queries": {QUERY: {MEASURE: VALUE}}, "missing": […], "unjudged": […]}. */
int32_t heddle_evaluate(const char *run, uint64_t run_size, const char *qrels, uint64_t qrels_size, const char *settings, heddle_bytes *report, heddle_error *fault);

/* heddle_topics reads the content of a file of topics. `format` is "tsv", "trec", "jsonl", "car", "plain" or "auto"; NULL
 * is "auto". `topics` receives JSON: [{"id": …, "text": …}], or {"id": …, "terms": […], "weights": […]} for a vector. */
int32_t heddle_topics(const char *file, uint64_t size, const char *format, heddle_bytes *topics, heddle_error *fault);

#ifdef __cplusplus
}
#endif

#endif
