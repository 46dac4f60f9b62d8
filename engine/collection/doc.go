// Package collection keeps documents in a folder that changes: documents are added, replaced and
// deleted, and readers go on with the state that they have opened.
//
// # Folder
//
// A collection has segments. A segment is an index file of some documents, with the keys that find
// a document by its name (package keys), and a Roaring bitmap of its deleted documents. The file
// manifest.json names the files of the present state. FORMAT.md describes it.
//
// # Numbers
//
// The number of a document is the number of documents before its segment, deleted ones included,
// plus its number in the segment. A merge changes numbers, but not their order.
//
// # Names
//
// A name stands for one document. A document that is added under the name of another one replaces
// it. Documents without a name are refused, because line numbers would replace one another.
//
// # Attributes
//
// A collection may declare attributes: members of JSON lines with their types. Each segment then has
// a table (package attributes) whose row i describes its document i, for filters and facets.
//
// # Statistics
//
// Deleted documents count nowhere: a query has the documents, scores and order that a fresh index
// of the remaining documents gives.
//
// # Changes
//
// One process changes a collection at a time; it holds a lock on the file "lock". A change writes
// files with new names, syncs them, and then replaces the manifest in one step. A change that has
// returned without an error outlives a crash. A change that fails, or that a crash interrupts, is
// there as a whole or not at all; the next writer removes its files.
//
// A file stays for one change after the manifest no longer names it. A reader that finds a file
// missing reads the manifest again.
//
// # Merges
//
// Maintain merges neighbours, so that the order of documents stays. The level of a segment is the
// logarithm of its documents to base 5, rounded down. Maintain keeps these rules:
//
//   - A segment in which more documents are deleted than remain is written anew, without them.
//   - A segment has no neighbour of a lower level directly before it when it is added: the lower
//     ones join it.
//   - Five neighbours whose levels are at most L, five of them of level L, become one.
//
// So a collection of n documents has at most 4 segments for each of its log5(n)+1 levels, if
// nothing is deleted. A document is written once when it is added, at most once more when it takes
// smaller neighbours in, and once for each level that it rises: at most log5(n)+3 times on average.
// A query pays for each segment, so that a merge soon pays for itself. Beside a merge of large segments Maintain
// merges the small ones behind them.
package collection
