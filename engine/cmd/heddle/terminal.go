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

// newProgress starts a bar over so many bytes; 0 is unknown.
func (a *App) newProgress(what string, bytes int64, hidden bool) *progress {
	if hidden || !isTerminal(a.Stderr) {
		return &progress{}
	}
	if bytes == 0 {
		bytes = -1
	}
	bar := progressbar.NewOptions64(bytes,
		progressbar.OptionSetWriter(a.Stderr),
		progressbar.OptionSetDescription(what),
		progressbar.OptionShowBytes(true),
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
