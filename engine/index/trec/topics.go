package trec

import (
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"heddle/engine/index/analyze"
	"heddle/engine/syntax/pattern"
)

// Topic is a query of a file: a text, or weighted index terms.
type Topic struct {
	ID   string
	Text string
	// Terms and Weights, of the same length, are the terms of a vector in the order of
	// the file. Weights are positive and finite.
	Terms   []string
	Weights []float64
	Line    int // where it begins
	// Err says why a line or element is no topic. The other fields except ID and Line are empty then.
	Err error
}

// Format is a form of topic files.
type Format string

const (
	// Auto looks at the first line that is not empty. JSONL begins with {, TREC with < and a
	// name, or with NUMBER:. A line without white space that has %20, or begins with enwiki:, is CAR.
	// Else each line is "ID TAB TEXT", or TEXT alone, which gets its number, from 1, as its ID.
	Auto Format = "auto"
	// Plain has a text a line, whatever is in it; its number is its ID.
	Plain Format = "plain"
	// TSV has a line "ID TAB TEXT" for each topic.
	TSV Format = "tsv"
	// TREC has elements in SGML or XML, or lines "NUMBER:TEXT" or "NUMBER:PRIORITY:TEXT", as the
	// Terabyte and Million Query tracks do. An element <top>, <topic> or <query> is a topic. Its ID is
	// the attribute number, id or qid, or the element num, number, qid, id, topicid or identifier;
	// num loses the zeros before a number. Its text is the first of the elements title, query and
	// content, or disease, gene, demographic and other together, or the only text. An element <DOC>
	// is a topic too: <DOCNO> is the ID and the remaining text the query.
	TREC Format = "trec"
	// JSONL has an object {"id": …, "text": …} or {"id": …, "vector": {TERM: WEIGHT}} per
	// line. The id may be called qid, _id, query_id or question_id, the text query, title, query_txt or
	// question. Without an id the ID is the number of the topic.
	JSONL Format = "jsonl"
	// CAR has a line "PAGE/HEADING/…" for each topic, as the Complex Answer Retrieval track does, with
	// %20 for a space and perhaps enwiki: in front. The line is the ID.
	CAR Format = "car"
)

// Formats are all of them.
func Formats() []Format { return []Format{Auto, Plain, TSV, TREC, JSONL, CAR} }

// ParseFormat is the format of that name.
func ParseFormat(s string) (Format, error) {
	var names []string
	for _, f := range Formats() {
		if string(f) == s {
			return f, nil
		}
		names = append(names, string(f))
	}
	return "", fmt.Errorf("unknown format %q of topics (one of %s)", s, strings.Join(names, ", "))
}

// Reading says how a file of topics is read.
type Reading struct {
	Format Format
	// Fields are the names of the elements or members that make the text, in this order, joined by a
	// space. Names ignore case; desc is also description, and narr narrative. A topic without one of
	// them is wrong. Default: none, the text that Format names. Files in lines have no fields.
	Fields []string
}

// ReadTopics gives the topics of r to yield, in their order, until that returns
// false; path is for errors. It yields a topic as soon as its last line is read. A wrong line,
// or element, is a Topic with an Err. A line is wrong too if it is longer than MaxLine or no
// UTF-8.
func ReadTopics(path string, r io.Reader, opt Reading, yield func(Topic) bool) error {
	t := topicReader{format: opt.Format, fields: opt.Fields}
	t.yield = func(topic Topic) error {
		if !yield(topic) {
			return errStop
		}
		return nil
	}
	err := scan(path, r, t.line, func(line int, length int64) error {
		if t.open.line > 0 {
			t.open.grow(length)
			return nil
		}
		t.number++
		return t.yield(Topic{ID: strconv.Itoa(t.number), Line: line, Err: errLong(length)})
	})
	if err == nil {
		err = t.end(path)
	}
	return err
}

// topicReader makes topics of lines.
type topicReader struct {
	format Format
	fields []string
	number int // number of topics so far
	yield  func(Topic) error

	open    element // the element that is not closed yet
	skip    string  // the end of a declaration or comment that is not closed
	pending string  // the start of a tag that ends on a later line
	wrapper int     // line of the first markup around topics; 0: none
}

