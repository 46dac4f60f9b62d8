//go:build !core

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"heddle/engine/plan/testneeds"
	"heddle/engine/server/access/accesstest"
)

// TestServePage runs the commands of the server's page and compares their output.
func TestServePage(t *testing.T) {
	testneeds.Long(t)
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("curl is not installed")
	}
	page, err := os.ReadFile("../../server/README.md")
	if err != nil {
		t.Fatal(err)
	}
	data, err := filepath.Abs("../../../testdata")
	if err != nil {
		t.Fatal(err)
	}
	inTempDir(t)
	must(t, "index", "build", "-o", "kjv.hdl", "--store", "text", "--format", "text", filepath.Join(data, "bible-kjv/kjv-verses.tsv.gz"))
	must(t, "bitmap", "build", "-o", "flights.hdb", "--raw", "delay:i16:"+filepath.Join(data, "flights/delay_min.i16.gz"), "--raw", "distance:i16:"+filepath.Join(data, "flights/distance_miles.i16.gz"))
	s := serve(t, "--index", "kjv=kjv.hdl", "--table", "flights=flights.hdb", "--admin", "127.0.0.1:0", "--root", ".", "--drain-delay", "0s")
	if n := s.examples(t, string(page)); n < 9 || strings.Count(string(page), "curl ") < 15 {
		t.Errorf("%d examples", n)
	}
	s.end()
}

// TestServePageCollections runs the commands of the page about collections.
func TestServePageCollections(t *testing.T) {
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("curl is not installed")
	}
	page, err := os.ReadFile("../../server/COLLECTIONS.md")
	if err != nil {
		t.Fatal(err)
	}
	inTempDir(t)
	s := serve(t, "--admin", "127.0.0.1:0", "--root", ".", "--dev", ".", "--watch", "--drain-delay", "0s")
	if n := s.examples(t, string(page)); n < 4 {
		t.Errorf("%d examples", n)
	}
	s.end()
}

// examples runs the examples of a page, and returns their number.
func (s *serving) examples(t *testing.T, page string) int {
	addresses := strings.NewReplacer("localhost:7700", strings.TrimPrefix(s.url, "http://"), "localhost:7701", strings.TrimPrefix(s.admin, "http://"))
	epoch := regexp.MustCompile(`"epoch":[0-9]+`) // merges in the background raise it
	took := regexp.MustCompile(`"(took|queued)_ms":[0-9.e-]+`)
	examples := regexp.MustCompile("(?s)```sh\n(.*?)```\n```json\n(.*?)```\n").FindAllStringSubmatch(page, -1)
	for _, e := range examples {
		out, err := exec.CommandContext(t.Context(), "/bin/sh", "-ec", addresses.Replace(e[1])).Output()
		got := took.ReplaceAllString(string(out), `"${1}_ms":0.1`)
		if err != nil || epoch.ReplaceAllString(got, "epoch") != epoch.ReplaceAllString(e[2], "epoch") {
			t.Errorf("%s%v:\n%s\nwant\n%s", e[1], err, got, e[2])
		}
	}
	return len(examples)
}

// TestServePageSecure runs the commands of the section about security on the server's page.
func TestServePageSecure(t *testing.T) {
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("curl is not installed")
	}
	page, err := os.ReadFile("../../server/README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(page), "## Secure\n")
	_, text, _ = strings.Cut(text, "```bash\n")
	text, _, _ = strings.Cut(text, "```")
	inTempDir(t)
	writeFile(t, "books.tsv", "a\theaven and earth\n")
	must(t, "index", "build", "-o", "books.hdl", "books.tsv")
	authority := accesstest.NewAuthority(t, t.TempDir(), "authority")
	cert, key := authority.Sign("server")
	local := strings.NewReplacer("0.0.0.0:7700", "127.0.0.1:0", "0.0.0.0:7701", "127.0.0.1:0", "server.crt", cert, "server.key", key)
	var tokens []string
	var s *serving
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, "  #")
		words := strings.Fields(local.Replace(line))
		switch {
		case strings.HasPrefix(line, "heddle serve token "):
			tokens = append(tokens, strings.TrimSpace(must(t, words[1:]...)))
		case strings.HasPrefix(line, "heddle serve "):
			s = serve(t, append(words[2:], "--drain-delay", "0s")...)
		default:
			if len(tokens) != 2 || s == nil {
				t.Fatalf("%q comes before its tokens and its server", line)
			}
			line = strings.Replace(line, "curl https://search.example:7700", "curl -sS --cacert "+authority.File+" "+s.url, 1)
			for _, token := range append(tokens, "unknown") {
				curl := exec.CommandContext(t.Context(), "/bin/sh", "-ec", line)
				curl.Env = append(os.Environ(), "TOKEN="+token)
				got, err := curl.CombinedOutput()
				if err != nil || strings.Contains(string(got), `"name":"books"`) != (token != "unknown") {
					t.Errorf("%s%v:\n%s", line, err, got)
				}
			}
			s.end()
			return
		}
	}
	t.Errorf("no request in %s", text)
}
