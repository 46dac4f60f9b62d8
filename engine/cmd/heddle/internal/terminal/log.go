package terminal

import (
	"io"
	"time"

	"github.com/rs/zerolog"
	"golang.org/x/term"

	"heddle/config"
)

// Logger writes messages of the configured level and format to w. Colours appear only
// on a terminal, and only if color is true.
func Logger(w io.Writer, c config.Log, color bool) zerolog.Logger {
	level, err := zerolog.ParseLevel(c.Level)
	if err != nil { // package config has checked the level
		panic(err)
	}
	if c.Format == "console" {
		w = zerolog.ConsoleWriter{Out: w, TimeFormat: time.TimeOnly, NoColor: !color || !Is(w)}
	}
	return zerolog.New(w).Level(level).With().Timestamp().Logger()
}

// Is reports whether w is a terminal.
func Is(w io.Writer) bool {
	f, ok := w.(interface{ Fd() uintptr })
	return ok && term.IsTerminal(int(f.Fd()))
}
