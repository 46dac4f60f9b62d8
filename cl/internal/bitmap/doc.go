// Package bitmap answers selections on tables of bit vectors on a device.
//
// Vectors lie in an arena, in the layout of the file. A directory tells, tile by tile of their
// groups, where their words lie. Tiles with little compression are there a second time as plain
// groups. Stored values follow as bit slices (package bitslice) when a batch first needs them: a tile lies in one
// buffer of four at most. A round is some selections over all tiles. Selections in stored values alone are one launch,
// together with their groups by narrow columns and their totals.
// Of other selections, one launch makes the bits of their checks of stored values, the next one the rows. Counts or
// rows come back.
//
//	kernel        purpose                          work-group       local memory                 barriers
//	rows          a selection on a tile, from      tuning.table_wg  4 bytes a group and set,     3 per 64 vectors, 1 per OR,
//	              compressed words                                  1.3 KiB                      1 per set that may be empty, 3
//	slices        a selection in stored values,    256              1 KiB                        10, and 2 per 8 tiles of a
//	              from bit slices                                                                filter
//	wah_sizes,    Algorithm 2: sizes, end points,  256              none                         none
//	wah_ends,     groups
//	wah_expand
//	wah_recall    its last loop: a tile of a       128              none                         none
//	              vector
//	count_codes   rows by codes of columns         256              16 KiB                       2
//	code_groups   a selection in stored values,    64               16 KiB                       3 per 2 tiles, 1
//	              rows and sums of its groups by
//	              narrow columns
//	pair_groups   a selection in one of two        256              tuning.group_local           1; 4 per trial
//	              columns, rows of groups by
//	              one and sums of the other
//	packed_       rows and sums of many groups     64               none                         none
//	groups
//	measure_rows  the same without groups, and     256              2 KiB                        10 for the rows and each
//	              ends of codes                                                                  number of a column
//	measure_      rows and sums of groups by wide  256              16 KiB                       2
//	groups        columns and bins
//	best_keys     the greatest key of units of rows  256              6 KiB                        6
//	rows_above    the rows of units from a key on    256              none                         none
//	reduce_pairs  OR of columns: a level of COA    256              none                         none
//	reduce_tiles  ROA, hybrid, ideal hybrid        1 to 256         4 KiB                        1 per level
//
// Under the strategies of Nelson et al. 2020 each StepAny becomes a column of groups first, which
// rows then loads. Its vectors are decompressed, as many at a time as there is room for, and
// reduced. Word indices come from the directory, or, with Rescan, from two scans of the batch.
package bitmap
