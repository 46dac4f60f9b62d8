// Command heddle builds, inspects and queries inverted indices on OpenCL devices
// and in pure Go. "heddle help" lists its commands.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// The first signal ends the work in an orderly way, a second one at once.
	context.AfterFunc(ctx, stop)
	app := &App{Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Environ: os.Environ()}
	os.Exit(app.Run(ctx, os.Args[1:]))
}
