package main

import (
	"encoding/csv"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// TestFirstVisit follows an example of the index, the keys, the export of the hits and the history.
func TestFirstVisit(t *testing.T) {
	s := openDemo(t)
	s.visit("search")
	s.until(`document.querySelectorAll(".examples li").length === 5`)
	example := s.text(".examples li button")
	for _, word := range strings.Fields(example) {
		d := ask[struct{ Documents int }](s, "/v1/indexes/kjv/term", `{"term":"`+word+`"}`)
		if d.Documents == 0 || d.Documents > 3110 {
			t.Errorf("example word %q has %d documents", word, d.Documents)
		}
	}
	value[bool](s, `document.querySelector(".examples li button").click() ?? true`)
	s.until(`document.querySelectorAll(".hits li").length === 10`)
	if got := value[string](s, `document.querySelector("input.code").value`); got != example {
		t.Errorf("query %q, want %q", got, example)
	}

	var rows []struct{ Doc string }
	table, err := csv.NewReader(strings.NewReader(s.saved("CSV"))).ReadAll()
	if err != nil || len(table) != 11 || !slices.Equal(table[0], []string{"rank", "doc", "id", "score", "text"}) {
		t.Fatalf("CSV %q, %v", table, err)
	}
	if err := json.Unmarshal([]byte(s.saved("JSON")), &rows); err != nil || len(rows) != 10 {
		t.Fatalf("JSON %v, %v", rows, err)
	}
	for i, doc := range s.texts(".hit b") {
		if table[i+1][1] != doc || rows[i].Doc != doc {
			t.Errorf("hit %d is %q in CSV and %q in JSON, want %q", i, table[i+1][1], rows[i].Doc, doc)
		}
	}

	value[bool](s, `document.activeElement.blur() ?? true`)
	s.do(chromedp.KeyEvent("?"))
	s.until(`document.querySelector("dialog.keys").open`)
	s.do(chromedp.KeyEvent("?"))
	s.until(`!document.querySelector("dialog.keys").open`)
	s.do(chromedp.KeyEvent("/"))
	s.until(`document.activeElement === document.querySelector("input.code")`)

	s.fill(queryField, "heaven earth")
	s.do(chromedp.KeyEvent("\r"))
	s.until(`location.hash.includes("heaven")`)
	value[bool](s, `document.querySelector(".history summary").click() ?? true`)
	s.until(`document.querySelectorAll(".history li").length === 2`)
	if all := s.texts(".history li"); !slices.Equal(all, []string{"kjv · heaven earth", "kjv · " + example}) {
		t.Errorf("history %q", all)
	}
	value[bool](s, `document.querySelectorAll(".history a")[1].click() ?? true`)
	s.until(`document.querySelector("input.code").value !== "heaven earth" && document.querySelectorAll(".hits li").length === 10`)
}

// saved returns the content of the file that a button of an answer saves.
func (s *site) saved(kind string) string {
	s.Helper()
	value[bool](s, `(window.saved = undefined, URL.createObjectURL = (b) => { b.text().then((t) => { window.saved = t; }); return "#"; },
		[...document.querySelectorAll(".export button")].find((b) => b.innerText === "`+kind+`").click() ?? true)`)
	s.until("window.saved !== undefined")
	return value[string](s, "window.saved")
}

// TestExamples draws examples of an index with fields, and of one of another alphabet.
func TestExamples(t *testing.T) {
	s := open(t, func(s *site) {
		s.write("fields.jsonl", `{"id":"a","title":"songs","body":"the loom sings of flax and linen"}`+"\n"+`{"id":"b","title":"more songs","body":"the miller sings"}`+"\n")
		s.heddle("index", "build", "-o", "fields.hdl", "--fields", "title,body", "fields.jsonl")
		s.write("other.jsonl", `{"id":"a","text":"станок поёт песню ветра"}`+"\n"+`{"id":"b","text":"мельник молчит"}`+"\n")
		s.heddle("index", "build", "-o", "other.hdl", "other.jsonl")
	}, "serve", "--index", "fields=fields.hdl", "--index", "other=other.hdl", "--drain-delay", "0s", "--backend", "host")
	s.visit("search?index=fields")
	s.until(`document.querySelectorAll(".examples li").length === 5`)
	if got := s.text(".examples li button"); got != "flax linen" {
		t.Errorf("example %q of fields", got)
	}
	s.choose("Index", "other")
	s.until(`document.querySelector(".examples li button")?.innerText === "ветра мельник"`)
	value[bool](s, `document.querySelector(".examples li button").click() ?? true`)
	s.until(`document.querySelectorAll(".hits li").length === 2`)
}

// TestExport: each value stands in the column of its name, also where hits have different members.
func TestExport(t *testing.T) {
	s := open(t, func(s *site) {
		s.write("docs.jsonl", `{"id":"a","text":"loom loom","title":"A","size":{"x":[1,2]}}`+"\n"+`{"id":"b","text":"a loom","year":2001}`+"\n")
		s.heddle("index", "build", "-o", "docs.hdl", "--store", "source", "docs.jsonl")
	}, "serve", "--index", "docs=docs.hdl", "--drain-delay", "0s", "--backend", "host")
	s.visit("search?index=docs&query=loom&fields=title,size,year")
	s.until(`document.querySelectorAll(".hits li").length === 2`)
	table, err := csv.NewReader(strings.NewReader(s.saved("CSV"))).ReadAll()
	if err != nil || len(table) != 3 {
		t.Fatalf("CSV %q, %v", table, err)
	}
	for i, want := range []map[string]string{{"doc": "a", "title": "A", "size": `{"x":[1,2]}`, "year": ""}, {"doc": "b", "title": "", "size": "", "year": "2001"}} {
		for name, text := range want {
			if at := slices.Index(table[0], name); at < 0 || table[i+1][at] != text {
				t.Errorf("%s of hit %d is not %q: %q", name, i+1, text, table)
			}
		}
	}
}

// TestRefusal: the pages work in a browser that keeps nothing, such as one without cookies.
func TestRefusal(t *testing.T) {
	s := openDemo(t)
	if _, err := chromedp.Call(s.ctx, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: `
		for (const kind of ["localStorage", "sessionStorage"]) {
			Object.defineProperty(window, kind, { get() { throw new DOMException("denied", "SecurityError"); } });
		}`}); err != nil {
		t.Fatal(err)
	}
	s.visit("search?index=kjv&query=faith+hope")
	s.until(`document.querySelectorAll(".hits li").length === 10`)
	s.setTheme("dark")
	value[bool](s, `document.querySelector(".history summary").click() ?? true`)
	s.until(`document.querySelectorAll(".history li").length === 1`)
}
