// Package build builds index files from document collections and from lists
// that others have inverted.
//
// # Formats
//
// Every input may be gzipped, which is seen by its first bytes. "-" is standard
// input. Several inputs make one collection: docIDs go on from one to the next.
//
//   - text: a document a line, name TAB text. Without a TAB the line is all text,
//     and the line number, from 1, is the name. Blank lines are skipped. LF or CR
//     LF; a byte order mark is dropped.
//   - jsonl: a JSON object a line. The name is the first there is of id, docno,
//     docid, _id, name (a string or a number), else the line number; the text is
//     all there is of title, text, contents, content, body, in this order. Other
//     members are ignored, the case of letters does not matter, null is as good
//     as absent. An object with none of the text members is an error: most likely
//     they go by other names. Or the document is a vector: see below.
//   - trec: SGML as in the TREC collections: <DOC> with a <DOCNO>, which is the
//     name; text is the content of all other elements but DOCHDR, SCRIPT and
//     STYLE. Case of tags does not matter, tags need not nest nor close, a < that
//     starts no tag is text, character references are resolved, unknown ones
//     (&hyph;) are spaces. What lies between documents is ignored.
//   - pisa: BASE.docs, BASE.freqs and BASE.sizes as little-endian u32 sequences,
//     BASE.terms and BASE.documents with one entry a line where there are such
//     files; else list numbers are the terms and document numbers the names, from
//     0. The input is given as BASE or BASE.docs.
//   - ciff: the Common Index File Format, version 1. Terms may come in any order,
//     documents in that of their docIDs. Totals that do not agree with the
//     content, which partial exports have, are warned of.
//
// In pisa and ciff a term may have several lists, as long as docIDs ascend from
// each to the next; they become one.
//
// Auto looks at names (.docs, .ciff, .jsonl, .ndjson, .tsv, .txt) and then at the
// first kilobytes.
//
// Names of documents need not be unique. A document without terms keeps its
// docID. The length of a document is the number of its terms, as kept after stop
// words were dropped, or what the inverted input says.
//
// Truncation is an error wherever it can be seen: in any gzipped input, in CIFF
// (its header counts everything), in PISA triples, in jsonl and trec within a
// document. It cannot be seen in text, nor between two documents of jsonl or
// trec, nor within the last line of BASE.terms or BASE.documents.
//
// # Vectors
//
// A document of jsonl may have a member vector, an object of terms and their
// weights, as models of learned sparse retrieval make them:
//
//	{"id": "7", "vector": {"loom": 1.62, "##ing": 0.25}}
//
// Its terms are those, as they are, of any characters; texts are stored where that
// is asked for and have no part in it. Either all documents of an index are vectors
// or none. Queries of the index are cut at white space alone. Weights are positive,
// and no term comes twice. Without impacts weights are whole numbers, and
// frequencies: the length of the document is their sum. With impacts they are
// quantised, and the length is the number of terms.
//
// # Impacts
//
// Impacts are integers from 1 to max = 2^bits-1 in the place of frequencies, what
// postings add to the scores of documents. Of texts and inverted lists they are
// contributions by BM25, max(1, round(max · w(t)/w(1) · share)), where w(1), the
// weight of a term in one document, bounds all of them. Of vectors they are the
// weights themselves where all are whole numbers up to max, else
// max(1, round(max · weight / largest weight)). The file says what one unit stands
// for.
//
// # Memory
//
// Texts are read and cut by one goroutine, analysed by one a core in chunks, and
// handed over in order to the inverted index in memory. When that has grown to
// Options.MemoryLimit (chunks in flight included), it is written to a temporary
// file as a run sorted by term; in the end the runs are merged into the index
// file. The file does not depend on the limit, nor on the number of cores.
// Beyond the limit come a megabyte or two of buffers, one document a core, while
// merging about 24 bytes a posting for the longest list and 4 KiB a run, what
// package hdl says of its Writer, and what the garbage collector has not
// collected yet. Impacts by BM25 take 4 bytes a document more. Names and lengths of
// documents, and texts that are to be stored, wait in temporary files.
package build
