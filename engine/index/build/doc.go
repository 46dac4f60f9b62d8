// Package build builds index files from document collections and from inverted lists.
//
// # Formats
//
// Every input may be compressed by gzip, zstd or bzip2; its first bytes show this. "-" is
// standard input. Several inputs make one collection: docIDs continue from one input to
// the next. Texts are UTF-8, or UTF-16 with a byte order mark. Known formats that are no
// text (PDF, ZIP, Parquet, ...) are refused by their first bytes.
//
//   - text: a document per line, name TAB text. A line without a TAB is all text. The line
//     number, from 1, is the name of a document whose name is absent or empty. Blank
//     lines are skipped. Lines end in LF or CR LF, or in CR alone if the first 256 KiB have
//     CR and no LF. With Options.Fields a line has columns, which TABs separate: the name, then the fields in their order; further
//     TABs belong to the last field, a line without a TAB is the first field. If the first line of an input has the names
//     of all fields (in any case), it is a header: columns are fields by their names, the column of Options.ID or the first other one names
//     documents, and the rest is left out. Columns that a line lacks are empty.
//   - jsonl: a JSON object per line. The name is the first member of id, docno, docid,
//     _id, name (a string or a number) that is present and not empty, else the
//     line number. The text is the concatenation of title, headings, abstract, summary, description,
//     text, contents, content, body, segment, in this order: strings, or arrays of strings. null is an
//     empty text. The case of letters does not matter. Options.Text and Options.ID choose
//     other members, and Summary.LeftOut counts members with texts, in arrays and objects too, that nothing uses. A member that
//     is a column of a collection (Options.Attributes) is no text. An object without any of the text
//     members is an error: its text most likely has another name. A document may also be a
//     vector, see below.
//   - trec: SGML as in the TREC collections: <DOC> with a <DOCNO>, which is the name, or as of LDC
//     with an attribute id or a <DOCID>. The text is the content of all elements except DOCHDR, SCRIPT and STYLE. The case of
//     tags does not matter, and tags need not nest nor close. A < that starts no tag is
//     text. Character references are resolved; unknown references (&hyph;) are spaces. Text
//     between documents is ignored. With Options.Fields elements of these names (in any case) are the fields, and other text is left out: text
//     belongs to the innermost of them, several of a name add up, and one ends with an element around it and where another
//     of its name begins. A document without any of them is an error, a field that is empty in all documents is a warning, and
//     Summary.LeftOut counts the outermost elements whose text is left out. DOCNO, DOCHDR, SCRIPT and STYLE have no text.
//   - warc: web archives of version 0.18 to 1.1. Records of the types conversion (WET), response and
//     resource are documents: text, and HTML or XML without its tags. The name is the
//     WARC-TREC-ID, else the WARC-Target-URI, else the WARC-Record-ID. Bodies that are no text are
//     left out with a warning.
//   - pisa: BASE.docs, BASE.freqs and BASE.sizes as little-endian u32 sequences, and
//     optionally BASE.terms and BASE.documents with one entry per line. Without them, list
//     numbers are the terms and document numbers the names, from 0. The input is named
//     BASE or BASE.docs.
//   - ciff: the Common Index File Format, version 1. Terms may come in any order,
//     documents in the order of their docIDs. Totals that do not agree with the content,
//     as in partial exports, cause a warning.
//
// In pisa and ciff a term may have several lists if docIDs ascend from each list to the
// next; they become one list.
//
// Auto looks at names (.docs, .ciff, .jsonl, .ndjson, .tsv, .txt) and then at the first
// kilobytes. It refuses CSV, JSON arrays, HTML and XML.
//
// # Invalid documents
//
// A document is invalid if it contains invalid UTF-8 or UTF-16, or half of a surrogate pair in JSON; if it is a line of text with a TAB
// and the first line of its input has none, or the opposite; or if its record cannot be
// read, for example incorrect JSON. Options.Invalid says whether a build repairs it, skips
// it or fails. A build fails as well if the share of invalid documents is above
// Options.MaxInvalid. The Summary counts them and names the first. The names and terms of
// pisa and ciff may be any bytes.
//
// A folder among the inputs stands for all files in it and in its subfolders, in the order
// of their names, without hidden files, links and files of heddle.
//
// Names of documents need not be unique; the Summary counts repeated names. A document without terms keeps its docID. The
// length of a document is the number of its terms after stop words are dropped, or the
// length in the inverted input.
//
// Truncation is an error wherever it is visible: in any compressed input, in CIFF (its header
// counts everything), in PISA triples, in jsonl and trec within a document. It is
// invisible in text, between two documents of jsonl or trec, and within the last line of
// BASE.terms or BASE.documents.
//
// # Vectors
//
// A document of jsonl may have a member vector, an object of terms and their weights, as
// models of learned sparse retrieval produce them:
//
//	{"id": "7", "vector": {"loom": 1.62, "##ing": 0.25}}
//
// The keys are the terms of the document, unchanged, of any characters. Texts of such
// documents can be stored, but are not searched. Either all documents of an index are
// vectors or none. Queries of the index are cut at white space alone. Weights are
// positive, or 0 for no posting, and no term comes twice. Without impacts weights are whole numbers and become
// frequencies: the length of the document is their sum. With impacts they are quantised,
// and the length is the number of terms.
//
// # Impacts
//
// Impacts are integers from 1 to max = 2^bits-1 in the place of frequencies: the summands
// of scores. For texts and inverted lists they are contributions by BM25,
// max(1, round(max · w(t)/w(1) · tf)), where tf is the term-frequency component and w(1),
// the weight of a term in one document, bounds all weights. For vectors they are the
// weights themselves if all are whole numbers up to max, else
// max(1, round(max · weight / largest weight)). The file states the value of one unit.
//
// Vectors with impacts of 8 bits, and queries of weighted terms, are the case of block-max pruning:
//
//	heddle index build --format jsonl --impacts 8 -o msmarco.hdl vectors.jsonl
//	heddle search msmarco.hdl --query 'loom^1.62 ##ing^0.25' --accumulators blocks --explain
//
// With Options.Quantised, the frequencies of inverted lists are the impacts.
//
// # Memory
//
// One goroutine reads and cuts texts, one goroutine per core analyses them in chunks. The postings of
// a chunk are records, sorted by the first bytes of their terms. They wait in piles by
// ranges of terms, in the order of the documents. When the piles
// have grown to Options.MemoryLimit (including chunks in progress, and the joining of one pile), they are joined and
// written to a temporary file as a run sorted by term. Inverted lists wait in one hash table instead;
// lists of pisa whose terms ascend stay in their files.
// At the end the runs are merged into the index file. The file does
// not depend on the limit or the number of cores. The following memory comes on top: a
// few megabytes of buffers, a megabyte and one document per core, while merging 12 bytes per
// posting of the longest list where they exceed the limit, 4 KiB per run, 1 MiB per input of pisa, the memory of the Writer (package hdl), and
// garbage that is not collected yet. The command heddle index build bounds the process: it sets
// the limit of the garbage collector, and gives a build the part that code, buffers and
// garbage leave.
// Impacts by BM25 take 4 bytes per document more. Names and lengths of documents, and stored texts, wait in temporary files.
package build
