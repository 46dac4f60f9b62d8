// Package device opens OpenCL devices and gives operations the means to run batches: programs,
// queues, staging memory, device memory and self-tests. It names no operation. Package cl
// passes a list of Operation values to Find.
//
// # Commands
//
// One goroutine at a time enqueues commands (Runtime.Do). Each batch under way has a slot, and
// each slot embeds a Flight: an in-order queue, staging memory, kernel objects and events. The
// slot belongs to the goroutine that took it until its commands have ended, also if the caller
// gives up. A Pool holds the idle slots of one kind. Rounds of several slots overlap: the upload
// of one runs during the kernels of another one. Asynchronous transfers use only pinned memory
// of the driver, because the driver keeps the pointer after the call.
//
// # Programs
//
// A program is the file common.cl, then the files that the operation names, behind the macros
// of the tuning row. Kernels have variants (Features), which are programs of their own and are
// built on first use, so that kernels of common rounds stay small. Programs that every device
// needs are one text, built when the device is opened.
//
// # Arguments
//
// Each kernel is a Kernel value with a struct of arguments whose fields are the parameters of the
// kernel. Launch sets the arguments that have changed since the last launch in the flight, and
// enqueues the kernel. An operation declares its kernels in one file and lists them in Programs.
//
// # Shapes
//
// On devices of type CPU the kernels have the shape SCAN_SERIAL: one work-item walks a whole tile
// without barriers and with at most 16 KiB of local memory. All other devices use SCAN_LOCAL, unless their
// work-groups or their local memory are too small. The tuning row of the device decides (tuning.toml). Faults of drivers and their workarounds are in quirks.go.
package device
