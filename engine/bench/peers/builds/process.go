package builds

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// system is a program that builds files and answers from them.
type system struct {
	name    string
	outputs []string // files and folders, removed before each run
	steps   []step
	failed  bool
}

// step is one process, or several whose CPU times add up.
type step struct {
	name     string
	builds   bool // it writes the outputs
	commands []command
}

type command struct {
	args  []string
	stdin string // a text
}

// figures are measured of a step.
type figures struct {
	cpu, wall   float64 // seconds
	peak, files int64   // bytes
	answer      string  // the start of standard output
}

// process runs a step.
func (b *bench) process(ctx context.Context, s step) (f figures, err error) {
	ctx, cancel := context.WithTimeout(ctx, b.opt.Limit)
	defer cancel()
	for _, c := range s.commands {
		cmd := exec.CommandContext(ctx, c.args[0], c.args[1:]...)
		cmd.Dir, cmd.Stdin = b.opt.Work, strings.NewReader(c.stdin)
		var stderr bytes.Buffer
		stdout := head{left: 200}
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		began := time.Now()
		if err := cmd.Run(); err != nil {
			text := stderr.String()
			return f, fmt.Errorf("%s: %w: %s", strings.Join(c.args, " "), err, text[max(len(text)-500, 0):])
		}
		state := cmd.ProcessState
		f.wall += time.Since(began).Seconds()
		f.cpu += (state.UserTime() + state.SystemTime()).Seconds()
		if !s.builds {
			f.answer = strings.Join(strings.Fields(string(stdout.text)), " ")
		}
		if usage, ok := state.SysUsage().(*syscall.Rusage); ok && runtime.GOOS == "linux" {
			f.peak = max(f.peak, usage.Maxrss<<10)
		}
	}
	return f, nil
}

// head keeps the first bytes that are written to it.
type head struct {
	text []byte
	left int
}

func (h *head) Write(b []byte) (int, error) {
	n := min(h.left, len(b))
	h.text, h.left = append(h.text, b[:n]...), h.left-n
	return len(b), nil
}

// program builds a package of this module, and returns the path of the program.
func (b *bench) program(ctx context.Context, pkg string) (string, error) {
	path := filepath.Join(b.opt.Work, filepath.Base(pkg)+".program")
	out, err := exec.CommandContext(ctx, "go", "build", "-o", path, pkg).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return path, nil
}

// sizeOf adds up the sizes of files, and of the files in folders.
func sizeOf(paths []string) (total int64, err error) {
	for _, path := range paths {
		err := filepath.WalkDir(path, func(_ string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			info, err := d.Info()
			if err == nil {
				total += info.Size()
			}
			return err
		})
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return 0, err
		}
	}
	return total, nil
}

// removeAll removes the outputs of systems.
func removeAll(systems []system) (errs []error) {
	for _, s := range systems {
		for _, path := range s.outputs {
			errs = append(errs, os.RemoveAll(path))
		}
	}
	return errs
}
