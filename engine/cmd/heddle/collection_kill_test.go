package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"heddle/engine"
	"heddle/engine/collection"
)

// TestCollectionChanger is the process of TestCollectionKills: it updates a document, deletes documents by a filter,
// backs up and restores, and prints each step that was acknowledged.
func TestCollectionChanger(t *testing.T) {
	root := os.Getenv("HEDDLE_TEST_CHANGER")
	if root == "" {
		t.Skip("TestCollectionKills starts it as a process")
	}
	e, err := engine.New(t.Context(), engine.Options{Backend: "host", Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	c, err := e.OpenCollection(t.Context(), filepath.Join(root, "books"), engine.CollectionOptions{})
	if err != nil {
		t.Fatal(err)
	}
	first := 0
	_, _ = fmt.Sscan(os.Getenv("HEDDLE_TEST_FIRST"), &first)
	for i := first; ; i++ {
		step := func(name string, err error) {
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			fmt.Println("acknowledged", name, i)
		}
		_, err := c.UpdateLines(t.Context(), strings.NewReader(fmt.Sprintf(`{"id":"a","year":%d}`, i)))
		step("update", err)
		_, err = c.AddLines(t.Context(), strings.NewReader(fmt.Sprintf(`{"id":"x%d","text":"loom","year":-1}`, i)))
		if err == nil {
			_, err = c.DeleteMatches(t.Context(), engine.Query{Filter: &engine.Filter{Where: "year < 0"}})
		}
		step("delete", err)
		_, err = c.Backup(t.Context(), filepath.Join(root, "backup"))
		step("backup", err)
		to := filepath.Join(root, "restored")
		gone := to + ".gone" // a removal that is killed leaves a part
		if err := errors.Join(os.RemoveAll(gone), os.Rename(to, gone)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		_, err = collection.Restore(t.Context(), filepath.Join(root, "backup"), to, collection.CopyOptions{})
		step("restore", err)
	}
}

// years are the years of the documents of a collection, whose files are whole.
func years(t *testing.T, dir string) map[string]int {
	t.Helper()
	if _, err := collection.Verify(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	var lines bytes.Buffer
	if _, err := collection.WriteDocuments(t.Context(), dir, &lines); err != nil {
		t.Fatal(err)
	}
	all := map[string]int{}
	for line := range strings.Lines(lines.String()) {
		var d struct {
			ID   string
			Year int
		}
		if err := json.Unmarshal([]byte(line), &d); err != nil {
			t.Fatal(err)
		}
		all[d.ID] = d.Year
	}
	return all
}

// TestCollectionKills kills a process between and during updates, deletions by filter, backups and restores. Each step
// that was acknowledged is on the disk, and each collection, backup and restored collection is whole.
func TestCollectionKills(t *testing.T) {
	root := t.TempDir()
	books := filepath.Join(root, "books")
	act(t, "", "collection", "create", books, "--store", "source", "--attribute", "year=int")
	act(t, `{"id":"a","text":"loom","year":0}`+"\n", "collection", "add", books, "-")
	last := map[string]int{"update": 0, "delete": -1, "backup": -1}
	for round := range 4 {
		cmd := exec.Command(os.Args[0], "-test.run=^TestCollectionChanger$")
		cmd.Env = append(os.Environ(), "HEDDLE_TEST_CHANGER="+root, fmt.Sprint("HEDDLE_TEST_FIRST=", last["update"]+1))
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines, printed := bufio.NewScanner(out), ""
		for n := 0; n < 5+round; { // the kill meets another step each time
			if !lines.Scan() {
				t.Fatalf("the process has ended:\n%s", printed)
			}
			printed += lines.Text() + "\n"
			var step string
			var i int
			if _, err := fmt.Sscanf(lines.Text(), "acknowledged %s %d", &step, &i); err == nil {
				last[step] = i
				n++
			}
		}
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		now := years(t, books)
		if now["a"] < last["update"] {
			t.Fatalf("round %d: the document has year %d, %d was acknowledged", round, now["a"], last["update"])
		}
		for name := range now {
			var i int
			if n, _ := fmt.Sscanf(name, "x%d", &i); n == 1 && i <= last["delete"] {
				t.Fatalf("round %d: %s was deleted", round, name)
			}
		}
		if got := years(t, filepath.Join(root, "backup")); got["a"] < last["backup"] {
			t.Fatalf("round %d: the backup has year %d, %d was acknowledged", round, got["a"], last["backup"])
		}
		if to := filepath.Join(root, "restored"); collection.Is(to) {
			years(t, to)
		}
		last["update"] = now["a"]
	}
}
