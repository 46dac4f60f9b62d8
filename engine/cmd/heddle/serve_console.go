//go:build !core

package main

import (
	"os"

	"github.com/rs/zerolog"

	"heddle/config"
	"heddle/engine/cmd/heddle/internal/daemon"
	"heddle/engine/cmd/heddle/internal/machine"
)

// daemon returns the options of a daemon. Read is the result of daemon.Look from before the
// configuration was read.
func (s *settings) daemon(a *App, c *config.Config, log zerolog.Logger, read map[string]os.FileInfo) daemon.Options {
	return daemon.Options{
		Config: c, Sources: s.sources(a), Read: read, Stdout: a.Stdout, Log: log, Traces: traces,
		Version: thisBuild().Version, Revision: thisBuild().Revision,
		Open: a.Engine, Close: machine.Close, Ready: func() error { return daemon.Notify(a.Getenv("NOTIFY_SOCKET"), "READY=1") },
		Machine: (&machine.Survey{Machine: a.Machine, Devices: &c.Devices}).Describe,
	}
}
