package watch

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"
)

// TestFiles replaces, extends and removes files.
func TestFiles(t *testing.T) {
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	write := func(path, text string) {
		t.Helper()
		if err := os.WriteFile(path+".new", []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(path+".new", path); err != nil {
			t.Fatal(err)
		}
	}
	write(a, "zero")
	read := Look(a, b)
	write(a, "one") // between the reading of a and the first look
	ctx, stop := context.WithCancel(t.Context())
	var retry []string // files of the next change; set while Files waits
	looks, proceed, changes, ended := make(chan bool), make(chan bool), make(chan []string, 10), make(chan bool)
	go func() {
		defer close(ended)
		Files(ctx, time.Millisecond, func() map[string]os.FileInfo {
			looks <- true
			<-proceed
			return read
		}, func(names []string) []string {
			changes <- names
			again := retry
			retry = nil
			return again
		})
	}()
	<-looks
	expect := func(what string, want ...string) {
		t.Helper()
		for range 3 { // Files waits before its next look while the test writes
			proceed <- true
			<-looks
		}
		select {
		case got := <-changes:
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("%s: %v, want %v", what, got, want)
			}
		default:
			if len(want) > 0 {
				t.Errorf("%s: no change", what)
			}
		}
	}
	expect("a file that was replaced before the first look", a)
	expect("no change")
	write(a, "two")
	expect("a replaced file", a)
	write(b, "new")
	expect("a new file")
	write(a, "three")
	write(b, "longer")
	expect("both", a, b)
	if err := os.Remove(a); err != nil {
		t.Fatal(err)
	}
	expect("a removed file")
	write(b, "refused")
	retry = []string{b}
	expect("a file that is refused once", b)
	expect("the same file again", b)
	write(a, "four")
	expect("the same name again", a)
	for n := range 4 { // at each look it is longer
		write(a, fmt.Sprintf("%*d", 10+n, n))
		proceed <- true
		<-looks
	}
	if len(changes) > 0 {
		t.Errorf("%v changed, which is being written", <-changes)
	}
	expect("the file when it is complete", a)
	stop()
	close(proceed)
	for {
		select {
		case <-looks: // a tick that came before the end
		case <-ended:
			return
		}
	}
}

// TestReload reads files again after a change and after a signal, and without times after signals alone. It warns once of each loss
// of a file, and not of a file that was not there, whose first content it reads.
func TestReload(t *testing.T) {
	for _, every := range []time.Duration{0, time.Millisecond} {
		path := filepath.Join(t.TempDir(), "a")
		if err := os.WriteFile(path, []byte("one"), 0o600); err != nil {
			t.Fatal(err)
		}
		read := Look(path, path+".later")
		if err := os.WriteFile(path, []byte("other"), 0o600); err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		said := lines(make(chan string, 10))
		changed, signalled, ended := make(chan bool, 1), make(chan bool), make(chan bool)
		hangup := make(chan os.Signal)
		go func() {
			defer close(ended)
			Reload(ctx, every, func() map[string]os.FileInfo { return read }, hangup, zerolog.New(said), func() { changed <- true }, func() { signalled <- true })
		}()
		hangup <- os.Interrupt
		<-signalled
		if every > 0 {
			<-changed
			for range 2 {
				if err := os.Remove(path); err != nil {
					t.Fatal(err)
				}
				if line := <-said; !strings.Contains(line, `"level":"warn"`) || !strings.Contains(line, path+": ") {
					t.Errorf("warning %s", line)
				}
				if err := os.WriteFile(path, []byte("again"), 0o600); err != nil {
					t.Fatal(err)
				}
				<-changed
			}
			if err := os.WriteFile(path+".later", []byte("new"), 0o600); err != nil {
				t.Fatal(err)
			}
			<-changed
		}
		stop()
		<-ended
		if len(changed) > 0 || len(said) > 0 {
			t.Errorf("every %v: %d changes are noticed, %d warnings", every, len(changed), len(said))
		}
	}
}

// lines receives the messages of a log.
type lines chan string

func (l lines) Write(p []byte) (int, error) {
	l <- string(p)
	return len(p), nil
}
