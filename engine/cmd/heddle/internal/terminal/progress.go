package terminal

import (
	"io"
	"time"

	"github.com/schollz/progressbar/v3"
)

// Progress is the progress bar of a long task. The zero value shows nothing. It is not
// safe for concurrent use.
type Progress struct {
	bar *progressbar.ProgressBar // nil: no bar
}

// Unit is the unit of a progress bar.
type Unit string

// The units of progress bars.
const (
	UnitBytes  Unit = "bytes" // shown as kB, MB, …
	UnitValues Unit = "values"
)

// NewProgress starts a bar on w from 0 to total; total 0 means unknown. Without a
// terminal the bar stays invisible.
func NewProgress(w io.Writer, task string, unit Unit, total int64) Progress {
	if !Is(w) {
		return Progress{}
	}
	return newBar(w, task, unit, total)
}

func newBar(w io.Writer, task string, unit Unit, total int64) Progress {
	if total == 0 {
		total = -1
	}
	rate := progressbar.OptionShowBytes(true)
	if unit != UnitBytes {
		rate = progressbar.OptionShowIts()
	}
	bar := progressbar.NewOptions64(total,
		progressbar.OptionSetWriter(w),
		progressbar.OptionSetDescription(task),
		rate,
		progressbar.OptionSetItsString(string(unit)),
		progressbar.OptionThrottle(100*time.Millisecond),
		progressbar.OptionFullWidth(),
		progressbar.OptionClearOnFinish(),
	)
	_ = bar.RenderBlank() // starts the clock of the bar; a failure to draw does not matter
	return Progress{bar}
}

// To moves the bar to n units.
func (p Progress) To(n int64) {
	if p.bar != nil {
		_ = p.bar.Set64(n)
	}
}

// End removes the bar.
func (p Progress) End() {
	if p.bar != nil {
		_ = p.bar.Finish()
	}
}
