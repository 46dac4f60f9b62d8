package fetch

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"pgregory.net/rapid"

	"heddle/engine"
)

// content returns bytes that do not repeat, and the file that they are.
func content(n int) ([]byte, File) {
	b := make([]byte, n)
	r := rand.NewChaCha8([32]byte{byte(n)})
	r.Read(b)
	sum := sha256.Sum256(b)
	return b, File{Name: "shard-0.hdl", SHA256: hex.EncodeToString(sum[:]), Bytes: uint64(n)}
}

// same fails unless the file at path has the bytes and no part lies beside it.
func same(t testing.TB, path string, want []byte) {
	t.Helper()
	if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, want) {
		t.Fatalf("%d bytes, error %v; want the %d bytes of the source", len(got), err, len(want))
	}
	if _, err := os.Stat(path + suffix); !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("the part is left: %v", err)
	}
}

// TestFetch: any sequence of sources that break, lie, ignore ranges or change their mind ends in
// the exact file once one good source is asked, and never in a wrong one.
func TestFetch(t *testing.T) {
	want, file := content(3*block + 17)
	rapid.Check(t, func(t *rapid.T) {
		dir, err := os.MkdirTemp("", "fetch")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(dir)
		path := filepath.Join(dir, "x.hdl")
		var kind, at int
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body := want
			switch kind {
			case 1: // breaks off
				w = &breaking{w, at}
			case 2: // other bytes
				body = bytes.Clone(want)
				body[at%len(body)]++
			case 3: // no ranges
				r.Header.Del("Range")
			case 4: // short
				body = want[:at%len(want)]
			case 5: // long
				body = append(bytes.Clone(want), 1)
			case 6: // unknown by checksum
				if strings.HasSuffix(r.URL.Path, file.SHA256) {
					http.NotFound(w, r)
					return
				}
			case 7:
				http.Error(w, "no", http.StatusServiceUnavailable)
				return
			}
			http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(body))
		}))
		defer server.Close()
		for range rapid.IntRange(0, 4).Draw(t, "attempts") {
			kind, at = rapid.IntRange(0, 7).Draw(t, "kind"), rapid.IntRange(0, len(want)-1).Draw(t, "at")
			if err := new(Client).Fetch(t.Context(), file, path, server.URL); err == nil {
				continue
			} else if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
				t.Fatalf("kind %d: a file that failed is there", kind)
			}
		}
		kind = 0
		if err := new(Client).Fetch(t.Context(), file, path, server.URL); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, want) {
			t.Fatalf("%d bytes, error %v", len(got), err)
		}
	})
}

// breaking drops the connection after some bytes.
type breaking struct {
	http.ResponseWriter
	left int
}

func (b *breaking) Write(p []byte) (int, error) {
	n, err := b.ResponseWriter.Write(p[:min(b.left, len(p))])
	if b.left -= n; b.left == 0 {
		http.NewResponseController(b.ResponseWriter).Flush()
		panic(http.ErrAbortHandler)
	}
	return n, err
}

// TestResume: the second call asks only for the bytes that the first one did not get.
func TestResume(t *testing.T) {
	want, file := content(4 * block)
	path := filepath.Join(t.TempDir(), "x.hdl")
	stored := filepath.Join(t.TempDir(), "stored")
	if err := errors.Join(os.WriteFile(stored, want, 0o600), os.WriteFile(path+suffix, want[:block+5], 0o600)); err != nil {
		t.Fatal(err)
	}
	var asked atomic.Value
	h := Handler(func(sum string) string { return map[string]string{file.SHA256: stored}[sum] })
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Store(r.Header.Get("Range"))
		h.ServeHTTP(w, r)
	}))
	defer server.Close()
	if err := new(Client).Fetch(t.Context(), file, path, server.URL); err != nil {
		t.Fatal(err)
	}
	if asked.Load() != "bytes=262149-" {
		t.Errorf("asked for %v", asked.Load())
	}
	same(t, path, want)
}

