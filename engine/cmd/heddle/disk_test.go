//go:build !core

package main

import (
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	"heddle/engine"
)

// TestNoRoom: each way to fill a disk has the code of a full disk, and a collection keeps its state and
// takes documents that fit.
func TestNoRoom(t *testing.T) {
	inTempDir(t)
	for _, dir := range []string{"books", "files"} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	smallDisk(t, "books", 300<<10)
	smallDisk(t, "files", 64<<10)
	act(t, "", "collection", "create", "books", "--store", "text")
	act(t, "a\tred loom\n", "collection", "add", "books", "--format", "text", "-")
	var large, lines strings.Builder
	for i := range uint32(100_000) {
		word := string(rune('a'+i%26)) + strings.Repeat("x", int(i%7)) + string(rune(0x4e00+i*2654435761>>18))
		large.WriteString(word + "\t" + word + "\n")
		lines.WriteString(`{"id":"` + word + `","text":"` + word + "\"}\n")
	}
	for _, args := range [][]string{
		{"collection", "add", "books", "--format", "text", "-"}, {"index", "build", "-o", "files/x.hdl", "--format", "text", "-"},
	} {
		r := heddleWith(t, large.String(), nil, args...)
		wantFailure(t, r, exitDisk, "no space left on device")
	}
	s := serve(t, "--index", "books=books", "--admin", "127.0.0.1:0", "--root", ".", "--drain-delay", "0s")
	reply, err := http.Post(s.admin+"/v1/admin/indexes/books/documents", "application/x-ndjson", strings.NewReader(lines.String()))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(reply.Body)
	reply.Body.Close()
	if err != nil || reply.StatusCode != http.StatusInsufficientStorage || !strings.Contains(string(text), `"code":"`+engine.DiskFull.String()+`"`) {
		t.Errorf("the server: %s, %s, %v", reply.Status, text, err)
	}
	s.end()
	act(t, "b\tblue loom\n", "collection", "add", "books", "--format", "text", "-")
	if out := act(t, "", "search", "books", "--query", "loom", "--format", "jsonl", "--backend", "host"); !strings.Contains(out, `"a"`) || !strings.Contains(out, `"b"`) {
		t.Errorf("afterwards: %q", out)
	}
	for _, dir := range []string{"books", "files"} {
		if left, err := os.ReadDir(dir); err != nil || dir == "files" && len(left) > 0 {
			t.Errorf("%s has %v, %v", dir, left, err)
		}
	}
}

// TestNoRoomForToken: a token that does not fit leaves the file of tokens as it is.
func TestNoRoomForToken(t *testing.T) {
	inTempDir(t)
	if err := os.Mkdir("full", 0o755); err != nil {
		t.Fatal(err)
	}
	smallDisk(t, "full", os.Getpagesize())
	before := strings.Repeat("#", os.Getpagesize()-8) + "\n" // a write of seven bytes fits
	writeFile(t, "full/tokens", before)
	wantFailure(t, heddle(t, "serve", "token", "--tokens", "full/tokens", "shop"), exitDisk, "no space left on device")
	if after, err := os.ReadFile("full/tokens"); err != nil || string(after) != before {
		t.Errorf("the file ends with %q, %v", after[len(before)-9:], err)
	}
}
