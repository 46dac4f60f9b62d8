// Package primitive runs scan and compact as kernels of their own, and holds the state of kernels
// with decoupled look-back.
//
// The plain form has two launches per chunk: scan_sums, then scan_tiles or compact_tiles. The
// form with look-back (scan_ahead, compact_ahead) reads each element once, in one launch. It runs
// only if the kernel progress has shown that work-groups make progress on the device.
package primitive
