package main

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// terminals returns both ends of a pseudo-terminal.
func terminals(t *testing.T) (inside, outside *os.File) {
	t.Helper()
	outside, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skip("no pseudo-terminal:", err)
	}
	t.Cleanup(func() { _ = outside.Close() })
	if err := unix.IoctlSetPointerInt(int(outside.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(outside.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	inside, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip("no pseudo-terminal:", err)
	}
	t.Cleanup(func() { _ = inside.Close() })
	return inside, outside
}

// TestSearchBold: words of the query are bold on a terminal, and not with NO_COLOR.
func TestSearchBold(t *testing.T) {
	inTempDir(t)
	writeFile(t, "d.tsv", "a\tThe loom.\n")
	must(t, "index", "build", "-o", "d.hdl", "--store", "text", "d.tsv")
	for color, want := range map[string]string{"": "     The \x1b[1mloom\x1b[22m.\r\n", "1": "     The *loom*.\r\n"} {
		inside, outside := terminals(t)
		a := &App{Stdout: inside, Stderr: os.Stderr}
		a.Environ = []string{"NO_COLOR=" + color}
		if code := a.Run(t.Context(), []string{"search", "d.hdl", "--query", "loom", "--no-header", "--backend", "host"}); code != 0 {
			t.Fatalf("exit code %d", code)
		}
		b := make([]byte, 1000)
		n, err := outside.Read(b)
		if err != nil || !strings.HasSuffix(string(b[:n]), want) {
			t.Errorf("NO_COLOR %q: %q, %v, want %q", color, b[:n], err, want)
		}
	}
}
