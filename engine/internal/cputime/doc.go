// Package cputime says how long the threads of the process have worked, for benchmarks.
package cputime
