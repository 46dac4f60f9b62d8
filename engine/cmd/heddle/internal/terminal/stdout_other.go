//go:build !unix

package terminal

import "os"

// OwnStdout is standard output as it is.
func OwnStdout() (*os.File, error) { return os.Stdout, nil }
