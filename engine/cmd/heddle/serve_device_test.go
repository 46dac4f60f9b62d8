//go:build !core

package main

import (
	"fmt"
	"strings"
	"testing"
)

// TestServeDevice sends the same requests to a server on an OpenCL device and to one in pure Go:
// the answers are the same, before and after a reload.
func TestServeDevice(t *testing.T) {
	device := useDevice(t)
	inTempDir(t)
	words := strings.Fields("heaven earth loom thread weft warp shuttle heddle reed cloth")
	build := func(documents int) {
		var text, rows strings.Builder
		rows.WriteString("delay,carrier\n")
		for d := range documents {
			fmt.Fprintf(&text, "d%d\t", d)
			for w, word := range words {
				if d%(w+2) == 0 {
					fmt.Fprintf(&text, "%s ", word)
				}
			}
			fmt.Fprintf(&text, "all\n")
			fmt.Fprintf(&rows, "%d,%s\n", d*7%1440, words[d%3])
		}
		writeFile(t, "books.tsv", text.String())
		writeFile(t, "flights.csv", rows.String())
		must(t, "index", "build", "-o", "books.hdl", "books.tsv")
		must(t, "bitmap", "build", "-o", "flights.hdb", "flights.csv")
	}
	build(5000)
	const files = "--index books=books.hdl --table flights=flights.hdb --drain-delay 0s --admin 127.0.0.1:0 --backend "
	host := serve(t, strings.Fields(files+"host")...)
	opencl := serve(t, append(strings.Fields(files+"opencl --device"), device)...)
	compare := func() {
		t.Helper()
		for _, c := range []struct{ path, body string }{
			{"indexes/books/search", `{"query":"heaven loom reed","k":20}`},
			{"indexes/books/search", `{"query":"earth -weft","mode":"and","k":20}`},
			{"indexes/books/match", `{"query":"heaven AND (earth OR loom) -cloth"}`},
			{"indexes/books/match", `{"query":"all","count":true}`},
			{"indexes/books/search/batch", `{"query":"warp shuttle","k":3}` + "\n" + `{"query":"heddle","count":true}`},
			{"tables/flights/count", `{"where":"delay >= 60 and carrier = 'loom'"}`},
			{"tables/flights/select", `{"where":"delay < 9"}`},
		} {
			want, got := host.ask("/v1/"+c.path, c.body), opencl.ask("/v1/"+c.path, c.body)
			if got != want || strings.Contains(got, `"error"`) || strings.Contains(got, `"status"`) {
				t.Errorf("%s %s: %s, want %s", c.path, c.body, got, want)
			}
		}
	}
	compare()
	if got := opencl.get("/v1/devices"); !strings.Contains(got, `"kind":"opencl"`) {
		t.Errorf("processors %s", got)
	}
	build(3000)
	for _, s := range []*serving{host, opencl} {
		service := s.url
		s.url = s.admin
		for _, path := range []string{"indexes/books", "tables/flights"} {
			if got := s.ask("/v1/admin/"+path+"/reload", ""); !strings.HasPrefix(got, `{"checksum"`) {
				t.Errorf("reload of %s: %s", path, got)
			}
		}
		s.url = service
	}
	compare()
	host.end()
	opencl.end()
}
