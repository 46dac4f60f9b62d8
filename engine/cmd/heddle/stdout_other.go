//go:build !unix

package main

import "os"

// ownStdout is standard output as it is.
func ownStdout() (*os.File, error) { return os.Stdout, nil }
