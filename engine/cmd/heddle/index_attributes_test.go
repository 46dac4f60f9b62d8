package main

import (
	"os"
	"path/filepath"
	"testing"

	"heddle/engine/file/container/containertest"
)

// TestIndexAttributesFault: after a crash or an error at each step, the index has its own table or
// none. An error that leaves the old index leaves its table.
func TestIndexAttributesFault(t *testing.T) {
	for _, dead := range []bool{false, true} {
		for fail := 0; ; fail++ {
			t.Chdir(t.TempDir())
			must := func(err error) {
				t.Helper()
				if err != nil {
					t.Fatal(err)
				}
			}
			must(os.Mkdir("temp", 0o777))
			writeFile(t, "x.hdl", "old")
			writeFile(t, "x.hdb", "old")
			must(os.Chmod("x.hdb", 0o600))
			writeFile(t, "temp/table.hdb", "new")
			writeFile(t, "complete.hdl", "new")
			disk := &containertest.Disk{Fail: fail, Dead: dead}
			table := &attributeTable{disk, "temp", "x.hdb"}
			err := table.Rename("complete.hdl", "x.hdl")
			if err == nil {
				err = table.publish()
			}
			index, _ := os.ReadFile("x.hdl")
			got, missing := os.ReadFile("x.hdb")
			if missing == nil && string(got) != string(index) {
				t.Errorf("step %d, dead %v: the index is %s, the table %s", fail, dead, index, got)
			}
			if !dead && string(index) == "old" && missing != nil {
				t.Errorf("step %d: the old index has lost its table", fail)
			}
			if err == nil {
				if st, err := os.Stat("x.hdb"); err != nil || string(got) != "new" || st.Mode().Perm() != 0o600 {
					t.Errorf("%s, %v, %v", got, st, err)
				}
				break
			}
		}
	}
}

// TestIndexAttributesPower: behind a power cut at each step, the index has its own table or none, and its
// own one at the end.
func TestIndexAttributesPower(t *testing.T) {
	root := t.TempDir()
	at := func(name string) string { return filepath.Join(root, name) }
	if err := os.Mkdir(at("temp"), 0o777); err != nil {
		t.Fatal(err)
	}
	writeFile(t, at("x.hdl"), "old")
	writeFile(t, at("x.hdb"), "old")
	writeFile(t, at("temp/table.hdb"), "new")
	writeFile(t, at("complete.hdl"), "new")
	done := false
	disk := containertest.NewPower(t, root, func(dir string) {
		index, err := os.ReadFile(filepath.Join(dir, "x.hdl"))
		table, missing := os.ReadFile(filepath.Join(dir, "x.hdb"))
		if err != nil || missing == nil && string(table) != string(index) || done && (string(index) != "new" || missing != nil) {
			t.Fatalf("behind a power cut: the index is %q, %v, the table %q, %v", index, err, table, missing)
		}
	})
	table := &attributeTable{disk, at("temp"), at("x.hdb")}
	for _, err := range []error{table.Rename(at("complete.hdl"), at("x.hdl")), table.SyncDir(root), table.publish()} { // as container.Writer does
		if err != nil {
			t.Fatal(err)
		}
	}
	done = true
	disk.Renewed()
}