// TestNextSource: a wrong checksum and a silent source are left for the next one; a folder is one.
func TestNextSource(t *testing.T) {
	want, file := content(block + 1)
	folder, path := t.TempDir(), filepath.Join(t.TempDir(), "x.hdl")
	wrong := bytes.Repeat([]byte{1}, len(want))
	if err := os.WriteFile(filepath.Join(folder, file.Name), want, 0o600); err != nil {
		t.Fatal(err)
	}
	lie := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { w.Write(wrong) }))
	defer lie.Close()
	silent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Write(want[:10])
		http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}))
	defer silent.Close()
	client, impatient := new(Client), &Client{Idle: 50 * time.Millisecond} // which gives up any source of a busy machine
	err := client.Fetch(t.Context(), file, path, lie.URL)
	if _, is := errors.AsType[*ChecksumError](err); !is || engine.CodeOf(err) != engine.Corrupt {
		t.Fatalf("error %v, want a wrong checksum", err)
	}
	if _, err := os.Stat(path + suffix); !errors.Is(err, os.ErrNotExist) {
		t.Fatal("the part with a wrong checksum is left")
	}
	if err := impatient.Fetch(t.Context(), file, path, silent.URL); err == nil || !strings.Contains(err.Error(), "sent nothing for 50ms") {
		t.Fatalf("error %v", err)
	}
	if err := client.Fetch(t.Context(), file, path, lie.URL, folder); err != nil {
		t.Fatal(err)
	}
	same(t, path, want)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := impatient.Fetch(t.Context(), file, path, silent.URL, folder); err != nil {
		t.Fatal(err)
	}
	same(t, path, want)
}

// quota is a disk with room for some bytes.
type quota struct {
	*os.File
	left *int
}

func (q quota) Write(b []byte) (int, error) {
	n, err := q.File.Write(b[:min(len(b), *q.left)])
	if *q.left -= n; err == nil && n < len(b) {
		err = &os.PathError{Op: "write", Path: q.Name(), Err: syscall.ENOSPC}
	}
	return n, err
}

