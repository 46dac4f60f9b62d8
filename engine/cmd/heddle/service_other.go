//go:build !windows

package main

import "context"

// run runs the command; this system starts services like other programs.
func run(ctx context.Context, app *App, args []string) int { return app.Run(ctx, args) }
