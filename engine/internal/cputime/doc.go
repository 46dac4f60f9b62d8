// Package cputime measures the CPU time of the process, for benchmarks and for the scheduler, which
// finds out how many cores feed devices.
package cputime
