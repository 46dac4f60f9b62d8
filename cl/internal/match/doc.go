// Package match answers conjunctions of lists on a device.
//
// A batch is cut into rounds: the elements of the shortest lists, tile by tile. A round is one
// upload, a launch for each decoder that it needs, two more launches and one download.
//
//	kernel     purpose                              work-group       local memory               barriers
//	intersect  elements in all lists of the query   tuning.wg        16.1 bytes per element     2 and 1 per list
//	  pmf      the same by PMF0 to PMF4             tuning.wg        12.3 bytes per element     3 to 7 per list
//	  skip     the same in lists of gap codecs      32               10 bytes per element and   4 per list, a few per
//	                                                                 1.2 KB, 5.8 KB for rpfd    segment that is hit
//	merge      the same for lists of like length,   tuning.merge_wg  8 bytes per element and    4
//	           or a second list with bits           × merge_rows     260
//	gather     matches, query after query           tuning.wg        4 bytes                    2
//
// A filter is a bitset that elements are looked up in, in the order of lengths, by merge after the
// second list. If it has fewer documents than the shortest list, these are the elements.
//
// intersect and merge write matches[tile], counts[tile] and sums[block]. gather writes the docIDs
// behind the counts. merge_ahead writes them at once, by look-back. Rounds whose lists are raw or
// bitsets need no features of the programs. If a query of a round searches in a list of a gap codec,
// skip walks all tiles of the round. The programs for the lists of a set are built and tested when
// the set is loaded, the rest on first use.
//
// Under plan.Auto a round avoids skip where it can: it decodes the compressed lists that it searches
// behind its elements, if these are at least as many and no query has a filter. Elements in a bitset
// are not decoded where all lists of the query have bits: intersect joins the words of the lists.
package match
