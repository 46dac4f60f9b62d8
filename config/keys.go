package config

import (
	"fmt"
	"math"
	"time"
)

// keys is the table of all settings, section after section in the order of the
// example file. It drives reading, environment names, printing, flag help and
// the check of heddle.example.toml.
var keys = []Key{
	enum("devices.backend", func(c *Config) *string { return &c.Devices.Backend },
		"auto", []string{"auto", "host", "opencl", "all"}, `Where queries run: pure Go on the host, or OpenCL.
auto takes the best device that passes its self-test, and the host if none does. all
takes every processor that auto would consider, as [schedule] says; it is for search.`),
	key("devices.device", func(c *Config) *string { return &c.Devices.Device }, "", text,
		`Part of the name of the OpenCL device, in any case ("H200", "pocl").
Empty takes the best one.`),
	key("devices.threads", func(c *Config) *int { return &c.Devices.Threads }, 0, within(0, 4096),
		`Threads of the host backend.
0 is one a core, and fewer where devices answer beside it.`),
	key("devices.profiling", func(c *Config) *bool { return &c.Devices.Profiling }, false, nil,
		`Take kernel times from the device's own clock.
It costs some speed; --explain and the benchmarks print the times.`),
	key("devices.tuning", func(c *Config) *string { return &c.Devices.Tuning }, "", text,
		`File of tuning rows, as heddle tune writes it.
Its rows go before the built-in ones for the devices that they match.`),

	key("memory.device", func(c *Config) *Size { return &c.Memory.Device }, 0, nil,
		`Most memory to take on an OpenCL device, for lists, tables and scratch.
0 is what the device reports, less a reserve.`),
	key("memory.tables", func(c *Config) *Size { return &c.Memory.Tables }, 0, nil,
		`Most memory for the auxiliary tables of the host backend.
0 is 16 bytes a posting, at least 64 MiB and at most 4 GiB.`),

	key("batching.candidates", func(c *Config) *int { return &c.Batching.Candidates }, 0, within(0, math.MaxInt32),
		`Close a batch at so many elements of its queries' shortest lists.
0 is what the measured devices like best.`),
	key("batching.postings", func(c *Config) *int { return &c.Batching.Postings }, 0, within(0, math.MaxInt32),
		`Close a batch of ranked queries at so many postings of their lists.
0 is what the measured devices like best.`),
	key("batching.queries", func(c *Config) *int { return &c.Batching.Queries }, 16384, within(1, math.MaxInt32),
		`Queries of a file that are read before they are answered.
Answers of so many are in memory at the same time.`),
	key("batching.workers", func(c *Config) *int { return &c.Batching.Workers }, 0, within(0, 4096),
		`Batches that are prepared at the same time.
0 is one a core, at least 2 and at most 16.`),

	enum("index.codec", func(c *Config) *string { return &c.Index.Codec },
		"auto", codecNames, `How posting lists are stored.
auto takes the codec of least cost, size and time, for each list. Any other is
for the lists that take fewer words with it than raw; hslrc is hslrc256.`),
	key("index.exception_ratio", func(c *Config) *float64 { return &c.Index.ExceptionRatio }, 0.1, within(0, 0.6),
		`Greatest share of a segment's values that may exceed its bit width.
From 0 to 0.6; for codec parapfor and for frequencies.`),
	enum("index.dense", func(c *Config) *string { return &c.Index.Dense },
		"auto", []string{"auto", "never"}, `Whether lists of more than one document in 32 are stored as bitsets.
auto does so whatever the codec: a probe is then one load. never leaves them to it.`),
	key("index.build_memory", func(c *Config) *Size { return &c.Index.BuildMemory }, 1<<30, nil,
		`Memory of the index builder.
It spills sorted runs to disk when it needs more, and merges them at the end.`),
	enum("index.stem", func(c *Config) *string { return &c.Index.Stem },
		"none", []string{"none", "english"}, `Reduce words to their stem (Snowball).
The index remembers it, so queries are treated alike.`),
	key("index.stopwords", func(c *Config) *string { return &c.Index.Stopwords }, "none", text,
		`Words that are not indexed: "none", or a file with one word a line.
The index remembers them.`),

	enum("index.store", func(c *Config) *string { return &c.Index.Store },
		"none", []string{"none", "text"}, `What the index keeps of the documents besides their terms.
text keeps the texts, compressed; search prints the lines that match.`),
	key("index.impacts", func(c *Config) *int { return &c.Index.Impacts }, 0, func(bits int) error {
		if bits == 0 || bits == 8 || bits == 16 {
			return nil
		}
		return fmt.Errorf("%d is not one of 0, 8, 16", bits)
	}, `Store impacts of so many bits, 8 or 16, in place of frequencies.
They are what postings contribute to scores, computed with [ranking] when the index
is built. 0 stores frequencies.`),

	enum("search.mode", func(c *Config) *string { return &c.Search.Mode },
		"and", []string{"and", "or", "and-or"}, `Which documents match: those that have every term, or any.
and-or is and for the queries that get k documents so, and or for the others.`),
	enum("search.algorithm", func(c *Config) *string { return &c.Search.Algorithm },
		"auto", []string{"auto", "bs", "is", "lr", "lrseg", "hs", "hs8", "hs16", "hs32", "hs64", "hs128", "hs256",
			"pmf", "pmf0", "pmf1", "pmf2", "pmf3", "pmf4", "merge", "bits", "gallop", "svs", "skiplist", "segstep"},
		`How lists are intersected. The answer is the same with all of them.
auto lets the backend choose for each batch and list; a backend that does not run
what is asked for says what it runs.`),
	key("search.k", func(c *Config) *int { return &c.Search.K }, 10, within(1, 10000),
		`Documents printed for a query, at most.
From 1 to 10000.`),
	enum("search.format", func(c *Config) *string { return &c.Search.Format },
		"text", []string{"text", "tsv", "jsonl", "trec"}, `Form of the answers on standard output.
trec is a run file, as heddle eval reads it.`),

	enum("ranking.variant", func(c *Config) *string { return &c.Ranking.Variant },
		"lucene", []string{"lucene", "robertson", "atire", "pisa"}, `Member of the BM25 family: how the weight of a term follows from its frequency.
With df of N documents: lucene ln(1 + (N-df+0.5)/(df+0.5)); robertson the same without
the 1, at least 0; atire ln(N/df) (k1+1); pisa that of robertson, at least 1e-6, times
k1+1. An index of impacts was scored when it was built.`),
	key("ranking.k1", func(c *Config) *float64 { return &c.Ranking.K1 }, 0.9, within(0.0, 255),
		`How much further occurrences of a term count.
From 0, not at all, to 255.`),
	key("ranking.b", func(c *Config) *float64 { return &c.Ranking.B }, 0.4, within(0.0, 1),
		`How much the length of a document counts.
From 0, not at all, to 1, in full.`),

	key("bitmap.bins", func(c *Config) *int { return &c.Bitmap.Bins }, 64, within(1, 10000),
		`Bins of a column, at most.
From 1 to 10000. A column of fewer values has a bin for each under binning auto.`),
	enum("bitmap.binning", func(c *Config) *string { return &c.Bitmap.Binning },
		"auto", []string{"auto", "distinct", "width", "quantile", "lloyd"}, `How the bins of a column are found.
distinct has a bin for each value, width bins of equal length, quantile bins of about
as many rows, lloyd the k-means of the values. auto is distinct where there are few
values, else quantile. Answers are exact with all of them.`),
	enum("bitmap.encoding", func(c *Config) *string { return &c.Bitmap.Encoding },
		"equality", []string{"equality", "range", "interval"}, `What the bit vectors of a column say.
equality has the rows of each bin, range those of each bin and all below it, interval
those of each run of half the bins. equality is the smallest where values come in runs;
the others answer every range with two vectors.`),
	key("bitmap.word", func(c *Config) *int { return &c.Bitmap.Word }, 0, func(bits int) error {
		if bits == 0 || bits == 32 || bits == 64 {
			return nil
		}
		return fmt.Errorf("%d is not one of 0, 32, 64", bits)
	}, `Bits of a word of the vectors: 32 or 64.
0 is 64 where that costs little space, else 32.`),
	enum("bitmap.strategy", func(c *Config) *string { return &c.Bitmap.Strategy },
		"auto", []string{"auto", "fused", "coa", "roa", "hybrid", "ideal", "iterative", "reduction"}, `How bit vectors are ORed. The answer is the same with all of them.
coa, roa, hybrid and ideal run on OpenCL, iterative and reduction on the host, fused on
both. auto takes the backend and the strategy that should be fastest.`),

	enum("schedule.mode", func(c *Config) *string { return &c.Schedule.Mode },
		"auto", []string{"auto", "async", "sync"}, `How queries are shared out among host and devices.
async runs each alone on the processor that should finish it first, sync in batches.
auto is async under light load and sync under heavy load.`),
	key("schedule.timeout", func(c *Config) *time.Duration { return &c.Schedule.Timeout }, 0, within(0, time.Hour),
		`Fail queries that take longer, or calls with many of them.
0 is no limit.`),
	key("schedule.queue", func(c *Config) *int { return &c.Schedule.Queue }, 8192, within(1, 1<<24),
		`Queries that may wait; more are refused.`),
	key("schedule.max_age", func(c *Config) *time.Duration { return &c.Schedule.MaxAge }, time.Millisecond, within(time.Microsecond, time.Minute),
		`Close a batch when its oldest query has waited so long.`),
	key("schedule.blocks", func(c *Config) *int { return &c.Schedule.Blocks }, 0, within(0, 1<<20),
		`Work-groups for each compute unit at which a batch is closed.
It is B of the threshold S*T*B, with S compute units and T = 256 elements of the
shortest lists. 0 is what [batching] says.`),
	key("schedule.enter", func(c *Config) *float64 { return &c.Schedule.Enter }, 0.7, within(0.01, 100),
		`Load above which mode auto becomes sync.
It is the time that the queries of a second would take alone, by the time that all
processors have in it.`),
	key("schedule.leave", func(c *Config) *float64 { return &c.Schedule.Leave }, 0.4, within(0.01, 100),
		`Load below which mode auto becomes async again.
It is not above enter.`),
	key("schedule.hold", func(c *Config) *time.Duration { return &c.Schedule.Hold }, 100*time.Millisecond, within(time.Microsecond, time.Hour),
		`Least time between two changes of the mode.`),
	key("schedule.similar", func(c *Config) *float64 { return &c.Schedule.Similar }, 1.2, within(1.0, 100),
		`How many times as fast devices or host must be for a query to wait for them alone.`),
	enum("schedule.placement", func(c *Config) *string { return &c.Schedule.Placement },
		"auto", []string{"auto", "replicas", "shards", "cache"}, `How lists lie on several devices, or on small ones.
replicas has all lists on each device, shards a range of documents on each, cache brings
lists in when queries ask for them. auto takes the first of these that fits.`),
	enum("schedule.metric", func(c *Config) *string { return &c.Schedule.Metric },
		"best", []string{"best", "los", "uboc", "uboct", "ding"}, `What run times are predicted from.
best is whichever predicts best on queries that it was not fitted to.`),
	key("schedule.costs", func(c *Config) *string { return &c.Schedule.Costs }, "", text,
		`File of the cost model that heddle calibrate writes and engines refine.
Empty is beside the index, X.hdl.cost.`),
	key("schedule.results", func(c *Config) *Size { return &c.Schedule.Results }, 0, nil,
		`Memory for answers that are kept for queries that come again.
0 is none.`),

	enum("log.level", func(c *Config) *string { return &c.Log.Level },
		"warn", []string{"trace", "debug", "info", "warn", "error", "disabled"}, `Least level of the messages on standard error.`),
	enum("log.format", func(c *Config) *string { return &c.Log.Format },
		"console", []string{"console", "json"}, `Form of the messages: for people, or one JSON object a line.`),
}
