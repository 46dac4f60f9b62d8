//go:build unix

package main

import (
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestTerminatedAtPipe sends SIGTERM to commands that read a named pipe without content.
func TestTerminatedAtPipe(t *testing.T) {
	buildCollection(t)
	if err := syscall.Mkfifo("pipe", 0o644); err != nil {
		t.Skip(err)
	}
	for _, args := range []string{
		"index build -o new.hdl --format text pipe", "bitmap build -o new.hdb pipe", "search c.hdl --queries pipe", "eval pipe pipe", "bench gain pipe",
	} {
		if isCore && strings.HasPrefix(args, "bench ") {
			continue
		}
		cmd := process(t.Context(), strings.Fields(args)...)
		var said strings.Builder
		cmd.Stderr = &said
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		var pipe *os.File
		for err := error(syscall.ENXIO); errors.Is(err, syscall.ENXIO); time.Sleep(time.Millisecond) { // until the command opens it
			pipe, err = os.OpenFile("pipe", os.O_WRONLY|syscall.O_NONBLOCK, 0)
			select {
			case <-ended:
				t.Fatalf("%s: %s", args, said.String())
			default:
			}
		}
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		<-ended
		if code := cmd.ProcessState.ExitCode(); code != exitFailure || !strings.HasSuffix(said.String(), ": interrupted\n") {
			t.Errorf("%s: exit code %d, %q", args, code, said.String())
		}
		if err := pipe.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestAuxiliaryDevices: files beside the data that are pipes or devices are not read.
func TestAuxiliaryDevices(t *testing.T) {
	buildCollection(t)
	if err := errors.Join(syscall.Mkfifo("pipe", 0o644), os.Symlink("/dev/zero", "c.hdl.cost")); err != nil {
		t.Skip(err)
	}
	search := []string{"search", "c.hdl", "--query", "w0", "--count"}
	r := heddle(t, search...)
	if r.code != 0 || !strings.Contains(r.stderr, "c.hdl.cost: not a regular file") {
		t.Errorf("%v", r)
	}
	if info, err := os.Lstat("c.hdl.cost"); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link was replaced: %v", err)
	}
	r = heddleWith(t, "", append(backendEnv(), "HEDDLE_SCHEDULE_COSTS=pipe"), search...)
	if r.code != 0 || !strings.Contains(r.stderr, "pipe: not a regular file") {
		t.Errorf("%v", r)
	}
	search = search[:len(search)-1]
	for _, flag := range []string{"--statistics", "--config", "--tuning"} {
		for _, path := range []string{"pipe", "/dev/zero"} {
			if r := heddle(t, append(search, flag, path)...); r.code == 0 || !strings.Contains(r.stderr, "not a regular file") {
				t.Errorf("%s %s: %v", flag, path, r)
			}
		}
	}
}

// TestAttributesOfPipe: inputs that are read twice are no pipes.
func TestAttributesOfPipe(t *testing.T) {
	inTempDir(t)
	must(t, "collection", "create", "c", "--attribute", "year=int")
	if err := syscall.Mkfifo("pipe", 0o644); err != nil {
		t.Skip(err)
	}
	for _, args := range []string{"index build -o x.hdl --attributes x.hdb pipe", "collection add c pipe"} {
		if r := heddle(t, strings.Fields(args)...); r.code == 0 || r.stdout != "" || !strings.Contains(r.stderr, "pipe is no regular file") {
			t.Errorf("%s: %+v", args, r)
		}
	}
}
