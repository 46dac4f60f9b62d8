// Package backend finds the backends of a machine (pure Go and OpenCL devices), chooses
// among them, and opens them.
package backend
