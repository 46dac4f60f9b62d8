// Package phrase makes the lists of phrases and windows on a device.
//
// A round is some phrases, or a part of the documents of the rarest word of one. That word's lists, of which there are several
// where it stands for alternatives, are decoded. The bitsets of the other words, and the packed lists of words that have one,
// pass over most of their documents. A work-item for each document that is left searches it in the other lists and walks the
// positions. Documents and frequencies come back in one download, or in two if there are many; the host sorts them. Threads take
// the parts of a batch, 512 phrases each, and cut and sort while the device makes rounds of other parts.
//
// Positions load with the first phrase. Pure Go makes the lists of phrases of more than Slots words, of more than Lists terms
// or with lists without random access, and of sloppy phrases with alternatives of which two words share one. It looks at
// documents with more than 16,384 occurrences of the words, 4,095 of a sloppy phrase, or more than 16 of the terms.
//
//	kernel        purpose                                    work-group  local memory  barriers
//	phrase_find   documents that all words may have          64          none          none
//	phrase_match  documents with the phrase, its frequency   64          none          none
package phrase