var (
	markupTag = pattern.New(`^\s*<[!?/A-Za-z]`)
	jsonArray = pattern.New(`^\[\s*(?:\{\s*["}].*)?$`)
	numbered  = pattern.New(`^\s*([0-9]+):(?:[0-9]+:)?(.*)$`)
	sections  = pattern.New(`^(?:[^\s:]*%20\S*|enwiki:\S+)$`)
	answers   = pattern.New(`^\[['"].*\]$`)
)

// detect finds the format of a file by a line.
func (t *topicReader) detect(text string) error {
	switch {
	case text[0] == '{':
		t.format = JSONL
	case jsonArray().MatchString(text):
		return errors.New("a JSON array: write one object per line, for example with jq -c '.[]'")
	case markupTag().MatchString(text), numbered().MatchString(text) && !strings.Contains(text, "\t"):
		t.format = TREC
	case sections().MatchString(text):
		t.format = CAR
	default:
		t.format = "" // with or without a TAB
		if _, rest, tab := strings.Cut(text, "\t"); tab && answers().MatchString(rest) {
			return errors.New("the second column is a list of answers, the first one the question: take the questions with cut -f1")
		}
	}
	return nil
}

// line takes one line of the file.
func (t *topicReader) line(line int, text string) error {
	if t.format == Auto {
		if err := t.detect(text); err != nil {
			return err
		}
	}
	if t.format == TREC && (t.open.line > 0 || t.skip != "" || t.pending != "" || !numbered().MatchString(text)) {
		return t.markup(line, text)
	}
	if len(t.fields) > 0 && t.format != JSONL {
		return fmt.Errorf("topics in lines have no fields such as %s: fields are for elements (trec) and JSON (jsonl)", t.fields[0])
	}
	t.number++
	topic := Topic{ID: strconv.Itoa(t.number), Text: text, Line: line}
	err := checkLine(text)
	if err == nil {
		err = t.parseLine(&topic, text)
	}
	if err != nil {
		topic = t.wrong(line, err)
	}
	return t.yield(topic)
}

// parseLine reads a topic of one line.
func (t *topicReader) parseLine(topic *Topic, text string) (err error) {
	switch t.format {
	case JSONL:
		return topic.parseJSON(text, t.fields)
	case TREC:
		m := numbered().FindStringSubmatch(text)
		topic.ID, topic.Text = m[1], m[2]
	case CAR:
		topic.ID = text
		topic.Text, err = url.PathUnescape(strings.TrimPrefix(text, "enwiki:"))
		topic.Text = strings.ReplaceAll(topic.Text, "/", " ")
	case Plain:
	default:
		id, rest, tab := strings.Cut(text, "\t")
		if tab {
			topic.ID, topic.Text = id, rest
		} else if t.format == TSV {
			return errors.New("no TAB, want ID TAB TEXT")
		}
	}
	return err
}

// wrong is the topic of a line or element that is none.
func (t *topicReader) wrong(line int, err error) Topic {
	return Topic{ID: strconv.Itoa(t.number), Line: line, Err: err}
}

// checkLine refuses text in another encoding.
func checkLine(text string) error {
	if strings.IndexByte(text, 0) >= 0 {
		return errors.New("a zero byte: binary data, or UTF-16 without a byte order mark")
	}
	if at := analyze.ValidPrefix([]byte(text)); at < len(text) {
		return fmt.Errorf("invalid UTF-8: byte %d of the line is 0x%02x", at, text[at])
	}
	return nil
}

// choose joins the texts of the chosen fields; has are the names of all fields.
func choose(fields []string, text func(name string) (string, bool), has []string) (string, error) {
	var parts []string
	for _, name := range fields {
		part, ok := text(name)
		if !ok {
			return "", fmt.Errorf("no field %s: the topic has %s", name, names(has))
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, " "), nil
}

// names lists the names of fields in alphabetical order.
func names(all []string) string {
	if len(all) == 0 {
		return "none"
	}
	slices.Sort(all)
	return strings.Join(slices.Compact(all), ", ")
}
