package build

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"strings"
	"testing"
)

// warc is a record of a web archive.
func warc(fields, block string) string {
	return fmt.Sprintf("WARC/1.0\r\n%sContent-Length: %d\r\n\r\n%s\r\n\r\n", strings.ReplaceAll(fields, "\n", "\r\n"), len(block), block)
}

func TestWARC(t *testing.T) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, _ = z.Write([]byte("<p>packed")) // to memory
	_ = z.Close()
	archive := warc("WARC-Type: warcinfo\n", "software: x") +
		warc("WARC-Type: conversion\nWARC-Target-URI: http://a.example/\nContent-Type: text/plain\n", "red loom\nWARC/1.0\n") +
		"WARC/0.18\nWARC-Type: response\nWARC-TREC-ID: clueweb09-1\nWARC-Target-URI: http://b.example/\nContent-Type: application/http;msgtype=response\nContent-Length: 90\n\n" +
		fmt.Sprintf("%-90s", "HTTP/1.1 200 OK\nContent-Type: text/html\n\n<p>blue&amp;green<script>if (a<b) x</script>") + "\n\n" +
		warc("warc-type: response\nWARC-Target-URI: <http://c.example/>\ncontent-type: application/http\n", "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Encoding: gzip\r\n\r\n"+packed.String()) +
		warc("WARC-Type: response\nWARC-Target-URI: http://d.example/\nContent-Type: application/http\n", "HTTP/1.1 200 OK\r\nContent-Type: image/png\r\n\r\n\x89PNG\x00\xff") +
		warc("WARC-Type: response\nWARC-Target-URI: http://e.example/\nContent-Type: application/http\n", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Type: text/plain\r\n\r\n4\r\nchun\r\n2\r\nks\r\n0\r\n\r\n") +
		warc("WARC-Type: request\nWARC-Target-URI: http://a.example/\n", "GET /")
	for _, name := range []string{"a.warc", "a.wet.gz", "noname"} {
		content := []byte(archive)
		if strings.HasSuffix(name, ".gz") {
			content = zip(content)
		}
		got, sum := mustBuild(t, DefaultOptions(), save(t, map[string][]byte{name: content})...)
		if want := "[http://a.example/ clueweb09-1 http://c.example/ http://e.example/]"; fmt.Sprint(got.names) != want {
			t.Errorf("%s: names %v, want %s", name, got.names, want)
		}
		terms := map[string]uint32{"red": 0, "loom": 0, "warc": 0, "1.0": 0, "blue": 1, "green": 1, "packed": 2, "chunks": 3}
		for term, doc := range terms {
			if l := got.lists[term]; len(l) != 1 || l[0].doc != doc {
				t.Errorf("%s: term %s: %v, want document %d", name, term, l, doc)
			}
		}
		if len(got.lists) != len(terms) || len(sum.Warnings) != 1 || !strings.Contains(sum.Warnings[0], "1 WARC record that are no text") {
			t.Errorf("%s: %d terms, %q", name, len(got.lists), sum.Warnings)
		}
	}
}

func TestMalformedWARC(t *testing.T) {
	good := warc("WARC-Type: conversion\nWARC-Target-URI: u\n", "x")
	for name, c := range map[string]struct{ content, want string }{
		"cut off in a body":   {good[:len(good)-5], "truncated: a WARC record is cut off"},
		"cut off in a header": {good + "WARC/1.0\r\nContent", "truncated: a WARC header without its end"},
		"another format":      {good + "junk\r\n", `no WARC record: it begins with "junk"`},
		"no length":           {"WARC/1.0\r\nWARC-Type: conversion\r\n\r\n", "without a Content-Length"},
		"negative length":     {"WARC/1.0\r\nContent-Length: -1\r\n\r\n", "without a Content-Length"},
		"no name":             {warc("WARC-Type: conversion\n", "x"), "without WARC-TREC-ID"},
		"not at all":          {"<DOC>", "no WARC record: the input begins with"},
		"too long":            {"WARC/1.0\r\nWARC-Type: conversion\r\nContent-Length: 99999999999\r\n\r\n", "at most 67108864 are possible"},
		"endless header":      {"WARC/1.0\r\n" + strings.Repeat("a: b\r\n", (256<<10)/6+1), "a WARC header of more than"},
	} {
		opt := DefaultOptions()
		opt.Format = WARC
		_, err := buildBytes(t, opt, "a.warc", []byte(c.content))
		inputError(t, name, err, c.want)
	}
	skipped := warc("WARC-Type: request\n", "GET /") + good
	_, err := buildBytes(t, DefaultOptions(), "a.warc", []byte(skipped+"junk\n"))
	if e := inputError(t, "behind two records", err, "no WARC record"); e.Offset != int64(len(skipped)) {
		t.Errorf("byte %d, want %d", e.Offset, len(skipped))
	}
	for limit, fits := range map[int]bool{100: true, 99: false} {
		opt := DefaultOptions()
		opt.maxDocument = limit
		_, err := buildBytes(t, opt, "a.warc", []byte(warc("WARC-Type: conversion\nWARC-Target-URI: u\n", strings.Repeat("x", 100))))
		if fits != (err == nil) {
			t.Errorf("100 bytes, %d are possible: %v", limit, err)
		}
	}
}

// FuzzWARC: any bytes give documents or an error.
func FuzzWARC(f *testing.F) {
	f.Add([]byte(warc("WARC-Type: response\nWARC-Target-URI: u\nContent-Type: application/http\n", "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<p>x")))
	f.Add([]byte(warc("WARC-Type: conversion\nWARC-Target-URI: u\n", "x")))
	f.Fuzz(func(t *testing.T, content []byte) {
		opt := DefaultOptions()
		opt.Format, opt.MaxInvalid = WARC, 1
		_, _ = buildBytes(t, opt, "a.warc", content)
	})
}

// TestDocumentID: LDC names documents in the tag.
func TestDocumentID(t *testing.T) {
	long := strings.Repeat(" x=\"1\"", 50)
	got, _ := mustBuild(t, DefaultOptions(), save(t, map[string][]byte{"a.sgml": []byte(
		`<DOC id="AFP_ENG_19940512.0001" type="story" >` + "\n<TEXT><P>red</P></TEXT>\n</DOC>\n<DOC" + long + ` ID = 'b &amp; c'` + ">blue</DOC>\n" +
			"<DOC><DOCID> d </DOCID>green</DOC><DOC id='c'><DOCID>x</DOCID></DOC><DOC id=\"x\"><DOCNO>e</DOCNO><DOCID>f</DOCID>gray</DOC>")})...)
	if want := "[AFP_ENG_19940512.0001 b & c d c e]"; fmt.Sprint(got.names) != want {
		t.Errorf("%v, want %s", got.names, want)
	}
	for term, doc := range map[string]uint32{"red": 0, "blue": 1, "green": 2, "gray": 4, "x": 3} {
		if l := got.lists[term]; len(l) != 1 || l[0].doc != doc {
			t.Errorf("%s: %v", term, l)
		}
	}
}
