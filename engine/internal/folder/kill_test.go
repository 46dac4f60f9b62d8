package folder

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestAppender is the process of TestAppendKills: it adds a file again and again, by a link and by a copy in turns, and
// prints the number of each addition.
func TestAppender(t *testing.T) {
	root := os.Getenv("HEDDLE_TEST_APPENDER")
	if root == "" {
		t.Skip("TestAppendKills starts it as a process")
	}
	first := 0
	_, _ = fmt.Sscan(os.Getenv("HEDDLE_TEST_FIRST"), &first)
	dir := filepath.Join(root, "many")
	for i := first; ; i++ {
		day := filepath.Join(root, fmt.Sprintf("%06d%s", i, Suffix))
		err := os.Link(filepath.Join(root, "from"+Suffix), day)
		if err == nil || errors.Is(err, fs.ErrExist) {
			if err = Append(dir, filepath.Join(root, "from"+Suffix)); errors.Is(err, fs.ErrExist) { // it cleans the folder
				err = nil
			}
			if err == nil && i%2 == 0 {
				err = Append(dir, day)
			} else if err == nil {
				err = copied(dir, day, filepath.Join(dir, filepath.Base(day)))
			}
		}
		if err != nil {
			t.Fatal(err)
		}
		fmt.Println("acknowledged", i)
	}
}

// TestAppendKills kills a process between and during additions: the folder has all files that were acknowledged, at most
// one more, and each of them whole. The next addition leaves nothing of the process.
func TestAppendKills(t *testing.T) {
	root := t.TempDir()
	dir, from := filepath.Join(root, "many"), filepath.Join(root, "from"+Suffix)
	var lines strings.Builder
	r := rand.New(rand.NewPCG(1, 2))
	for range 200_000 { // 1.6 MB, for copies that take time
		fmt.Fprintln(&lines, int64(r.Uint64()))
	}
	table(t, from, lines.String())
	want, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	next := 0
	for round := range 6 {
		cmd := exec.Command(os.Args[0], "-test.run=^TestAppender$")
		cmd.Env = append(os.Environ(), "HEDDLE_TEST_APPENDER="+root, fmt.Sprint("HEDDLE_TEST_FIRST=", next))
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines, printed, last := bufio.NewScanner(out), "", next-1
		for range 1 + round {
			if !lines.Scan() {
				t.Fatalf("the process has ended:\n%s", printed)
			}
			printed += lines.Text() + "\n"
			_, _ = fmt.Sscanf(lines.Text(), "acknowledged %d", &last)
		}
		time.Sleep(time.Duration(round) * time.Millisecond) // the kill meets another step each time
		_ = cmd.Process.Kill()
		for lines.Scan() {
			_, _ = fmt.Sscanf(lines.Text(), "acknowledged %d", &last)
		}
		_ = cmd.Wait()
		files, err := Files(nil, dir)
		if err != nil || len(files) != last+2 && len(files) != last+3 { // with from
			t.Fatalf("round %d: %d files, %v; %d were acknowledged", round, len(files), err, last+1)
		}
		for i, path := range files[:len(files)-1] {
			if filepath.Base(path) != fmt.Sprintf("%06d%s", i, Suffix) {
				t.Fatalf("round %d: file %d is %s", round, i, path)
			}
			if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, want) {
				t.Fatalf("round %d: %s has %d bytes, %v", round, path, len(got), err)
			}
		}
		next = len(files) - 1
	}
	if err := os.WriteFile(filepath.Join(dir, ".old"+Suffix+partSuffix), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	busy, err := locked(filepath.Join(dir, ".busy"+Suffix+partSuffix))
	if err != nil {
		t.Fatal(err)
	}
	defer busy.Close()
	last := filepath.Join(root, "z"+Suffix)
	if err := errors.Join(os.Link(from, last), Append(dir, last)); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != next+3 || entries[0].Name() != filepath.Base(busy.Name()) {
		t.Errorf("%v: %v, want %d files and the copy of another process", entries, err, next+2)
	}
}
