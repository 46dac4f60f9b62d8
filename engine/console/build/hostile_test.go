package main

import (
	"net/url"
	"strings"
	"testing"
)

// hostile is a name with markup, an escape code, and a character that turns the text round.
const hostile = "<img src=x onerror=alert(1)>\x1b[31m\u202e&amp;\"'"

// shown is the same name on a page.
const shown = `<img src=x onerror=alert(1)>\u001b[31m\u202e&amp;"'`

// TestHostile shows names and texts that would be code, or would forge the page, without escapes.
func TestHostile(t *testing.T) {
	s := open(t, func(s *site) {
		s.write("bad.tsv", hostile+"\t<script>alert(2)</script> loom \x1b]0;title\x07 {{7*7}}\nplain\tthe loom\n")
		s.heddle("index", "build", "-o", "bad.hdl", "--format", "text", "--store", "text", "bad.tsv")
		quoted := `"` + strings.ReplaceAll(hostile, `"`, `""`) + `"`
		s.write("bad.csv", quoted+"\n"+quoted+"\nplain\n")
		s.heddle("bitmap", "build", "-o", "bad.hdb", "bad.csv")
	}, "serve", "--index", "bad=bad.hdl", "--table", "bad=bad.hdb", "--drain-delay", "0s", "--backend", "host")
	clean := func(page string) {
		t.Helper()
		if n := value[int](s, `document.querySelectorAll("main img, main script, main iframe").length`); n != 0 {
			t.Errorf("%s: %d elements from data", page, n)
		}
		if strings.ContainsAny(s.text("main"), "\x1b\x07\u202e") {
			t.Errorf("%s: control characters reach the page", page)
		}
	}
	s.visit("search?index=bad&query=loom&k=2")
	s.until(`document.querySelectorAll(".hits li").length === 2`)
	names, texts := s.texts(".hit b"), strings.Join(s.texts(".hits p"), "\n")
	if names[0] != shown && names[1] != shown {
		t.Errorf("names %q, want %q", names, shown)
	}
	if !strings.Contains(texts, `<script>alert(2)</script> loom \u001b]0;title\u0007 {{7*7}}`) {
		t.Errorf("texts %q", texts)
	}
	clean("search")
	s.visit("search?index=bad&query=loom&k=2&facets=" + url.QueryEscape(hostile))
	s.until(`document.querySelector(".facet") !== null`)
	if got := s.text(".facet h3 bdi"); got != shown {
		t.Errorf("facet %q, want %q", got, shown)
	}
	clean("facets")
	s.visit("tables")
	s.until(`document.querySelector(".histogram") !== null`)
	if got := s.text(".histogram h3 bdi"); got != shown {
		t.Errorf("column %q, want %q", got, shown)
	}
	s.choose("Group by", hostileOption(s))
	s.until(`[...document.querySelectorAll("h2")].some((h) => h.innerText.startsWith("Groups by"))`)
	clean("tables")
	s.visit("indexes")
	s.until(`document.querySelector("[aria-label=Terms]") !== null`)
	clean("indexes")
}

// hostileOption returns the second option of "Group by", which is the column.
func hostileOption(s *site) string {
	return value[string](s, `[...document.querySelectorAll("label")].find((l) => l.querySelector("span")?.innerText === "Group by").querySelectorAll("option")[1].value`)
}

// TestToken opens the console of a server with tokens.
func TestToken(t *testing.T) {
	token := ""
	s := open(t, func(s *site) {
		s.write("books.tsv", "a\tthe loom\n")
		s.heddle("index", "build", "-o", "books.hdl", "--format", "text", "books.tsv")
		token = strings.TrimSpace(s.heddle("serve", "token", "--tokens", "tokens", "reader"))
	}, "serve", "--index", "books=books.hdl", "--tokens", "tokens", "--drain-delay", "0s", "--backend", "host")
	s.visit("indexes")
	s.until(`document.querySelector("form.token") !== null`)
	s.fill("form.token input", token)
	value[bool](s, `document.querySelector("form.token button").click() ?? true`)
	s.until(`document.querySelector("[aria-label=Indexes] tbody tr") !== null`)
	if rows := s.texts("[aria-label=Indexes] tbody tr"); len(rows) != 1 || !strings.HasPrefix(rows[0], "books") {
		t.Errorf("indexes %q", rows)
	}
	if curl := value[string](s, `document.querySelector(".curl pre").textContent`); strings.Contains(curl, token) || !strings.Contains(curl, "$TOKEN") {
		t.Errorf("command %q", curl)
	}
}
