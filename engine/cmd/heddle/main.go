// Command heddle builds, inspects and queries inverted indices on OpenCL devices
// and in pure Go. "heddle help" lists its commands.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"heddle/engine/cmd/heddle/internal/machine"
	"heddle/engine/cmd/heddle/internal/terminal"
	"heddle/engine/internal/drivers"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// The first signal ends the work in an orderly way, a second one at once.
	context.AfterFunc(ctx, stop)
	stdout, err := terminal.OwnStdout()
	if err != nil && !errors.Is(err, syscall.EBADF) {
		fmt.Fprintf(os.Stderr, "heddle: standard output: %v\n", err)
		os.Exit(exitFailure)
	}
	self, err := os.Executable()
	if err != nil { // drivers load without an examination
		self = ""
	}
	app := &App{Stdin: os.Stdin, Stdout: stdout, Stderr: os.Stderr, Machine: machine.Machine{Environ: drivers.Prepare(), Self: self}}
	os.Exit(run(ctx, app, os.Args[1:]))
}
