// Package cl runs batches on OpenCL devices of any vendor. Each device is a plan.Backend, with
// the same kernels everywhere.
//
// # Packages
//
//	internal/device            opening a device, programs, queues, memory, self-tests, tuning rows
//	internal/lists             lists on the device: arena, decoders, auxiliary tables, cache
//	internal/primitive         scan, compact, look-back
//	internal/match             conjunctions
//	internal/match/expression  boolean expressions
//	internal/rank              ranked queries
//	internal/filter            sets of documents that restrict queries
//	internal/bitmap            selections on tables of bit vectors
//	internal/tune              measuring tuning rows
//	kernels                    OpenCL C sources
//	go-opencl                  the binding
//
// Package device names no operation. Each operation registers its kernels, limits, tuning
// fields and self-test, and this package lists the operations.
//
// # Memory
//
// A backend has one memory budget. All its stores, tables, caches and scratch memory reserve
// bytes there before they make buffers, so several indexes and tables never exceed it. A
// reservation that fails is a *plan.DeviceError of kind plan.ErrOutOfMemory that states the
// size, the bytes in use and the limit. Only staging memory of the driver on the host is not
// counted. A store of lists answers concurrent batches in slots. It makes them when batches need them, up to the
// number in tuning.toml (16 on NVIDIA); the budget holds the memory of all of them from the start. A slot has
// room for an upload and for 4 MiB of results. After larger results a slot has room for the expected results of
// a batch, or the largest so far. The store lends up to 32 MiB a slot of further memory for results
// to callers, 512 MiB on NVIDIA.
//
// Other processes may take memory of the device. If the driver refuses a buffer, spare memory goes (filters
// that nobody uses, packets of postings) and the driver is asked once more. A second refusal lowers the budget to
// the memory in use and half of the buffer. Rounds get shorter, and a cache of lists opens at half the
// size, or a quarter, as long as lists have an eighth of it. Every 30 seconds without a refusal the budget
// rises by a sixteenth of its first limit, up to that limit. An open cache keeps its size.
//
// Some drivers take the memory of a buffer with its first command. Buffers of data get a command at
// once, so that a refusal has the same effects. Where the first batch on scratch memory is refused, it fails with
// plan.ErrOutOfMemory, and the engine runs it elsewhere.
//
// # Errors
//
// Faults of a device are a *plan.DeviceError: ErrNoDevice for limits that the kernels cannot
// run with, ErrBuild with the log of the compiler, ErrSelfTest after a wrong result of a
// kernel, ErrOutOfMemory by the budget or by the driver, ErrDeviceLost for the rest. The engine
// then uses its next backend.
//
// # Environment
//
// HEDDLE_OPENCL_LIBRARY and HEDDLE_OPENCL_SERIAL are described in cl/go-opencl/README.md.
// HEDDLE_TEST_BACKEND and HEDDLE_TEST_DEVICE choose the device of the tests (package
// engine/plan/testneeds). The flag -short reduces their cases.
package cl
