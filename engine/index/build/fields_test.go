package build

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// parsed reads a JSON object under options.
func parsed(t *testing.T, opt Options, record string) (name, text string, left []string, err error) {
	t.Helper()
	d := document{fields: newFields(&opt)}
	err = parseJSON([]byte(record), position{line: 3}, &d)
	for member := range d.left {
		left = append(left, member)
	}
	slices.Sort(left)
	return string(d.name), strings.TrimSpace(strings.ReplaceAll(string(d.text), "\n", " ")), left, err
}

// TestTextMembers: the members of public collections are texts, in the stated order, and a chosen member
// takes their place. A text in another member is counted.
func TestTextMembers(t *testing.T) {
	nested := `{"id":"a","url":"u","meta":{"title":"T","tags":["x",["y"],{"n":"z"}],"year":1999},"authors":[{"name":"A"},{"name":"B"},{}],"a.b":"dot","empty":""}`
	for _, c := range []struct {
		opt    Options
		record string
		name   string
		text   string
		left   []string
	}{
		{Options{}, `{"id":"p1","title":"Weaving","abstract":"all about looms"}`, "p1", "Weaving all about looms", nil},
		{Options{}, `{"docid":"m#0","url":"http://x.example/","title":"Weaving","headings":"Tools","segment":"the red loom","start_char":0}`, "m#0", "Weaving Tools the red loom", []string{"url"}},
		{Options{}, `{"segment":"9","body":"8","content":"7","contents":"6","text":"5","description":"4","summary":"3","abstract":"2","headings":"1","title":"0","id":1}`, "1", "0 1 2 3 4 5 6 7 8 9", nil},
		{Options{}, `{"id":"a","text":null}`, "a", "", nil},
		{Options{}, `{"id":"a","text":null,"Title":"x"}`, "a", "x", nil},
		{Options{}, `{"id":"a","text":["x","y",null]}`, "a", "x y", nil},
		{Options{}, `{"id":"a","text":"x","more":"y","other":5,"\u00fc":"z","none":""}`, "a", "x", []string{"more", "ü"}},
		{Options{}, `{"id":"a","title":"x","body_text":[{"section":"","text":"y"}],"meta":{"by":"z"},"tags":["\""],"refs":{"a":[1],"b":[""]},"n":[1,[]]}`, "a", "x", []string{"body_text", "meta", "tags"}},
		{Options{}, `{"id":"a","title":"x","ünits":0,"meta" : {"by" : "z"},"refs" : {"a" : ""}}`, "a", "x", []string{"meta"}},
		{Options{Attributes: []string{"meta.by"}}, `{"id":"a","text":"x","meta":{"by":"z"},"metal":["y"]}`, "a", "x", []string{"metal"}},
		{Options{Attributes: []string{"summary", "more"}}, `{"id":"a","text":"x","summary":"s","more":"y"}`, "a", "x", nil},
		{Options{Attributes: []string{"*"}}, `{"id":"a","text":"x","more":"y"}`, "a", "x", nil},
		{Options{Text: []string{"url", "Meta.Title", "authors.name", "meta.year"}}, nested, "a", "u T A B 1999", []string{"a.b"}},
		{Options{Text: []string{"a.b"}, ID: "meta.title"}, nested, "T", "dot", []string{"authors", "id", "url"}},
		{Options{Text: []string{"*"}}, nested, "a", "u T x y z A B dot", nil},
		{Options{Text: []string{"body"}, ID: "url"}, `{"id":"a","url":7,"title":"x","body":"y"}`, "7", "y", []string{"id", "title"}},
		{Options{Text: []string{"n"}}, `{"n":5,"id":"a"}`, "a", "5", nil},
	} {
		name, text, left, err := parsed(t, c.opt, c.record)
		if err != nil || name != c.name || text != c.text || !reflect.DeepEqual(left, c.left) {
			t.Errorf("%s, %v: name %q, text %q, left out %q, %v", c.record, c.opt.Text, name, text, left, err)
		}
	}
	for want, c := range map[string]struct {
		opt    Options
		record string
	}{
		"none of the members title, headings, abstract, summary, description, text, contents, content, body, segment, vector; the texts are in blurb: choose them with --text": {Options{}, `{"id":"a","blurb":"x"}`},
		"none of the members x.y": {Options{Text: []string{"x.y"}}, `{"id":"a","x":{"z":1}}`},
		"member x is an object, want a text: choose members of it by their paths, such as x.NAME (--text)": {Options{Text: []string{"x"}}, `{"id":"a","x":{"z":1}}`},
		"member text is 5, want a text; --text text takes it as one":                                       {Options{}, `{"id":"a","text":5}`},
	} {
		if _, _, _, err := parsed(t, c.opt, c.record); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", c.record, err, want)
		}
	}
	for depth, fits := range map[int]bool{maxNested: true, maxNested + 1: false} {
		record := `{"id":"a","x":` + strings.Repeat("[", depth) + `"y"` + strings.Repeat("]", depth) + "}"
		if _, text, _, err := parsed(t, Options{Text: []string{"*"}}, record); fits != (err == nil) || fits && text != "y" || !fits && err.Error() != "member x is nested more than 64 deep" {
			t.Errorf("%d arrays: %q, %v", depth, text, err)
		}
	}
	for _, members := range [][]string{{""}, {"a..b"}, {"*", "a"}} {
		opt := DefaultOptions()
		opt.Text = members
		if _, err := buildBytes(t, opt, "a.jsonl", []byte("{}")); err == nil || !strings.Contains(err.Error(), "names no member") {
			t.Errorf("%q: %v", members, err)
		}
	}
}

// TestLeftOut counts documents over chunks, the most frequent member first.
func TestLeftOut(t *testing.T) {
	var b strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&b, `{"id":"%d","text":"x","url":"u"`, i)
		if i%10 == 0 {
			b.WriteString(`,"lang":"de"`)
		}
		b.WriteString("}\n")
	}
	opt := DefaultOptions()
	opt.MemoryLimit, opt.Workers = 1, 1 // a worker takes several chunks
	_, sum := mustBuild(t, opt, save(t, map[string][]byte{"a.jsonl": []byte(b.String())})...)
	if want := []LeftOut{{"url", 5000}, {"lang", 500}}; !reflect.DeepEqual(sum.LeftOut, want) {
		t.Errorf("%+v, want %+v", sum.LeftOut, want)
	}
}

// TestManyLeftOut: the counts take little memory for any number of names.
func TestManyLeftOut(t *testing.T) {
	var b strings.Builder
	for i := range maxLeft + 50 {
		fmt.Fprintf(&b, `{"text":"x","m%d":"u"}`+"\n", i)
	}
	opt := DefaultOptions()
	opt.Workers = 1
	_, sum := mustBuild(t, opt, save(t, map[string][]byte{"a.jsonl": []byte(b.String())})...)
	if len(sum.LeftOut) != maxLeft+1 || sum.LeftOut[0] != (LeftOut{otherMembers, 50}) {
		t.Errorf("%d members, first %+v", len(sum.LeftOut), sum.LeftOut[0])
	}
}
