package main

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestIndexMembers indexes the members of public collections, and names the members that it leaves out.
func TestIndexMembers(t *testing.T) {
	t.Chdir(t.TempDir())
	writeFile(t, "a.jsonl", `{"docid":"m#0","url":"http://x.example/","title":"Weaving","headings":"Tools","segment":"the red loom stands here","start_char":0}`+"\n"+
		`{"id":"p1","title":"Weaving","abstract":"all about looms","meta":{"lang":"en"}}`+"\n")
	r := heddle(t, "index", "build", "-o", "x.hdl", "a.jsonl", "--json")
	var got struct {
		LeftOut []struct {
			Member    string
			Documents int
		} `json:"left_out"`
	}
	if err := json.Unmarshal([]byte(r.stdout), &got); err != nil || r.code != 0 || len(got.LeftOut) != 2 || got.LeftOut[1].Member != "url" || got.LeftOut[1].Documents != 1 {
		t.Errorf("%+v, %+v", r, got)
	}
	if want := "members or elements with texts that are neither indexed nor attributes: meta (1), url (1); --text or --fields chooses"; !strings.Contains(r.stderr, want) {
		t.Errorf("standard error %q, want %q", r.stderr, want)
	}
	for query, name := range map[string]string{"loom": "m#0", "looms": "p1", "tools": "m#0"} {
		if got := must(t, "search", "x.hdl", "--query", query, "--all"); got != name+"\n" {
			t.Errorf("%s: %q, want %s", query, got, name)
		}
	}
	must(t, "index", "build", "-o", "y.hdl", "--text", "meta.lang,url", "--id", "title", "--log-level", "error", "--max-invalid", "1", "a.jsonl")
	if got := must(t, "search", "y.hdl", "--query", "en x.example", "--all"); got != "Weaving\nWeaving\n" {
		t.Errorf("chosen members: %q", got)
	}
	must(t, "index", "build", "-o", "z.hdl", "--text", "*", "a.jsonl")
	if got := must(t, "search", "z.hdl", "--query", "en http", "--count"); got != "1\t2\n" {
		t.Errorf("all members: %q", got)
	}
	wantFailure(t, heddle(t, "index", "build", "-o", "x.hdl", "--quantised", "a.jsonl"), exitUsage, "--quantised needs --impacts 8 or 16")
	writeFile(t, "a.wet", "WARC/1.0\r\nWARC-Type: conversion\r\nWARC-Target-URI: http://a.example/\r\nContent-Length: 8\r\n\r\nred loom\r\n\r\n")
	must(t, "index", "build", "-o", "w.hdl", "--format", "warc", "a.wet")
	if got := must(t, "search", "w.hdl", "--query", "loom", "--all"); got != "http://a.example/\n" {
		t.Errorf("a web archive: %q", got)
	}
}
