package engine

import "heddle/engine/failure"

// Error is an error of this package. Field Code is its class, Op the operation that failed, such as "search" or
// "open index", Device is empty if the error is not of one device, and Err is the cause, never nil, which Unwrap
// returns. The text begins with the operation and the device, or with the place of a fault in the text of a query or
// predicate.
type Error = failure.Error

// Code is the class of an error. Library, command line and server share the codes. String is the name in protocols
// and logs, such as "invalid_query"; MarshalText and UnmarshalText use it. ExitCode is the exit code of a command
// that fails with the code.
type Code = failure.Code

// The codes.
const (
	OK              = failure.OK              // no error
	InvalidQuery    = failure.InvalidQuery    // the query or predicate cannot be understood
	InvalidOption   = failure.InvalidOption   // an option is out of range or contradicts another option
	NotFound        = failure.NotFound        // no such file, term or column
	NoDevice        = failure.NoDevice        // no such device, no processor is left, or the last one hangs
	Unavailable     = failure.Unavailable     // a server, or a node or the state of a cluster, cannot be reached; the caller may try again
	Overloaded      = failure.Overloaded      // the queue is full; the caller may try again
	Deadline        = failure.Deadline        // the deadline has passed
	Canceled        = failure.Canceled        // the context was cancelled
	OutOfMemory     = failure.OutOfMemory     // a device has no memory left
	Corrupt         = failure.Corrupt         // a file is damaged or has an unknown version
	Unsupported     = failure.Unsupported     // no processor implements the algorithm, codec or strategy, or the query is above a limit
	Closed          = failure.Closed          // the engine, index, table or snapshot is closed
	Unauthenticated = failure.Unauthenticated // the caller of a server is unknown
	Forbidden       = failure.Forbidden       // the caller of a server has no right to the call
	Gone            = failure.Gone            // the content of an index that a cursor belongs to is no longer in service
	DiskFull        = failure.DiskFull        // a disk has no room for a file, or the user no quota
	Internal        = failure.Internal        // any other error
)

// CodeOf returns the code of any error of this package; OK for nil.
func CodeOf(err error) Code { return failure.CodeOf(err) }
