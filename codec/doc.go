// Package codec turns posting lists into 32-bit words and back.
//
// A posting list is a strictly increasing sequence of docIDs (uint32, counted
// from 0). The words are little-endian in files. OpenCL kernels and Go read the
// same words, so one format serves all devices. The byte diagrams are in
// FORMAT.md of package engine/index/hdl.
//
// All functions are pure: no input or output, no goroutines, no global state.
// They are safe for concurrent use if callers do not share destination slices.
//
// Decoders are total. Any input gives either the list or an error for which
// errors.Is(err, [ErrCorrupt]) holds. A decoder never panics and never returns
// more docIDs than the list declares.
//
// # Adding a codec
//
// A new codec touches these places:
//
//  1. codec/NAME.go: the encoder, its size function and the decoder of a block.
//  2. codec/table.go: the constant and the descriptor.
//  3. codec/blocks.go: one case in Blocks.Open and one in Blocks.decode. They
//     are switches because a call through a table would move each Blocks to the
//     heap.
//  4. codec/testdata/lists.txt: golden vectors.
//  5. engine/index/hdl/FORMAT.md: the byte diagram. The table of codecs in it
//     is rewritten by "go test ./engine/index/hdl -run FormatCodecs -update".
//  6. cl: kernels and their registration, only for a new [DeviceKind]. A codec
//     with DeviceNone needs none; an OpenCL backend refuses its lists with
//     plan.ErrUnsupported, and the pure-Go backend reads them.
//
// "go generate ./codec" then writes the names for package config. Command line,
// configuration, benchmarks and test suites take their lists of codecs from
// [IDs]. Tests fail while the descriptor, the golden vectors, the table in
// FORMAT.md or the names in config are missing.
package codec
