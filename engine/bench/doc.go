// Package bench describes the benchmarks of heddle. Each generates a workload from a seed,
// runs it on every backend, with other libraries as baselines, checks that all answers
// agree, and reports. RESULTS.md is the record. PAPERS.md shows the papers' tables and
// figures beside ours.
//
//	harness                          options, backends, the query log on them, exhibits, reports
//	measure, chart                   rows and statistics; pictures
//	workload                         generated and real data
//	load                             open-loop loads on an engine and on a server
//	lists, decode, rank, bitmap, schedule   one family of benchmarks each
//	peers                            bleve and other systems, a module of its own
//
// # The workload
//
// Ao et al. (VLDB 2011) measure on the TREC GOV collection and the 100,000
// queries of the Terabyte track of 2006. Neither can be shipped. The
// generator makes lists and queries of the same shape: 1,053,372 documents,
// 65,536 terms, 250 million postings (1 GB of plain docIDs), 100,000 distinct
// queries. One seed gives one workload, on every machine and with every version
// of Go; a test holds its checksum.
//
//   - A term of rank r is in 0.95*(1-r/65536)/(1+r/38.72) of the documents:
//     Zipf's law, flat for function words, tapering to single documents.
//   - Terms belong to one of 16 themes. A theme has a home, documents in a row.
//     A term has 65 % of its postings there, where the odds that a document has
//     it are 8.5 times its odds at large: queries combine terms of one theme, and
//     so their lists have much in common, as in real queries.
//   - A query of k terms draws the lengths of its lists from a distribution that
//     was fitted, for each k, to Table 4 of the paper, and takes the terms of its
//     theme that come next. Popular terms are popular: a hundredth of the terms
//     makes 45 % of all terms asked for, two thirds are asked for at all.
//   - Uniform order numbers the documents at random, as the paper's GOVR. In
//     clustered order, as in GOV, documents stay together in 3,072 sites, which
//     come in random order. In pagerank order, as in GOVPR, there are 800 sites, whose
//     order leans to the order of their themes. Reordered, all documents of a theme are
//     neighbours. The lists hold the same documents in each order.
//
// Themes share documents and nothing else. A short run takes one of them: a
// sixteenth of the lists and queries, with the same stages and ratios.
//
// # Properties that match the paper
//
// The share of queries of 2, 3, 4, 5, 6 and more terms: 16.1, 24.5, 22.8, 14.8,
// 8.2, 13.6 %, exactly. The mean shortest list: 8,280, where the paper's classes
// give 8,400. And Table 4, within 15 % and the rounding of its digits: R is the
// mean of |l1 ∩ ... ∩ lx| / |l(x+1)|, candidates the mean of |l1 ∩ ... ∩ lx| in
// thousands. Seed 1, all queries (TestStages, HEDDLE_BENCH_WHOLE=1):
//
//	terms  stage     R %  paper  candidates K  paper
//	    2      1    13.3   13.6          7.97    8.6
//	    3      1    24.3   23.1          7.79    8.7
//	    3      2    1.11   0.97          2.31    2.0
//	    4      1    29.4   28.6          8.02    8.4
//	    4      2    1.82   1.76          1.57    1.6
//	    4      3   0.238   0.22          0.90    0.8
//	    5      1    32.9     32          8.61    8.0
//	    5      2    2.24   2.38          1.46    1.5
//	    5      3   0.338   0.35          0.68    0.6
//	    5      4  0.0939  0.087          0.51    0.5
//	    6      1    35.4   34.4          9.11    8.0
//	    6      2    2.46   2.82          1.56    1.5
//	    6      3   0.473    0.5          0.65    0.6
//	    6      4    0.13   0.13          0.41    0.4
//	    6      5  0.0526  0.054          0.33    0.4
//
// LR relies on the linearity of long lists. It is close to Table 1 (mean contraction
// ratio; the number of sites was chosen for it):
//
//	list length   uniform   GOVR  clustered    GOV
//	100K to 200K   0.0030 0.0030     0.0429 0.0375
//	200K to 400K   0.0019 0.0019     0.0291 0.0306
//	400K to 600K   0.0012 0.0012     0.0188 0.0186
//	600K to 800K   0.0008 0.0008     0.0121 0.0069
//	800K to 1M     0.0005 0.0006     0.0053 0.0060
//
// Exhibit ao-table1 has the same for lists of all data sets of the paper: other numbers of
// documents and of sites. Not matched: lists of GOV from 600K to 800K have 1.75 times the
// ratio, because one number of sites fits all classes; the longest lists of GOVPR have a
// third of it.
//
// # Properties that differ
//
// The number of terms and of postings, which the paper does not give. The
// compression ratio: ParaPFor packs these lists 4.1 times, uniform or clustered,
// GOV's 3.5 times: more of our postings are in dense lists (53 % in lists of more
// than a document in 32). Lists below 100K are more linear here (0.06 and 0.09)
// than on average there (0.12 and 0.22). The share of lists by length, in Table I of Wu
// et al.: 62.9, 26.6, 5.0, 4.4, 0.58 and 0.53 % have up to 1 K, 5 K, 10 K, 50 K, 100 K and
// more documents, where GOV has 64.3, 19.4, 5.9, 7.9, 1.5 and 0.95 %. The paper gives only the number of
// queries of seven terms and more; here they have six lists like queries of six, and
// further lists from the longest third. The vocabulary of a theme is its own:
// no function word is common to all themes. Frequencies, in exports, are
// geometric and independent of anything.
//
// # The ranked workload
//
// Ding et al. (WWW 2009) measure on GOV2, 25.2 million pages, and 1,000 queries of the
// Terabyte track, which cannot be shipped either. Rank makes a log of that shape, and
// only the lists that the log names: 25,205,179 documents, 1,000 queries whose lists
// have 3.74 million postings on average. All of it
// shrinks with Options.Docs.
//
//   - Queries of 1, 2, 3, ... 11 terms are as frequent as among the 50,000 efficiency
//     topics of the Terabyte track of 2005: 22.3, 30.9, 20.7, 12.1, 7.1, 3.3, 1.7, 0.95,
//     0.57, 0.25, 0.14 %; 2.79 terms on average. A token is a new term with probability
//     0.69, else an earlier one of its topic again (Simon's model): 1,000 of the
//     efficiency topics name as many distinct terms.
//   - The document frequency of a term that is asked for is log-uniform from 128 up: a
//     query takes each octave of Zipf's law equally. One that is asked for n times has
//     the longest of n draws, so the distinct lists have 47 % of the postings of all
//     queries; for the efficiency topics, on WordNet's glosses and on commit messages, they
//     have 52 to 64 % without function words and 7 to 13 % with them. The upper end is where
//     the mean is 3.74 million postings a query.
//   - Documents come from 17,187 sites, as many as GOV2 has hosts, in a row each. A term
//     has 65 % of its postings at sites of its topic, one of 32, where the odds that a
//     document has it are 1,000 times its odds at large; with that, the queries that AND
//     gives fewer than ten documents have 8 % of all postings. Table 2 implies about as
//     many: the times of AND+OR minus AND, as a share of OR.
//     Table gov2-reordered has the sites of a topic next to each other, as an index after
//     document reordering.
//   - A frequency is 1 and a geometric number; the mean is 1.5 + 6 sqrt(df/N).
//     Lengths of documents are log-normal, 900 tokens on average, with sigma 1.
//
// Not matched: frequencies do not depend on lengths, nor terms on each other but by
// topic; sites do not differ in size more than at random.
//
// # The workload of learned sparse retrieval
//
// MS MARCO passages and their queries under SPLADE (CoCondenser-EnsembleDistil) are 8,841,823
// documents over a vocabulary of 30,522 word pieces. They cannot be shipped. Rank makes vectors of
// the same shape, of any number of documents, and only the lists that the queries name.
//
// All documents, themes of 20,000 documents, topics of 1,500 and subjects of 28 are the nodes of four
// levels: runs of neighbours in the order of topics, whose ends lie at random and differ from level to level. A
// node has terms of its own: 1,500, 110 and 50, drawn by Zipf's law, which is flat above rank 110, 400 and 2,000,
// since small nodes have rarer terms. A document has the term at rank j of n in its node with probability
// p (1-j/n); p is 0.044, 0.66 and 0.9. The terms of all documents follow Zipf's law, 0.081/(1+r/62) for rank r. Impacts
// have 8 bits: 1 and a third of the sum of three geometric numbers. Their mean falls from the first term of a
// node to 15 % at the last, and grows from the level of all documents to subjects: 32, 42, 78 and 96 for the first
// term. A query is about a document: it has terms of the nodes of the document, 15, 25, 35 and 25 % from
// the four levels, and with growing weights. Documents of a node so have many terms in common with each other
// and with a query, and a block of neighbours has bounds that tell it from other blocks. A quarter of the documents
// lie anywhere, because no reordering puts all documents beside their like; in uniform order, all do. More documents
// are more topics, so the best documents of a query stay as many, and lists grow in proportion.
//
// Published, and measured by TestSparseStatistics on 20,000 documents:
//
//	terms a document                                  119       123   Bruch et al., SIGIR 2024; SPLADE-v3 has 170, Efficient-SPLADE 183
//	terms a query                                      43        44   the same; SPLADE-v3 has 24.5, Efficient-SPLADE 5.9
//	terms that occur                               28,131    28,131   SPLADE v2, Mackenzie et al. 2021; SPLADE-v3 has 28,638
//	share of the 50 greatest impacts of a document   0.75      0.70   Bruch et al., figure 1
//	share of the 10 greatest weights of a query      0.75      0.73   the same
//	common terms of a document and a query   1.48 to 3.82       2.2   FLOPS of SPLADE-max (CoCondenser) and of DistilSPLADE v2, github.com/naver/splade; 0.83 on 1 M documents
//	score of the tenth document over the first one   0.78   0.77 to 0.82   four queries of huggingface.co/datasets/tuskanny/sparse-nq-splade-cocondenser; 200,000 to 2 M documents here
//
// Not matched: large collections have many themes, so a query has fewer terms in common with documents of others, half of
// the least number published. The counts of SPLADE-v3 and Efficient-SPLADE are those of huggingface.co/datasets/tuskanny. Not published are the
// mean impact, 45 here, and the number and size of topics: rates on this workload compare methods, and
// do not predict a rate on MS MARCO.
//
// The module engine/bench/peers ranks real text beside github.com/blevesearch/bleve/v2: go run -C
// engine/bench/peers . --real DIR, and measures builds and first answers beside SQLite FTS5, bleve,
// Lucene, PISA and DuckDB: go run -C engine/bench/peers . builds. The programs of
// github.com/pisa-engine/pisa rank the GOV2-like workload: heddle bench rank --table pisa --pisa DIR.
// CRoaring runs on real sets: heddle bench lists --table croaring --real DIR --croaring DIR.
//
// # Bitmap tables
//
// Nelson et al. (J. Cloud Computing 2020) OR 64 random bit vectors of six tables. Bitmap
// has three of them, and tables like the rest:
//
//   - Zipf, of skew 0, 1 and 2, as theirs: 32 million rows, ten attributes of ten bins;
//     bin k has a row with probability k^-skew over the sum of all.
//   - KDD, where Options.Real has it (kddcup.data*.gz and corrected.gz, the ten percent and
//     the test set of KDD Cup 1999): 805,050 rows, again and again until they are the
//     4,898,431 of the whole data; numbers in 25 bins by Lloyd's algorithm, texts in a bin a
//     value, 475 bins there and about as many here. 250,000 rows when short.
//   - Runs, generated, similar to KDD: 19 attributes of 25 bins, 4.9 million rows,
//     runs whose lengths differ by orders of magnitude.
//   - Flights, where Options.Real has them (a folder of columns NAME.KINDle.gz): 3 million
//     flights of 2001, each of five columns in 64 bins of about as many rows. The
//     paper's further data sets, linkage and BPA, are not available.
//   - Wide, for Table 2: a million rows, 4,096 vectors with a one in a hundred rows.
//   - Generated flights, a CSV file of 50 MB, for batches of predicates, encodings and the
//     building of tables.
//
// Tables of files are built and opened as heddle bitmap build and query do it. Queries
// take the first 4, 8, 16, 32 or 64 of the vectors in a random order that the seed gives.
//
// Differences from the paper: its device computes the scans of decompression with every
// query, as "scans anew" does here; other strategies take the scans of the load of the
// table. CPU methods are in pure Go and run on this machine. Figures 8, 9, 11, 12 and 14
// leave the result on the device, as the paper does. A time covers a whole call with
// nothing else running, to the result or its count in the place that the column names.
// Fused is our own strategy. Every answer must have as many rows as an OR of plain bitsets.
//
// # Load
//
// Schedule puts queries to an engine.Engine over the host, a device, or both: queries of the
// workload of lists, in clustered order and plain, and ranked queries of the GOV2-like
// workload for the best ten.
//
//   - An open loop: queries arrive as a Poisson process, whether or not earlier ones have
//     been answered. A delay is from the moment at which a query should have arrived to its
//     answer in host memory, so it includes time in which a sender or the engine stands
//     still. Each query has a goroutine, and a place for its delay: percentiles are
//     exact. Senders sleep until shortly before the next arrival, then let other goroutines
//     run until it is due. Tests hold delays in virtual time against queueing theory.
//   - A load is a second of queries, 200 at least unless that takes two seconds. It has
//     failed when a query misses its deadline (is late, expires, or is refused), or when
//     answers come more slowly than queries: the rest after the last arrival
//     takes longer than 3 % of the load and twice the median of its first half (or a quarter
//     of the load, where that is less).
//   - Rates double until one fails in three loads, and the last step is halved four times:
//     a sustained rate is exact to 4 %. It is also found for loads of which one query in a
//     thousand may miss its deadline: a second of many queries is more than the thousand
//     queries of Ding et al., and other programs run.
//   - Engines after each other on a workload share their learnt costs; each is warmed up
//     with all queries in one call, some seconds of single ones, and some of 256 callers.
//     Every answer is compared with the one that was verified.
//
// # Exhibits
//
// An exhibit is a table or a figure of a paper, or a row of figures of our own.
// Lists, Decode, Rank, Bitmap and Schedule run the exhibits named by the caller and print
// tables. They write a JSON row for each figure, plots, and a Markdown report with the
// statements of the papers beside the measurements. The papers' text gives few numbers of
// their charts; where it gives none, the report quotes the text. A row has its place in
// the exhibit and the paper's figure, so heddle bench papers makes PAPERS.md and its plots
// from the rows of kept runs; a test compares.
//
//	Ao et al. 2011 (VLDB)     tables 1, 2, 3, 4, 5, 7; figures 1, 3, 5, 6, 7, 8, 9a, 9b;
//	                          memory of hash segmentation, heads of LRC
//	Wu et al. 2010 (IPDPSW)   tables 1, 2, 3; figures 3 to 10
//	Ding et al. 2009 (WWW)    tables 1, 2, 3; figures 3, 4, 6, 7; uneven lists, accumulators,
//	                          predictions, sizes of queries (§8.4)
//	Nelson et al. 2020 (JCC)  table 2; figures 8 to 14
//	of our own                log, pairs, skew, sets, primitives, ints, core, gov2,
//	                          gov2-reordered, resident, sparse, text, rank-fig-k,
//	                          or, sizes, auto, batch, encodings,
//	                          build, capacity, policies, overhead, choice, devices
//
// The data sets of Ao et al. are replaced: GOVR by uniform order, GOV by clustered, GOVPR
// by pagerank. GOV2, GOV2R, BD (Baidu) and BDR have the shares of documents of the same
// terms, but as many documents as the paper's and sites of their own. Lists of 250 million
// postings are all of GOV, 3 of the 16 themes of GOV2, and one of BD. The queries of BD
// ask for rarer terms: their shortest lists have 3,777 docIDs on average, as Table 7 implies.
// Figures that show one data set, and Wu et al.'s on Baidu's, are measured on clustered order.
//
// # Measurements
//
// Throughput is end to end: terms in, docIDs in host memory out, in batches as the
// engine makes them; the median of several runs, all contestants in turns.
// Response time is the time of one batch with nothing else running (Ao et al.,
// Figure 6). Times of kernels and transfers come from the device's clock, from a
// run of its own, and the bytes that kernels ask for from another one, since
// counting slows them down; they are held against the copy bandwidth that was
// measured on the device before. Every answer that is timed has been checked: all
// of them against each other, a sample against a plain merge. Ranked queries are also
// timed one at a time, and a sample is compared with scores in floating point of all
// documents. Queries of bitmap tables are timed one at a time, the median of several
// runs or of 20 ms of them; their share of the peak counts the bytes of compressed
// vectors over the whole time of a call. Auto is timed in turns with the strategy that is
// the best of all.
// Wu et al.'s Figures 9 and 10 and Table III time each query alone, three times, on one
// thread of the host and on the device; their Table II gives batches to two goroutines,
// one a device, that take the next one whenever they are done.
package bench
