package main

import (
	"github.com/rs/zerolog"

	"heddle/config"
	"heddle/engine/cmd/heddle/internal/flags"
)

// settings are the flags of a command that set keys of the configuration, and --config.
type settings struct{ flags.Settings }

// sources returns the sources of the configuration.
func (s *settings) sources(a *App) config.Sources {
	return s.Sources(a.Environ, a.Getenv(config.FileVariable))
}

// load reads the configuration and creates its logger.
func (s *settings) load(a *App) (*config.Config, zerolog.Logger, error) {
	c, err := config.Load(s.sources(a))
	if err != nil {
		return nil, zerolog.Nop(), err
	}
	if c.Devices.Probe == 0 {
		a.Self = ""
	}
	return c, a.logger(c.Log), nil
}
