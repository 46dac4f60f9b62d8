// Package rank answers ranked queries over lists on a device.
//
// plan.AutoAccumulators takes the coarse path for queries of up to 64 terms for up to 1000 documents,
// if their lists have random access and memory holds packets of them (package packets): a threshold
// from a sample of ranges, the documents whose sums of upper bounds come to it, a higher threshold from
// these sums, and the exact scores of the documents that still come to it, from the compressed lists.
// Packets are made on first use and freed where memory is short elsewhere. A query of which too many
// documents are found runs again with all ranges in the sample.
//
// The serial shape has no sample: the threshold rises with the documents found, and blocks of documents
// whose bounds do not come to it are passed over (kernels/coarse_serial.cl).
//
// An AND takes this path if its lists have at most tuning.rank_lookup times the postings of the
// shortest one. Each posting then adds more than any sum of bounds, so the documents in all lists
// have the greatest sums.
//
// Documents that the filter of a query lacks are neither found nor counted towards a threshold. If
// the filter has so few documents that looking them up takes less time than sums, they take the
// place of the documents found.
//
// Other queries, and queries that fail twice, take the exhaustive path, plan.RangeAccumulators. A round
// is some queries over all ranges of documents, or one query over some ranges. Each list of a round is
// decoded once. Passes then append candidates. After each pass the candidates of a query are cut to the
// best k, whose last key is the threshold of later candidates. The ranges of the first pass are spread
// over all documents. The best documents of the last pass come back.
//
//	kernel         purpose                               work-group        local memory             barriers
//	prepare        runs for decoders, empty states       64                none                     none
//	starts         starts of ranges in lists             64                none                     none
//	tf_components  term-frequency components, for OR     64                1 KiB                    2 per segment
//	accumulate     OR: a query in up to 8 ranges         tuning.rank_wg    4 bytes a document of    2, and 2 per page of
//	                                                                       a range, 3 KiB           lists, for a range
//	rank_and       AND: one element of the shortest      tuning.rank_wg    none                     none
//	               list per work-item; bitsets first
//	packets_count, packets of lists that have none yet   64                none                     none
//	packets_fill
//	coarse_sums    a query in up to 8 ranges, by         64, or 128 for    8 to 21 KiB              1, and 2 per range
//	               bounds; the threshold from the        sums of 16 bits
//	               sample; in the serial shape all
//	               ranges, by blocks, and a rising
//	               threshold
//	coarse_raise   a higher threshold from documents     256               1 KiB                    3 per 8 bits
//	               found
//	coarse_        exact scores of documents found; the  64                2.2 KiB                  3 per 16 documents
//	complete       best, if few are asked for
//	select_best    the best k of a query, in order if    tuning.select_wg  32 bytes a work-item,    5 per digit and
//	               few                                                     16.5 with shuffles       1 per chunk
//	select_count,  for many candidates: digits, then     tuning.select_wg  the same                 2, and 2 per chunk
//	select_keep    keys at or above the boundary
//
// With plan.GlobalAccumulators there is one pass, query by query: global_clear, global_add for each
// list, global_filter for a filter, global_maxima for each level, global_best.
package rank
