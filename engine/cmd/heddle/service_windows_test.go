//go:build !core

package main

import (
	"bufio"
	"context"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/windows"
	"golang.org/x/sys/windows/svc"
)

// TestStopService stops a service: its command ends by its context, and the manager hears of each state.
func TestStopService(t *testing.T) {
	s := &service{ctx: t.Context(), run: func(ctx context.Context) int { <-ctx.Done(); return 3 }}
	requests, status := make(chan svc.ChangeRequest), make(chan svc.Status, 10)
	go func() {
		requests <- svc.ChangeRequest{Cmd: svc.Interrogate, CurrentStatus: svc.Status{State: svc.Running}}
		requests <- svc.ChangeRequest{Cmd: svc.Stop}
	}()
	if specific, code := s.Execute(nil, requests, status); !specific || code != 3 || s.code != 3 {
		t.Errorf("exit code %d (specific: %v), and %d for the process, want 3", code, specific, s.code)
	}
	for i, want := range []svc.State{svc.Running, svc.Running, svc.StopPending} {
		if got := (<-status).State; got != want {
			t.Errorf("report %d: state %d, want %d", i, got, want)
		}
	}
}

// TestBreak sends Ctrl-Break to a server, which answers as to Ctrl-C: it ends in an orderly way.
func TestBreak(t *testing.T) {
	buildCollection(t)
	cmd := process(t.Context(), "serve", "--index", "c=c.hdl", "--listen", "127.0.0.1:0", "--backend", "host", "--device", "")
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var stderr strings.Builder
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := bufio.NewReader(stdout).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	if err := windows.GenerateConsoleCtrlEvent(windows.CTRL_BREAK_EVENT, uint32(cmd.Process.Pid)); err != nil {
		t.Skip("no console, as under Wine: ", err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("%v: %s", err, stderr.String())
	}
}
