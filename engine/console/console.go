// Package console is the web console of a server: pages that show searches, tables, load, devices,
// the cluster and indexes. They read the routes of the server and change nothing.
//
// Folder source has the pages in TypeScript, and folder dist the bundle that the program embeds.
// Command build makes one from the other.
package console

//go:generate go run -C build .

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"net/http"
	"path"
	"strings"
)

//go:embed dist
var dist embed.FS

// Path is the path below which Handler serves the pages.
const Path = "/console/"

// policy lets pages load files of the server alone: no inline scripts and styles.
const policy = "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; object-src 'none'"

// kinds are the types of files. Types of the system differ between machines.
var kinds = map[string]string{
	".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8",
	".svg": "image/svg+xml", ".txt": "text/plain; charset=utf-8",
}

// file is a file of the bundle.
type file struct {
	kind         string
	plain, small []byte // as it is, and compressed
	tag          string
}

// Handler returns the handler of the paths below Path.
func Handler() http.Handler {
	files := map[string]*file{}
	entries, err := dist.ReadDir("dist")
	if err != nil {
		panic(err) // the folder is embedded
	}
	for _, e := range entries {
		if files[e.Name()], err = newFile(e.Name()); err != nil {
			panic(err)
		}
	}
	files[""] = files["index.html"]
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f := files[strings.TrimPrefix(r.URL.Path, Path)]
		if f == nil {
			http.Error(w, "the console has no file "+r.URL.Path, http.StatusNotFound)
			return
		}
		f.serve(w, r)
	})
}

func newFile(name string) (*file, error) {
	text, err := dist.ReadFile(path.Join("dist", name))
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := z.Write(text); err != nil {
		return nil, err
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	sum := sha256.Sum256(text)
	return &file{kind: kinds[path.Ext(name)], plain: text, small: b.Bytes(), tag: `"` + hex.EncodeToString(sum[:8]) + `"`}, nil
}

// serve answers a request for the file. The client keeps it and asks whether it has changed.
func (f *file) serve(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Type", f.kind)
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-cache")
	h.Set("ETag", f.tag)
	h.Set("Vary", "Accept-Encoding")
	if r.Header.Get("If-None-Match") == f.tag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	text := f.plain
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		h.Set("Content-Encoding", "gzip")
		text = f.small
	}
	w.Write(text) // an error means that the client has left
}
