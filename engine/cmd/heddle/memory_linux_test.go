//go:build linux

package main

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"heddle/engine/cmd/heddle/internal/report"
	"heddle/engine/plan/testneeds"
)

// highWater is the most memory that a process has had resident, 0 if it has ended. The usage that
// Wait reports is of no use here: it counts the memory of the parent before the start.
func highWater(pid int) (bytes int64) { return statusOf(pid, "VmHWM:") }

// anonymous is the resident memory of a process without the pages of files, which the system can drop.
func anonymous(pid int) (bytes int64) { return statusOf(pid, "RssAnon:") }

func statusOf(pid int, field string) (bytes int64) {
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	_, line, _ := strings.Cut(string(status), field)
	_, _ = fmt.Sscan(line, &bytes)
	return bytes << 10 // KiB
}

// peakOf runs the command in a process of its own, and returns its peak memory in bytes and its output.
func peakOf(t *testing.T, memory func(pid int) int64, args ...string) (peak int64, stdout []byte) {
	cmd := process(t.Context(), args...)
	var said bytes.Buffer
	cmd.Stdout = &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for {
		select {
		case err := <-ended:
			if err != nil {
				t.Fatalf("%v: %v: %s", args, err, said.Bytes())
			}
			return peak, said.Bytes()
		case <-time.After(5 * time.Millisecond):
			peak = max(peak, memory(cmd.Process.Pid))
		}
	}
}

// bounded checks that the limit of --build-memory, in MiB, bounds the peak of a command within 10 %,
// and that the command takes more without it.
func bounded(t *testing.T, limit int64, command func(limit string) (peak int64)) {
	t.Helper()
	free, peak := command("2GiB"), command(fmt.Sprintf("%dMiB", limit))
	t.Logf("a peak of %d bytes under a limit of %d MiB, and %d without", peak, limit, free)
	if limit <<= 20; free < limit*5/4 || peak > limit*11/10 {
		t.Errorf("a peak of %d bytes under a limit of %d, and %d without", peak, limit, free)
	}
}

// same checks that the limit of memory does not change a file.
func same(t *testing.T, one, two string) {
	t.Helper()
	a, err := os.ReadFile(one)
	if err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(two); err != nil || !bytes.Equal(a, b) {
		t.Errorf("%s and %s differ (%v)", one, two, err)
	}
}

// TestBuildMemory builds an index of many terms, whose postings in memory exceed the limit, and
// compares the peak memory of the process with the limit.
func TestBuildMemory(t *testing.T) {
	testneeds.Long(t)
	inTempDir(t)
	f, err := os.Create("d.tsv")
	if err != nil {
		t.Fatal(err)
	}
	out := bufio.NewWriter(f)
	for d := range 100_000 {
		fmt.Fprintf(out, "d%d\tthe", d)
		for i := range 40 {
			fmt.Fprintf(out, " w%x", uint32(d*40+i)*2654435761) // all different
		}
		fmt.Fprintln(out)
	}
	if err := out.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	build := func(limit string) (peak int64, runs int) {
		peak, said := peakOf(t, highWater, "index", "build", "-o", limit+".hdl", "--no-progress", "--json", "--build-memory", limit, "d.tsv")
		var sum report.Build
		if err := json.Unmarshal(said, &sum); err != nil {
			t.Fatalf("%v: %s", err, said)
		}
		return peak, sum.Runs
	}
	runs := 0
	bounded(t, 100, func(limit string) (peak int64) {
		peak, runs = build(limit)
		return peak
	})
	if runs < 2 {
		t.Errorf("%d runs under the limit", runs)
	}
	same(t, "2GiB.hdl", "100MiB.hdl")
	if f := files(t); f != "100MiB.hdl 2GiB.hdl d.tsv" {
		t.Errorf("left behind: %s", f)
	}
	if r := heddle(t, "index", "build", "-o", "x.hdl", "--build-memory", "1MiB", "d.tsv"); r.code != exitFailure || !strings.Contains(r.stderr, "too small: this build needs at least") {
		t.Errorf("a limit of 1 MiB: %+v", r)
	}
}

