// Package reference evaluates batches of package plan in the plainest way. It is
// the only oracle for answers: tests, self-tests of devices and benchmarks compare
// with it.
//
// It shares no code with the backends. It decodes lists with package codec,
// decompresses vectors with package wah, and computes contributions with
// plan.Norm, because these define the answers. All other steps work on plain
// slices, one list, document or row after another. Speed and memory do not
// matter.
//
// Batches must be valid (Validate of their types). All functions are safe for
// concurrent use.
package reference
