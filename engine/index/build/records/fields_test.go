package records

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"heddle/engine/index/build/source"
)

// options are the arguments of NewFields.
type options struct {
	Text       []string
	ID         string
	Attributes []string
}

// parsed reads a JSON object under options.
func parsed(t *testing.T, opt options, record string) (name, text string, left []string, err error) {
	t.Helper()
	d := Document{Fields: NewFields(opt.Text, opt.ID, opt.Attributes)}
	err = parseJSON([]byte(record), source.Position{Line: 3}, &d)
	for member := range d.Left {
		left = append(left, member)
	}
	slices.Sort(left)
	return string(d.Name), strings.TrimSpace(strings.ReplaceAll(string(d.Text), "\n", " ")), left, err
}

// TestTextMembers: the members of public collections are texts, in the stated order, and a chosen member
// takes their place. A text in another member is counted.
func TestTextMembers(t *testing.T) {
	nested := `{"id":"a","url":"u","meta":{"title":"T","tags":["x",["y"],{"n":"z"}],"year":1999},"authors":[{"name":"A"},{"name":"B"},{}],"a.b":"dot","empty":""}`
	for _, c := range []struct {
		opt    options
		record string
		name   string
		text   string
		left   []string
	}{
		{options{}, `{"id":"p1","title":"Weaving","abstract":"all about looms"}`, "p1", "Weaving all about looms", nil},
		{options{}, `{"docid":"m#0","url":"http://x.example/","title":"Weaving","headings":"Tools","segment":"the red loom","start_char":0}`, "m#0", "Weaving Tools the red loom", []string{"url"}},
		{options{}, `{"segment":"9","body":"8","content":"7","contents":"6","text":"5","description":"4","summary":"3","abstract":"2","headings":"1","title":"0","id":1}`, "1", "0 1 2 3 4 5 6 7 8 9", nil},
		{options{}, `{"id":"a","text":null}`, "a", "", nil},
		{options{}, `{"id":"a","text":null,"Title":"x"}`, "a", "x", nil},
		{options{}, `{"id":"a","text":["x","y",null]}`, "a", "x y", nil},
		{options{}, `{"id":"a","text":"x","more":"y","other":5,"\u00fc":"z","none":""}`, "a", "x", []string{"more", "ü"}},
		{options{}, `{"id":"a","title":"x","body_text":[{"section":"","text":"y"}],"meta":{"by":"z"},"tags":["\""],"refs":{"a":[1],"b":[""]},"n":[1,[]]}`, "a", "x", []string{"body_text", "meta", "tags"}},
		{options{}, `{"id":"a","title":"x","ünits":0,"meta" : {"by" : "z"},"refs" : {"a" : ""}}`, "a", "x", []string{"meta"}},
		{options{Attributes: []string{"meta.by"}}, `{"id":"a","text":"x","meta":{"by":"z"},"metal":["y"]}`, "a", "x", []string{"metal"}},
		{options{Attributes: []string{"summary", "more"}}, `{"id":"a","text":"x","summary":"s","more":"y"}`, "a", "x", nil},
		{options{Attributes: []string{"*"}}, `{"id":"a","text":"x","more":"y"}`, "a", "x", nil},
		{options{Text: []string{"url", "Meta.Title", "authors.name", "meta.year"}}, nested, "a", "u T A B 1999", []string{"a.b"}},
		{options{Text: []string{"a.b"}, ID: "meta.title"}, nested, "T", "dot", []string{"authors", "id", "url"}},
		{options{Text: []string{"*"}}, nested, "a", "u T x y z A B dot", nil},
		{options{Text: []string{"body"}, ID: "url"}, `{"id":"a","url":7,"title":"x","body":"y"}`, "7", "y", []string{"id", "title"}},
		{options{Text: []string{"n"}}, `{"n":5,"id":"a"}`, "a", "5", nil},
	} {
		name, text, left, err := parsed(t, c.opt, c.record)
		if err != nil || name != c.name || text != c.text || !reflect.DeepEqual(left, c.left) {
			t.Errorf("%s, %v: name %q, text %q, left out %q, %v", c.record, c.opt.Text, name, text, left, err)
		}
	}
	for want, c := range map[string]struct {
		opt    options
		record string
	}{
		"none of the members title, headings, abstract, summary, description, text, contents, content, body, segment, vector; the texts are in blurb: choose them with --text or --fields": {options{}, `{"id":"a","blurb":"x"}`},
		"none of the members x.y": {options{Text: []string{"x.y"}}, `{"id":"a","x":{"z":1}}`},
		"member x is an object, want a text: choose members of it by their paths, such as x.NAME (--text or --fields)": {options{Text: []string{"x"}}, `{"id":"a","x":{"z":1}}`},
		"member text is 5, want a text; --text text takes it as one":                                                   {options{}, `{"id":"a","text":5}`},
	} {
		if _, _, _, err := parsed(t, c.opt, c.record); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", c.record, err, want)
		}
	}
	for depth, fits := range map[int]bool{maxNested: true, maxNested + 1: false} {
		record := `{"id":"a","x":` + strings.Repeat("[", depth) + `"y"` + strings.Repeat("]", depth) + "}"
		if _, text, _, err := parsed(t, options{Text: []string{"*"}}, record); fits != (err == nil) || fits && text != "y" || !fits && err.Error() != "member x is nested more than 64 deep" {
			t.Errorf("%d arrays: %q, %v", depth, text, err)
		}
	}
}
