package main

import (
	"io"
	"os"
	"time"

	"github.com/rs/zerolog"
	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"heddle/config"
)

// logger writes to Stderr what the configuration asks for.
func (a *App) logger(c config.Log) zerolog.Logger {
	level, err := zerolog.ParseLevel(c.Level)
	if err != nil { // the configuration allows only levels that there are
		panic(err)
	}
	w := a.Stderr
	if c.Format == "console" {
		w = zerolog.ConsoleWriter{Out: w, TimeFormat: time.TimeOnly, NoColor: a.getenv("NO_COLOR") != "" || !isTerminal(w)}
	}
	return zerolog.New(w).Level(level).With().Timestamp().Logger()
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// progress shows on Stderr how far a long task is. Without a terminal, or when
// hidden, it shows nothing. It is for one goroutine.
type progress struct {
	bar *progressbar.ProgressBar // nil: nothing to show
}

// What bars count.
const (
	unitBytes  = "bytes" // shown as kB, MB, …
	unitValues = "values"
)

// newProgress starts a bar over so many of unit; 0 is unknown.
func (a *App) newProgress(what, unit string, total int64, hidden bool) *progress {
	if hidden || !isTerminal(a.Stderr) {
		return &progress{}
	}
	return newBar(a.Stderr, what, unit, total)
}

func newBar(w io.Writer, what, unit string, total int64) *progress {
	if total == 0 {
		total = -1
	}
	rate := progressbar.OptionShowBytes(true)
	if unit != unitBytes {
		rate = progressbar.OptionShowIts()
	}
	bar := progressbar.NewOptions64(total,
		progressbar.OptionSetWriter(w),
		progressbar.OptionSetDescription(what),
		rate,
		progressbar.OptionSetItsString(unit),
		progressbar.OptionThrottle(100*time.Millisecond),
		progressbar.OptionFullWidth(),
		progressbar.OptionClearOnFinish(),
	)
	_ = bar.RenderBlank() // starts its clock; that it cannot be drawn is no failure
	return &progress{bar}
}

// to moves the bar to n bytes.
func (p *progress) to(n int64) {
	if p.bar != nil {
		_ = p.bar.Set64(n)
	}
}

// end removes the bar.
func (p *progress) end() {
	if p.bar != nil {
		_ = p.bar.Finish()
	}
}
