package config

import (
	"fmt"
	"math"
	"time"
)

// keys is the table of all settings, by section, in the order of the example file.
// Reading, environment names, printing, flag help and heddle.example.toml follow it.
var keys = []Key{
	enum("devices.backend", func(c *Config) *string { return &c.Devices.Backend },
		"auto", []string{"auto", "host", "opencl", "all"}, `Processors of queries.
auto chooses the best device that passes its self-test, with pure Go in reserve, or
pure Go alone. host is pure Go, opencl the best device, all the host and every
device side by side.`),
	key("devices.device", func(c *Config) *string { return &c.Devices.Device }, "", text,
		`Part of the name of an OpenCL device, case ignored ("H200", "pocl").
Empty means the best device.`),
	key("devices.threads", func(c *Config) *int { return &c.Devices.Threads }, 0, within(0, 4096),
		`Threads of pure Go.
0 is one per core, and fewer beside devices.`),
	key("devices.profiling", func(c *Config) *bool { return &c.Devices.Profiling }, false, nil,
		`Measure kernel times with the clock of the device.
It costs some speed. --explain and the benchmarks print the times.`),
	key("devices.count_loads", func(c *Config) *bool { return &c.Devices.CountLoads }, false, nil,
		`Count the bytes that kernels load and store.
Kernels take longer. The console compares their rate with copies of the device.`),
	key("devices.tuning", func(c *Config) *string { return &c.Devices.Tuning }, "", text,
		`File of tuning rows, as heddle tune writes it.
Its rows precede the built-in rows for matching devices.`),
	key("devices.probe", func(c *Config) *time.Duration { return &c.Devices.Probe }, 20*time.Second, within(0, time.Hour),
		`Time without progress after which an OpenCL driver counts as hung.
Each driver is first examined in a process of its own; a broken one is left out. 0 loads
drivers unexamined.`),

	key("memory.device", func(c *Config) *Size { return &c.Memory.Device }, 0, nil,
		`Memory limit of each OpenCL device, for lists, tables and scratch memory.
0 is the memory that the device reports, less a reserve.`),
	key("memory.tables", func(c *Config) *Size { return &c.Memory.Tables }, 0, nil,
		`Memory limit of the auxiliary tables of pure Go.
0 is 16 bytes per posting, at least 64 MiB and at most 4 GiB.`),

	key("batching.candidates", func(c *Config) *int { return &c.Batching.Candidates }, 0, within(0, math.MaxInt32),
		`Size of a batch of boolean queries: sum of the lengths of their shortest lists.
0 is the preference of the processor.`),
	key("batching.postings", func(c *Config) *int { return &c.Batching.Postings }, 0, within(0, math.MaxInt32),
		`Size of a batch of ranked queries: sum of the lengths of their lists.
0 is the preference of the processor.`),
	key("batching.queries", func(c *Config) *int { return &c.Batching.Queries }, 16384, within(1, math.MaxInt32),
		`Number of queries of a file that are read ahead.
Their answers are in memory at the same time.`),
	key("batching.workers", func(c *Config) *int { return &c.Batching.Workers }, 0, within(0, 4096),
		`Number of batches that are prepared at the same time.
0 is one per core, at least 2 and at most 16.`),

	enum("index.codec", func(c *Config) *string { return &c.Index.Codec },
		"auto", codecNames, `Codec of posting lists.
auto gives each list the codec with the lowest cost of size and time. Any other
codec is used for lists that it makes smaller than raw. hslrc is hslrc256, rpfd is
rpfd1: rpfd2 compresses the exceptions twice.`),
	key("index.exception_ratio", func(c *Config) *float64 { return &c.Index.ExceptionRatio }, 0.1, within(0, 0.6),
		`Maximum fraction of the values in a segment that may exceed its bit width.
From 0 to 0.6, for codec parapfor and for frequencies.`),
	enum("index.dense", func(c *Config) *string { return &c.Index.Dense },
		"auto", []string{"auto", "never"}, `Storage of lists with more than one document in 32.
auto stores them as bitsets under every codec, so that a lookup is one load. never
uses the codec of the other lists.`),
	key("index.build_memory", func(c *Config) *Size { return &c.Index.BuildMemory }, 512<<20, nil,
		`Memory limit of the index builder.
Beyond it, the builder writes sorted runs to disk and merges them at the end.`),
	enum("index.stem", func(c *Config) *string { return &c.Index.Stem },
		"none", []string{"none", "arabic", "danish", "dutch", "english", "finnish", "french", "german", "hungarian",
			"irish", "italian", "norwegian", "porter", "portuguese", "romanian", "russian", "spanish", "swedish", "tamil", "turkish"},
		`Stemmer of words: Snowball's for a language, or porter (Porter 1).
english is Porter 2; Lucene, Anserini and Terrier use porter, which cuts possessive 's
as well. The index stores the stemmer and applies it to queries.`),
	key("index.stopwords", func(c *Config) *string { return &c.Index.Stopwords }, "none", text,
		`Words that are not indexed: "none", "english" (Snowball's list), "lucene", or a file.
The file has one word per line; # begins a comment. The index stores the words and
removes them from queries.`),

	enum("index.cjk", func(c *Config) *string { return &c.Index.Cjk },
		"bigrams", []string{"bigrams", "unigrams"}, `Terms of Chinese, Japanese and Korean text.
bigrams are overlapping pairs of characters, as in Lucene's CJKAnalyzer; documents have
the single characters, too. unigrams are single ideographs and Hiragana, and runs of
Katakana and Hangul. The index stores this and applies it to queries.`),
	key("index.fold", func(c *Config) *bool { return &c.Index.Fold }, false, nil,
		`Fold words: café, CAFÉ and cafe become one term.
Compatible characters become one (NFKC), case is folded, and apostrophes become one.
Accents of Latin and Greek letters go, and so do Hebrew points, Arabic vowels, the dots
of the Russian io, strokes of letters, soft hyphens and joiners. The index stores this
and applies it to queries.`),
	enum("index.lengths", func(c *Config) *string { return &c.Index.Lengths },
		"exact", []string{"exact", "lucene"}, `Precision of document lengths in BM25.
lucene rounds each length down to a value that fits in a byte, as Lucene does. Scores
are then those of Lucene and Anserini.`),

	enum("index.store", func(c *Config) *string { return &c.Index.Store },
		"none", []string{"none", "text", "source"}, `What the index stores of the documents besides their terms.
text stores their texts, from which search prints snippets. source stores the whole
objects of JSON lines. Both are compressed.`),
	key("index.positions", func(c *Config) *bool { return &c.Index.Positions }, false, nil,
		`Store the positions of words in documents.
Phrases and windows need them: "red loom", "red loom"~3, NEAR/5(red loom).`),
	key("index.impacts", func(c *Config) *int { return &c.Index.Impacts }, 0, func(bits int) error {
		if bits == 0 || bits == 8 || bits == 16 {
			return nil
		}
		return fmt.Errorf("%d is not one of 0, 8, 16", bits)
	}, `Bits of impacts that replace frequencies: 8 or 16.
An impact is the contribution of a posting to the score, computed with [ranking]
when the index is built. 0 stores frequencies.`),

	enum("search.mode", func(c *Config) *string { return &c.Search.Mode },
		"or", []string{"or", "and", "and-or"}, `Matching documents: documents with any term (or) or with all terms (and).
and-or is and first, and then or for a query with fewer than k such documents.`),
	enum("search.algorithm", func(c *Config) *string { return &c.Search.Algorithm },
		"auto", []string{"auto", "bs", "is", "lr", "lrseg", "lrsplit", "hs", "hs8", "hs16", "hs32", "hs64", "hs128", "hs256",
			"pmf", "pmf0", "pmf1", "pmf2", "pmf3", "pmf4", "merge", "bits", "gallop", "svs", "skiplist", "segstep", "bsloop"},
		`Intersection algorithm.
auto lets the backend choose for each batch and list. A backend without the
algorithm returns an error that lists its algorithms.`),
	enum("search.accumulators", func(c *Config) *string { return &c.Search.Accumulators },
		"auto", []string{"auto", "ranges", "global", "blocks"}, `Sums of scores.
ranges holds those of a range of documents in fast memory while all lists pass; global
has a place for each document, as Ding et al. 2009, and is a baseline. blocks reads
only blocks that can have one of the best documents: block-max pruning, Mallia et al.
2024, in pure Go on impacts of 8 bits; elsewhere it is ranges. auto takes blocks for 8
terms and more, if k is at most 1/32768 of the documents.`),
	key("search.k", func(c *Config) *int { return &c.Search.K }, 10, within(0, 10000),
		`Maximum number of documents per query.
From 0 to 10000. 0 is none, for counts and facets.`),
	enum("search.format", func(c *Config) *string { return &c.Search.Format },
		"text", []string{"text", "tsv", "jsonl", "trec"}, `Format of answers.
trec is a run file for heddle eval.`),

	enum("ranking.variant", func(c *Config) *string { return &c.Ranking.Variant },
		"lucene", []string{"lucene", "robertson", "atire", "pisa"}, `Variant of BM25, which determines the weight of a term.
A term in df of N documents weighs: lucene ln(1 + (N-df+0.5)/(df+0.5)); robertson
ln((N-df+0.5)/(df+0.5)), at least 0; atire ln(N/df) (k1+1); pisa the logarithm of
robertson, at least 1e-6, times k1+1. It has no effect on an index with impacts.`),
	key("ranking.k1", func(c *Config) *float64 { return &c.Ranking.K1 }, 0.9, within(0.0, 255),
		`Weight of repeated terms in a document.
From 0 (none) to 255.`),
	key("ranking.b", func(c *Config) *float64 { return &c.Ranking.B }, 0.4, within(0.0, 1),
		`Influence of the length of a document.
From 0 (none) to 1 (full).`),

	key("bitmap.bins", func(c *Config) *int { return &c.Bitmap.Bins }, 64, within(1, 10000),
		`Maximum number of bins per column.
From 1 to 10000. With binning auto, a column with fewer values has one bin per
value.`),
	enum("bitmap.binning", func(c *Config) *string { return &c.Bitmap.Binning },
		"auto", []string{"auto", "distinct", "width", "quantile", "lloyd"}, `Division of the values of a column into bins.
distinct has one bin per value, width bins of equal length, quantile bins with about
equal numbers of rows, lloyd the k-means of the values. auto is distinct for few
values, else quantile. Answers are exact in all cases.`),
	enum("bitmap.encoding", func(c *Config) *string { return &c.Bitmap.Encoding },
		"equality", []string{"equality", "range", "interval"}, `Contents of the bit vectors of a column.
equality has the rows of one bin per vector, range the rows of a bin and all bins
below, interval the rows of half of the bins. equality is the smallest for values
that come in runs; the others answer every range with two vectors.`),
	key("bitmap.word", func(c *Config) *int { return &c.Bitmap.Word }, 0, func(bits int) error {
		if bits == 0 || bits == 32 || bits == 64 {
			return nil
		}
		return fmt.Errorf("%d is not one of 0, 32, 64", bits)
	}, `Bits per word of the bit vectors: 32 or 64.
0 is 64 where this costs little space, else 32.`),
	enum("bitmap.strategy", func(c *Config) *string { return &c.Bitmap.Strategy },
		"auto", []string{"auto", "fused", "coa", "roa", "hybrid", "ideal", "iterative", "reduction"}, `Method of combining bit vectors. All methods give the same answer.
coa, roa, hybrid and ideal run on OpenCL, iterative and reduction on the host, fused
on both. auto chooses the backend and the strategy with the lowest estimated time.`),

	key("limits.expansions", func(c *Config) *int { return &c.Limits.Expansions }, 1024, within(1, 1<<16),
		`Maximum terms of a prefix or tolerant word.
From 1 to 65536. A word with more terms is an error, or its most frequent terms count.`),

	enum("schedule.policy", func(c *Config) *string { return &c.Schedule.Policy },
		"cooperative", []string{"cooperative", "device-first", "wu", "wu-async", "wu-sync", "ding"}, `Policy that decides what runs on the host and on devices.
device-first runs all queries on devices, and on the host only without a device. wu runs
each query alone on the faster processor under light load (always with wu-async) and
batches on devices under heavy load (always with wu-sync). ding has queues for devices,
for the host and for both, and lets idle processors steal. cooperative combines wu and
ding, and keeps the host from slowing devices down.`),
	key("schedule.timeout", func(c *Config) *time.Duration { return &c.Schedule.Timeout }, 0, within(0, time.Hour),
		`Time after which a query or a call with many queries fails.
0 is no limit.`),
	key("schedule.queue", func(c *Config) *int { return &c.Schedule.Queue }, 8192, within(1, 1<<24),
		`Maximum number of waiting queries. Further queries are refused.`),
	key("schedule.max_age", func(c *Config) *time.Duration { return &c.Schedule.MaxAge }, time.Millisecond, within(time.Microsecond, time.Minute),
		`Maximum waiting time of the oldest query in a batch.`),
	key("schedule.blocks", func(c *Config) *int { return &c.Schedule.Blocks }, 0, within(0, 1<<20),
		`Work-groups per compute unit in a batch.
It is B of the threshold S*T*B, with S compute units and T = 256 elements of the
shortest lists. 0 uses [batching].`),
	key("schedule.enter", func(c *Config) *float64 { return &c.Schedule.Enter }, 0.7, within(0.01, 100),
		`Utilisation above which the policies wu and cooperative run batches.
Utilisation is the estimated work arriving per second over the work completed per
second.`),
	key("schedule.leave", func(c *Config) *float64 { return &c.Schedule.Leave }, 0.4, within(0.01, 100),
		`Utilisation below which these policies run each query alone again.
It is at most enter.`),
	key("schedule.hold", func(c *Config) *time.Duration { return &c.Schedule.Hold }, 100*time.Millisecond, within(time.Microsecond, time.Hour),
		`Least time for which the policies wu and cooperative run batches.`),
	key("schedule.hang", func(c *Config) *time.Duration { return &c.Schedule.Hang }, 10*time.Second, within(time.Millisecond, time.Hour),
		`Time after which a batch counts as hung, and its processor as failed.
The batch has also exceeded 50 times its estimate. The last processor keeps its queries.`),
	key("schedule.similar", func(c *Config) *float64 { return &c.Schedule.Similar }, 1.2, within(1.0, 100),
		`Ratio of run times from which a query waits for the faster class of processors.`),
	enum("schedule.placement", func(c *Config) *string { return &c.Schedule.Placement },
		"auto", []string{"auto", "replicas", "shards", "cache"}, `Distribution of lists on several devices, or on devices with little memory.
replicas stores all lists on each device, shards a range of documents on each, cache
loads lists on demand. auto is the first of them that fits.`),
	enum("schedule.metric", func(c *Config) *string { return &c.Schedule.Metric },
		"best", []string{"best", "los", "uboc", "uboct", "ding"}, `Metric of the lists from which run times are predicted.
best is the metric with the best predictions in the calibration.`),
	key("schedule.costs", func(c *Config) *string { return &c.Schedule.Costs }, "", text,
		`File of the cost model, which heddle calibrate writes and engines refine.
Empty is the file X.hdl.cost beside the index.`),
	key("schedule.results", func(c *Config) *Size { return &c.Schedule.Results }, 0, nil,
		`Memory for the answers of repeated queries.
0 is no cache.`),
	key("schedule.filters", func(c *Config) *Size { return &c.Schedule.Filters }, 256<<20, nil,
		`Memory for the filters of queries, on all processors together.
Filters that were not used for the longest time make room.`),

	key("server.listen", func(c *Config) *string { return &c.Server.Listen }, "127.0.0.1:7700", text,
		`Address of heddle serve.
Port 0 is a free port. An address that is not loopback needs tokens or client_ca.`),
	key("server.admin", func(c *Config) *string { return &c.Server.Admin }, "", text,
		`Address of administration: load, reload and drain.
Empty is none. An address that is not loopback needs tokens or admin_ca.`),
	key("server.insecure", func(c *Config) *bool { return &c.Server.Insecure }, false, nil,
		`Serve addresses that are not loopback to every caller that reaches them.
Without it, they need tokens or certificates of clients.`),
	key("server.hosts", func(c *Config) *string { return &c.Server.Hosts }, "", text,
		`Names of the server, separated by commas: search.example, *.example, * for all.
Without tokens and client_ca a request names an address, localhost or one of them.`),
	key("server.origins", func(c *Config) *string { return &c.Server.Origins }, "", text,
		`Origins of web pages that may call it: https://shop.example,https://*.shop.example.
* allows all. Pages that the server itself serves need none. Administration allows none.`),
	key("server.indexes", func(c *Config) *string { return &c.Server.Indexes }, "", text,
		`Index files to serve: NAME=FILE, separated by commas.`),
	key("server.tables", func(c *Config) *string { return &c.Server.Tables }, "", text,
		`Table files to serve: NAME=FILE, separated by commas.`),
	key("server.synonyms", func(c *Config) *string { return &c.Server.Synonyms }, "", text,
		`Files of synonyms of indexes and collections: NAME=FILE, separated by commas.
Changed files are read again. heddle help synonyms describes their format.`),
	key("server.dev", func(c *Config) *string { return &c.Server.Dev }, "", text,
		`Folder whose .hdl and .hdb files are served under their base names.`),
	key("server.tokens", func(c *Config) *string { return &c.Server.Tokens }, "", text,
		`File of the tokens of callers.
Empty is none: all callers are equal. heddle serve token adds a token.`),
	key("server.cert", func(c *Config) *string { return &c.Server.Cert }, "", text,
		`File of the certificate chain of the server, in PEM.
Empty is no TLS.`),
	key("server.key", func(c *Config) *string { return &c.Server.Key }, "", text,
		`File of the key of the certificate, in PEM.`),
	key("server.client_ca", func(c *Config) *string { return &c.Server.ClientCa }, "", text,
		`File of the authority that signs certificates of clients, in PEM.
With it, each client must show a certificate.`),
	key("server.admin_ca", func(c *Config) *string { return &c.Server.AdminCa }, "", text,
		`File of the authority that signs certificates of administrators, in PEM.
Empty is client_ca, which is no protection of an address that is not loopback.`),
	key("server.root", func(c *Config) *string { return &c.Server.Root }, "", text,
		`Folder whose files administration may load.
Empty is none: loading is forbidden.`),
	key("server.console", func(c *Config) *bool { return &c.Server.Console }, true, nil,
		`Serve the web console at /console/.`),
	key("server.watch", func(c *Config) *bool { return &c.Server.Watch }, false, nil,
		`Reload an index or table when its file is replaced.
server.poll is the time between looks.`),
	key("server.poll", func(c *Config) *time.Duration { return &c.Server.Poll }, 2*time.Second, within(0, time.Hour),
		`Time between looks for replaced files: tokens, certificates, synonyms, configuration.
0 is never. SIGHUP reads them at once.`),
	key("server.timeout", func(c *Config) *time.Duration { return &c.Server.Timeout }, 30*time.Second, within(time.Millisecond, time.Hour),
		`Time-out of a query or batch. A request may ask for less.`),
	key("server.stall", func(c *Config) *time.Duration { return &c.Server.Stall }, 30*time.Second, within(time.Millisecond, time.Hour),
		`Time for a client to send its request, and to accept each part of an answer.`),
	key("server.drain_delay", func(c *Config) *time.Duration { return &c.Server.DrainDelay }, 5*time.Second, within(0, time.Hour),
		`Time from the report of not being ready to the end of new connections.
Load balancers use it to send requests elsewhere.`),
	key("server.slow_query", func(c *Config) *time.Duration { return &c.Server.SlowQuery }, 0, within(0, time.Hour),
		`Time from which a query is logged with its explanation, at level warn.
0 is never.`),
	key("server.access_log", func(c *Config) *float64 { return &c.Server.AccessLog }, 0.01, within(0.0, 1),
		`Part of the requests that is logged, at level info.
From 0 to 1. Status 500 and above, except 503, is always logged, at level warn.`),
	key("server.traces", func(c *Config) *string { return &c.Server.Traces }, "", text,
		`URL of the OpenTelemetry collector that receives traces, by OTLP over HTTP.
Empty is none. Needs a program built with the tag otlp.`),
	key("server.memory", func(c *Config) *Size { return &c.Server.Memory }, 1<<30, within(Size(1<<20), 1<<50),
		`Memory for requests and answers at the same time. Further requests are refused.
Bodies count as they are unpacked, answers until they are written. At least 1MiB.`),
	key("server.max_body", func(c *Config) *Size { return &c.Server.MaxBody }, 16<<20, within(Size(1), 1<<31-1),
		`Maximum size of a request.
At most 2147483647 bytes.`),
	key("server.max_batch", func(c *Config) *int { return &c.Server.MaxBatch }, 10000, within(1, math.MaxInt32),
		`Maximum number of queries of a batch.`),
	key("server.max_k", func(c *Config) *int { return &c.Server.MaxK }, 1000, within(1, 10000),
		`Maximum number of documents of a ranked query.
From 1 to 10000.`),
	key("server.max_terms", func(c *Config) *int { return &c.Server.MaxTerms }, 1024, within(1, math.MaxInt32),
		`Maximum number of words of a query.`),
	key("server.max_documents", func(c *Config) *int { return &c.Server.MaxDocuments }, 1<<24, within(1, math.MaxInt32),
		`Maximum number of documents or rows of an answer.`),
	key("server.max_concurrency", func(c *Config) *int { return &c.Server.MaxConcurrency }, 1024, within(1, 1<<20),
		`Maximum number of requests that run at the same time. Further requests are refused.`),
	key("server.max_connections", func(c *Config) *int { return &c.Server.MaxConnections }, 4096, within(1, 1<<20),
		`Maximum number of open connections of server.listen, and of server.admin.
A further one replaces the oldest one that waits for its client, or else is closed.`),
	key("server.max_address_connections", func(c *Config) *int { return &c.Server.MaxAddressConnections }, 1024, within(1, 1<<20),
		`Maximum number of connections of a remote address without an authorised request.
A further one replaces the oldest of them. A /64 network of IPv6 is one address.`),
	key("server.max_unauthenticated", func(c *Config) *int { return &c.Server.MaxUnauthenticated }, 256, within(1, 1<<20),
		`Maximum number of requests without a token or certificate at the same time: probes.
A further one ends the oldest of them, such as a watch of the health service.`),
	key("server.max_caller_concurrency", func(c *Config) *int { return &c.Server.MaxCallerConcurrency }, 0, within(0, 1<<20),
		`Maximum number of requests of a caller that run at the same time.
A caller is a token, a certificate of a client, or a host. 0 is no limit.`),
	key("server.max_caller_rate", func(c *Config) *int { return &c.Server.MaxCallerRate }, 0, within(0, math.MaxInt32),
		`Maximum number of queries of a caller in a second.
0 is no limit.`),

	key("cluster.servers", func(c *Config) *string { return &c.Cluster.Servers }, "", text,
		`URLs of the NATS servers of a cluster, separated by commas: nats://HOST:PORT.
Another value is the file of a cluster without NATS. Empty is no cluster.`),
	key("cluster.node", func(c *Config) *string { return &c.Cluster.Node }, "", text,
		`Name of this node of the cluster.
Empty holds no shards: heddle serve answers requests from the nodes.`),
	key("cluster.data", func(c *Config) *string { return &c.Cluster.Data }, "", text,
		`Folder of the files of the node.
Each node needs its own. It outlives restarts.`),
	key("cluster.url", func(c *Config) *string { return &c.Cluster.Url }, "", text,
		`Base URL at which other machines reach the node: http://HOST:PORT.
Empty is server.listen. An address for all networks, such as 0.0.0.0:7700, needs it.`),
	key("cluster.nkey", func(c *Config) *string { return &c.Cluster.Nkey }, "", text,
		`File of the seed of a user of NATS.
Empty is none.`),
	key("cluster.credentials", func(c *Config) *string { return &c.Cluster.Credentials }, "", text,
		`File of the JWT and the seed of a user of NATS.
Empty is none.`),
	key("cluster.ca", func(c *Config) *string { return &c.Cluster.Ca }, "", text,
		`File of the authority of the NATS servers and of the nodes, in PEM.
With it, NATS must have TLS. Empty is the authorities of the system.`),
	key("cluster.cert", func(c *Config) *string { return &c.Cluster.Cert }, "", text,
		`File of the certificate that NATS and the nodes get, in PEM.
With it, NATS must have TLS. Empty is none.`),
	key("cluster.key", func(c *Config) *string { return &c.Cluster.Key }, "", text,
		`File of the key of cluster.cert, in PEM.`),
	key("cluster.token", func(c *Config) *string { return &c.Cluster.Token }, "", text,
		`File of the token that nodes get, one line: see server.tokens.
Empty is none.`),
	key("cluster.trusted", func(c *Config) *string { return &c.Cluster.Trusted }, "", networks,
		`Hosts and networks of nodes, separated by commas: n1.internal,10.0.0.0/24.
With cluster.token or cluster.cert, other nodes need certificates of cluster.ca,
except on this machine. Empty is none.`),
	key("cluster.verify", func(c *Config) *time.Duration { return &c.Cluster.Verify }, 24*time.Hour, within(0, 8760*time.Hour),
		`Time between two checks of all files of a node against their checksums.
A check reads at most 64 MiB in a second. 0 is never.`),
	key("cluster.control_replicas", func(c *Config) *int { return &c.Cluster.ControlReplicas }, 0, func(servers int) error {
		if servers == 0 || servers == 1 || servers == 3 || servers == 5 {
			return nil
		}
		return fmt.Errorf("%d is not one of 0, 1, 3, 5", servers)
	},
		`Number of control nodes that keep the map: 1, 3 or 5.
A map on another number is an error. 0 takes every map, and puts a new one on one.`),

	enum("log.level", func(c *Config) *string { return &c.Log.Level },
		"warn", []string{"trace", "debug", "info", "warn", "error", "disabled"}, `Lowest level of messages on standard error.`),
	enum("log.format", func(c *Config) *string { return &c.Log.Format },
		"console", []string{"console", "json"}, `Format of messages: for people, or one JSON object per line.`),
}
