package main

import (
	"os"
	"strings"
	"testing"
)

// TestBitmapFolder reads the tables of a folder, and warns of its other files.
func TestBitmapFolder(t *testing.T) {
	inTempDir(t)
	for _, dir := range []string{"in/sub", "tabs", "both"} {
		if err := os.MkdirAll(dir, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	writeFile(t, "in/b.csv", "n\n2\n")
	writeFile(t, "in/a.CSV.gz", zipped(t, "n\n1\n"))
	writeFile(t, "in/sub/c.csv", "n\n3\n4\n")
	writeFile(t, "in/.d.csv", "x\n")
	writeFile(t, "in/notes.txt", "notes")
	writeFile(t, "tabs/a.tsv", "n\tm\n1\t2,5\n")
	writeFile(t, "both/a.tsv", "n\n1\n")
	writeFile(t, "both/b.csv", "n\n1\n")
	writeFile(t, "both/c.parquet", "")
	r := heddle(t, "bitmap", "build", "-o", "x.hdb", "in")
	if r.code != 0 || !strings.Contains(r.stderr, "files of folders, left out by their names: 1; the first: in/notes.txt") {
		t.Errorf("exit %d, stderr %q", r.code, r.stderr)
	}
	for where, want := range map[string]string{"TRUE": "4", "n = 1": "1", "n > 2": "2"} {
		if got := must(t, "bitmap", "query", "x.hdb", "--where", where); got != "1\t"+want+"\n" {
			t.Errorf("%s: %q", where, got)
		}
	}
	must(t, "bitmap", "build", "-o", "x.hdb", "tabs")
	if got := must(t, "bitmap", "query", "x.hdb", "--where", "m = '2,5' AND n = 1"); got != "1\t1\n" {
		t.Errorf("tabs: %q", got)
	}
	wantFailure(t, heddle(t, "bitmap", "build", "-o", "x.hdb", "both"), exitUsage, "both/a.tsv is CSV and both/c.parquet is Parquet: choose one with --format")
	if err := os.Remove("both/c.parquet"); err != nil {
		t.Fatal(err)
	}
	wantFailure(t, heddle(t, "bitmap", "build", "-o", "x.hdb", "--format", "csv", "both"), exitUsage, "both/a.tsv has fields between tabs, and both/b.csv has another name: choose one --delimiter")
	if r := heddle(t, "bitmap", "build", "-o", "x.hdb", "--format", "csv", "--delimiter", ",", "both"); r.code != 0 {
		t.Errorf("exit %d: %s", r.code, r.stderr)
	}
}

// TestBitmapWarnings names the line of a value that its column rounds, and builds the table.
func TestBitmapWarnings(t *testing.T) {
	inTempDir(t)
	writeFile(t, "t.csv", "id,at\n1,2001-02-03\n"+strings.Repeat("7", 40)+",2001-02-03 04:05:06.1234567\n")
	r := heddle(t, "bitmap", "build", "-o", "x.hdb", "t.csv")
	if want := `t.csv:3: column "id": "` + strings.Repeat("7", 40) + `" is rounded`; r.code != 0 || !strings.Contains(strings.ReplaceAll(r.stderr, `\"`, `"`), want) {
		t.Errorf("exit %d, stderr %q, want %q", r.code, r.stderr, want)
	}
	if got := must(t, "bitmap", "query", "x.hdb", "--where", "at = '2001-02-03 04:05:06.1234567'"); got != "1\t1\n" {
		t.Errorf("%q", got)
	}
	writeFile(t, "d.csv", "d\n1.5\n100\n")
	wantFailure(t, heddle(t, "bitmap", "build", "-o", "x.hdb", "--type", "d=decimal(3,1)", "d.csv"), exitCorrupt, `d.csv:3: column "d": "100" is not a decimal with at most 1 digits behind the point and 3 in all`)
	writeFile(t, "far.csv", "day\n2001-02-03\n5000000-01-01\n")
	wantFailure(t, heddle(t, "bitmap", "build", "-o", "x.hdb", "--type", "day=timestamp", "far.csv"), exitCorrupt,
		`far.csv:3: column "day": "5000000-01-01" is not a timestamp from -290308-12-22 to 294247-01-10`)
}

// TestBitmapRoaringForce replaces files that are no Roaring bitmap with --force only.
func TestBitmapRoaringForce(t *testing.T) {
	inTempDir(t)
	writeFile(t, "t.csv", "n\n1\n2\n")
	must(t, "bitmap", "build", "-o", "t.hdb", "t.csv")
	must(t, "bitmap", "build", "-o", "other.hdb", "t.csv")
	writeFile(t, "notes", ";0 my notes")
	writeFile(t, "empty", "")
	for _, path := range []string{"notes", "other.hdb"} {
		args := []string{"bitmap", "query", "t.hdb", "--where", "n = 2", "--roaring", path}
		wantFailure(t, heddle(t, args...), exitFailure, path+": file already exists, and not a Roaring bitmap: choose another output, or remove it (--force replaces it)")
		must(t, append(args, "--force")...)
		must(t, args...)
		if st, err := os.Stat(path); err != nil || st.Mode().Perm() != 0o600 && path == "notes" {
			t.Errorf("%s: mode %v, error %v", path, st.Mode(), err)
		}
	}
	must(t, "bitmap", "query", "t.hdb", "--where", "n = 2", "--roaring", "empty")
	wantFailure(t, heddle(t, "bitmap", "query", "t.hdb", "--where", "n = 2", "--force"), exitUsage, "--force is for --roaring FILE")
}

// TestBitmapInvalid builds tables of texts that are not UTF-8 with each treatment.
func TestBitmapInvalid(t *testing.T) {
	inTempDir(t)
	writeFile(t, "a.csv", "n,s\n1,ok\n2,caf\xe9\n")
	wantFailure(t, heddle(t, "bitmap", "build", "-o", "x.hdb", "a.csv"), exitCorrupt, `a.csv:3: column "s": invalid UTF-8: byte 3 of the value is 0xe9 (convert the input to UTF-8; --invalid replace puts`)
	for mode, want := range map[string]string{"replace": "2", "skip": "1"} {
		r := heddle(t, "bitmap", "build", "-o", "x.hdb", "--invalid", mode, "a.csv", "--json")
		if warning := "rows with invalid values, --invalid " + mode + ": 1; the first: a.csv:3: "; r.code != 0 || !strings.Contains(r.stderr, warning) || !strings.Contains(r.stdout, `"invalid":1`) {
			t.Errorf("%+v", r)
		}
		if got := must(t, "bitmap", "query", "x.hdb", "--where", "s = 'ok' OR s = 'caf\ufffd'"); got != "1\t"+want+"\n" {
			t.Errorf("%s: %q", mode, got)
		}
	}
}