// TestListMemory builds an index of long inverted lists, whose terms do not ascend, and compares the
// peak memory of the process with the limit.
func TestListMemory(t *testing.T) {
	testneeds.Long(t)
	inTempDir(t)
	const documents, lists = 1_000_000, 10
	word := binary.LittleEndian.AppendUint32
	docs, freqs, sizes := word(word(nil, 1), documents), []byte(nil), word(nil, documents)
	for d := range uint32(documents) {
		sizes = word(sizes, 1<<20+d%7)
	}
	var terms []byte
	for i := range uint32(lists) {
		docs, freqs = word(docs, documents), word(freqs, documents)
		for d := range uint32(documents) {
			docs, freqs = word(docs, d), word(freqs, 1+(d+i)*2654435761>>15) // four bytes in memory
		}
		terms = fmt.Appendf(terms, "w%d\n", lists-i)
	}
	for suffix, b := range map[string][]byte{".docs": docs, ".freqs": freqs, ".sizes": sizes, ".terms": terms} {
		if err := os.WriteFile("x"+suffix, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	bounded(t, 80, func(limit string) (peak int64) {
		peak, _ = peakOf(t, highWater, "index", "build", "-o", limit+".hdl", "--no-progress", "--build-memory", limit, "x.docs")
		return peak
	})
	same(t, "2GiB.hdl", "80MiB.hdl")
}

// TestTableMemory builds a table of many different texts, which do not fit in the limit, and compares
// the peak memory of the process with the limit.
func TestTableMemory(t *testing.T) {
	testneeds.Long(t)
	inTempDir(t)
	var text bytes.Buffer
	text.WriteString("user,n\n")
	for i := range uint32(1_500_000) {
		fmt.Fprintf(&text, "user-%0100d,%d\n", i*2654435761, i%100) // all different
	}
	if err := os.WriteFile("t.csv", text.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	bounded(t, 128, func(limit string) (peak int64) {
		peak, _ = peakOf(t, highWater, "bitmap", "build", "-o", limit+".hdb", "--no-progress", "--build-memory", limit, "t.csv")
		return peak
	})
	same(t, "2GiB.hdb", "128MiB.hdb")
	if r := heddle(t, "bitmap", "build", "-o", "x.hdb", "--build-memory", "1MiB", "t.csv"); r.code != exitFailure || !strings.Contains(r.stderr, "too small: this build needs at least") {
		t.Errorf("a limit of 1 MiB: %+v", r)
	}
	if f := files(t); f != "128MiB.hdb 2GiB.hdb t.csv" {
		t.Errorf("left behind: %s", f)
	}
}

// TestMergeMemory merges segments whose attributes, many different texts, do not fit in the limit, and
// compares the memory of the process with the limit.
func TestMergeMemory(t *testing.T) {
	testneeds.Long(t)
	inTempDir(t)
	must := func(args ...string) {
		t.Helper()
		if r := heddle(t, args...); r.code != 0 {
			t.Fatalf("%v: %+v", args, r)
		}
	}
	must("collection", "create", "96MiB", "--attribute", "user=string")
	for part := range 2 {
		var text bytes.Buffer
		for i := range 200_000 {
			fmt.Fprintf(&text, "{\"id\":\"%d-%d\",\"text\":\"loom\",\"user\":\"user-%0200d\"}\n", part, i, uint32(part*200_000+i)*2654435761) // all different
		}
		if err := os.WriteFile("x.jsonl", text.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		must("collection", "add", "96MiB", "x.jsonl", "--no-merge", "--no-progress")
	}
	if err := os.CopyFS("2GiB", os.DirFS("96MiB")); err != nil {
		t.Fatal(err)
	}
	bounded(t, 96, func(limit string) int64 {
		peak, _ := peakOf(t, anonymous, "collection", "merge", limit, "--build-memory", limit)
		return peak
	})
	one, err := filepath.Glob("2GiB/*.hdb")
	if err != nil || len(one) != 3 { // two of the state before
		t.Fatal(one, err)
	}
	same(t, one[2], strings.Replace(one[2], "2GiB", "96MiB", 1))
}
