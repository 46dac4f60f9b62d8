package fetch

import (
	"net/http"
	"path"

	"heddle/engine/file/shared"
)

// Handler serves files by their checksum, the last element of the URL's path, with byte ranges.
// find returns the path of a file; an empty one if there is no such file.
func Handler(find func(sha256 string) string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "use GET or HEAD", http.StatusMethodNotAllowed)
			return
		}
		sum := path.Base(r.URL.Path)
		f, err := shared.Open(find(sum))
		if err != nil {
			http.NotFound(w, r) // unknown, or removed since
			return
		}
		defer f.Close()
		info, err := f.Stat()
		if err != nil || !info.Mode().IsRegular() {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/octet-stream")
		w.Header().Set("ETag", `"`+sum+`"`)
		http.ServeContent(w, r, "", info.ModTime(), f)
	})
}
