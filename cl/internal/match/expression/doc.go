// Package expression answers boolean expressions over lists on a device.
//
// A round is some expressions over all ranges of documents, or some ranges of one expression.
// Compressed lists are decoded first. Counts come back, then as many docIDs as they state.
//
//	kernel    purpose                               work-group     local memory         barriers
//	evaluate  an expression on a range of documents  tuning.set_wg  1 KiB a set, 1 KiB   1 per step
//	expand    docIDs of ranges                       tuning.set_wg  4 bytes a work-item  2 per doubling
package expression
