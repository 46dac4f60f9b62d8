// Package cputime measures the CPU time of the process, for benchmarks.
package cputime