// TestDiskFull: the error names the file and the free space, and only a part is left, which a
// later call completes.
func TestDiskFull(t *testing.T) {
	want, file := content(2 * block)
	folder, dir := t.TempDir(), t.TempDir()
	path := filepath.Join(dir, "x.hdl")
	if err := os.WriteFile(filepath.Join(folder, file.Name), want, 0o600); err != nil {
		t.Fatal(err)
	}
	room := block + 100
	client := &Client{disk: func(path string) (part, error) {
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
		return quota{f, &room}, err
	}}
	err := client.Fetch(t.Context(), file, path, folder)
	full, is := errors.AsType[*DiskFullError](err)
	if !is || full.File != path || full.Need != file.Bytes || full.Free == 0 || !strings.Contains(err.Error(), path) {
		t.Fatalf("error %v", err)
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 1 || left[0].Name() != "x.hdl.part" {
		t.Fatalf("left are %v, error %v", left, err)
	}
	room = block // not enough for the whole file again
	if err := client.Fetch(t.Context(), file, path, folder); err != nil {
		t.Fatal(err)
	}
	same(t, path, want)
}

// unsynced is a disk whose first Sync fails.
type unsynced struct {
	*os.File
	failed *bool
}

func (u unsynced) Sync() error {
	if !*u.failed {
		*u.failed = true
		return syscall.EIO
	}
	return u.File.Sync()
}

// TestSyncFails: bytes that the disk may have lost are fetched again. After a failed Sync the bytes look
// complete until the power fails.
func TestSyncFails(t *testing.T) {
	want, file := content(2 * block)
	folder, dir := t.TempDir(), t.TempDir()
	path := filepath.Join(dir, "x.hdl")
	if err := os.WriteFile(filepath.Join(folder, file.Name), want, 0o600); err != nil {
		t.Fatal(err)
	}
	failed := false
	client := &Client{disk: func(path string) (part, error) {
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
		return unsynced{f, &failed}, err
	}}
	if err := client.Fetch(t.Context(), file, path, folder); !errors.Is(err, syscall.EIO) {
		t.Fatalf("error %v", err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Fatalf("left are %v, error %v", left, err)
	}
	if err := client.Fetch(t.Context(), file, path, folder); err != nil {
		t.Fatal(err)
	}
	same(t, path, want)
}

// TestHandler: a file that find knows by its checksum comes whole, in ranges, or as a header alone. All other
// names, folders and lost files are absent: find gets the last part of the path, and no file opens without it.
func TestHandler(t *testing.T) {
	dir := t.TempDir()
	data, file := content(1000)
	at := filepath.Join(dir, file.SHA256+".hdl")
	if err := os.WriteFile(at, data, 0o600); err != nil {
		t.Fatal(err)
	}
	folder, lost := strings.Repeat("1", 64), strings.Repeat("2", 64)
	var asked []string
	server := httptest.NewServer(Handler(func(sum string) string {
		asked = append(asked, sum)
		return map[string]string{file.SHA256: at, folder: dir, lost: filepath.Join(dir, lost)}[sum]
	}))
	defer server.Close()
	for _, c := range []struct {
		method, path, span string
		status             int
		body               []byte
		asks               string
	}{
		{"GET", "/files/" + file.SHA256, "", http.StatusOK, data, file.SHA256},
		{"GET", "/files/" + file.SHA256, "bytes=990-", http.StatusPartialContent, data[990:], file.SHA256},
		{"HEAD", "/files/" + file.SHA256, "", http.StatusOK, nil, file.SHA256},
		{"GET", "/files/" + folder, "", http.StatusNotFound, nil, folder},
		{"GET", "/files/" + lost, "", http.StatusNotFound, nil, lost},
		{"GET", "/files/" + strings.Repeat("0", 64), "", http.StatusNotFound, nil, strings.Repeat("0", 64)},
		{"GET", "/", "", http.StatusNotFound, nil, "/"},
		{"GET", "/files/..%2f..%2fetc%2fpasswd", "", http.StatusNotFound, nil, "passwd"},
		{"GET", "/files/" + file.SHA256 + "%2f..", "", http.StatusNotFound, nil, ".."},
		{"POST", "/files/" + file.SHA256, "", http.StatusMethodNotAllowed, nil, ""},
		{"DELETE", "/files/" + file.SHA256, "", http.StatusMethodNotAllowed, nil, ""},
	} {
		asked = nil
		req, err := http.NewRequestWithContext(t.Context(), c.method, server.URL+c.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if c.span != "" {
			req.Header.Set("Range", c.span)
		}
		answer, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(answer.Body)
		answer.Body.Close()
		if answer.StatusCode != c.status || err != nil || c.body != nil && !bytes.Equal(body, c.body) || strings.Join(asked, " ") != c.asks {
			t.Errorf("%s %s: %s with %d bytes, %v, asks for %q", c.method, c.path, answer.Status, len(body), err, asked)
		}
		switch c.status {
		case http.StatusMethodNotAllowed:
			if answer.Header.Get("Allow") != "GET, HEAD" {
				t.Errorf("%s: %v", c.method, answer.Header)
			}
		case http.StatusOK:
			if answer.ContentLength != 1000 || answer.Header.Get("ETag") != `"`+file.SHA256+`"` {
				t.Errorf("%s: %v", c.method, answer.Header)
			}
		}
	}
}

// TestCopyHash: a copy ends at its length, whatever follows.
func TestCopyHash(t *testing.T) {
	for _, n := range []int64{0, 1, block - 1, block, block + 1, 2*block + 5} {
		text := bytes.Repeat([]byte("abc"), block)
		var to bytes.Buffer
		sum := sha256.New()
		wrote, err := copyHash(&to, bytes.NewReader(text), n, sum)
		want := sha256.Sum256(text[:n])
		if err != nil || wrote != n || !bytes.Equal(to.Bytes(), text[:n]) || !bytes.Equal(sum.Sum(nil), want[:]) {
			t.Errorf("%d bytes: %d written, %d there, %v", n, wrote, to.Len(), err)
		}
	}
}

// TestServedFileIsRemoved removes a file while a reader has it: Windows allows that only for files that were
// opened with leave to delete them.
func TestServedFileIsRemoved(t *testing.T) {
	dir := t.TempDir()
	data, file := content(1000)
	at := filepath.Join(dir, file.Name)
	if err := os.WriteFile(at, data, 0o600); err != nil {
		t.Fatal(err)
	}
	in, _, err := openLocal(file, dir, 10)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	if err := os.Remove(at); err != nil {
		t.Fatal(err)
	}
	if rest, err := io.ReadAll(in); err != nil || !bytes.Equal(rest, data[10:]) {
		t.Errorf("%d bytes of a removed file, error %v", len(rest), err)
	}
}
