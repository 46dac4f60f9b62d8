package trec

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"heddle/engine/index/analyze"
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
	// Auto looks at the first line that is not empty: JSONL begins with {, TREC
	// with <top>, <DOC> or NUMBER:. Else each line is "ID TAB TEXT", or TEXT alone, which
	// gets its number, from 1, as its ID.
	Auto Format = "auto"
	// Plain has a text a line, whatever is in it; its number is its ID.
	Plain Format = "plain"
	// TSV has a line "ID TAB TEXT" for each topic.
	TSV Format = "tsv"
	// TREC has <top> elements, of which <num> is the ID, without zeros before a
	// number, and <title> the text; or lines "NUMBER:TEXT" or "NUMBER:PRIORITY:TEXT",
	// as the Terabyte and Million Query tracks do; or <DOC> elements, of which <DOCNO> is
	// the ID and the remaining text the query.
	TREC Format = "trec"
	// JSONL has an object {"id": …, "text": …} or {"id": …, "vector": {TERM: WEIGHT}} per
	// line. The id may be called qid, _id or query_id, the text query or title. Without an
	// id the ID is the number of the topic.
	JSONL Format = "jsonl"
)

// Formats are all of them.
func Formats() []Format { return []Format{Auto, Plain, TSV, TREC, JSONL} }

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

// ReadTopics gives the topics of r to yield, in their order, until that returns
// false; path is for errors. It yields a topic as soon as its last line is read. A wrong line,
// or element, is a Topic with an Err. A line is wrong too if it is longer than MaxLine or no
// UTF-8.
func ReadTopics(path string, r io.Reader, f Format, yield func(Topic) bool) error {
	t := topicReader{format: f}
	err := scan(path, r, func(line int, text string) error {
		topic, complete, err := t.line(line, text)
		if err == nil && complete && !yield(topic) {
			err = errStop
		}
		return err
	}, func(line int, length int64) error {
		if t.open > 0 {
			t.grow(length)
			return nil
		}
		t.number++
		if !yield(Topic{ID: strconv.Itoa(t.number), Line: line, Err: errLong(length)}) {
			return errStop
		}
		return nil
	})
	if err == nil && t.open > 0 {
		err = &Error{path, t.open, errors.New("a <top> without </top>")}
	}
	return err
}

// topicReader makes topics of lines.
type topicReader struct {
	format Format
	number int // of topics so far

	open int // line of a <top> that is not closed; 0: none
	top  strings.Builder
	size int64 // of the <top> so far; above MaxLine, top has only a part
}

// grow adds a part of a <top> and reports whether there is room for it.
func (t *topicReader) grow(length int64) bool {
	t.size += length
	return t.size <= MaxLine
}

var (
	topTag    = regexp.MustCompile(`(?i)^\s*<(top|doc)>`)
	topEnd    = regexp.MustCompile(`(?i)</(?:top|doc)>`)
	jsonArray = regexp.MustCompile(`^\[\s*(?:\{\s*["}].*)?$`)
	numbered  = regexp.MustCompile(`^\s*([0-9]+):(?:[0-9]+:)?(.*)$`)
)

// line takes one line of the file. The topic is valid where it completes one.
func (t *topicReader) line(line int, text string) (topic Topic, complete bool, err error) {
	if t.format == Auto {
		switch {
		case text[0] == '{':
			t.format = JSONL
		case jsonArray.MatchString(text):
			return topic, false, errors.New("a JSON array: write one object per line, for example with jq -c '.[]'")
		case topTag.MatchString(text), numbered.MatchString(text) && !strings.Contains(text, "\t"):
			t.format = TREC
		default:
			t.format = "" // with or without a TAB
		}
	}
	if t.format == TREC && (t.open > 0 || !numbered.MatchString(text)) {
		return t.element(line, text)
	}
	t.number++
	if err := checkLine(text); err != nil {
		return t.wrong(line, err), true, nil
	}
	topic = Topic{ID: strconv.Itoa(t.number), Text: text, Line: line}
	switch t.format {
	case JSONL:
		err = topic.parseJSON(text)
	case TREC:
		m := numbered.FindStringSubmatch(text)
		topic.ID, topic.Text = m[1], m[2]
	case Plain:
	default:
		id, rest, tab := strings.Cut(text, "\t")
		if tab {
			topic.ID, topic.Text = id, rest
		} else if t.format == TSV {
			err = errors.New("no TAB, want ID TAB TEXT")
		}
	}
	if err != nil {
		topic = t.wrong(line, err)
	}
	return topic, true, nil
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

// element takes a line of a <top> element, or between two.
func (t *topicReader) element(line int, text string) (topic Topic, complete bool, err error) {
	if t.open == 0 {
		if strings.TrimSpace(text) == "" {
			return topic, false, nil
		}
		if !topTag.MatchString(text) {
			return topic, false, errors.New("neither <top> nor <DOC> nor NUMBER:TEXT")
		}
		t.open, t.size = line, 0
		t.top.Reset()
		t.number++
	}
	if t.grow(int64(len(text)) + 1) {
		t.top.WriteString(text)
		t.top.WriteByte('\n')
	}
	end := topEnd.FindStringIndex(text)
	if end == nil {
		return topic, false, nil
	}
	if strings.TrimSpace(text[end[1]:]) != "" {
		return topic, false, errors.New("text behind </top> on its line")
	}
	err = checkLine(t.top.String())
	if t.size > MaxLine {
		err = fmt.Errorf("a topic of %d bytes; at most %d are possible", t.size, MaxLine)
	}
	if err == nil {
		topic, err = parseTop(t.top.String())
	}
	if err != nil {
		topic = t.wrong(line, err)
	}
	topic.Line, t.open = t.open, 0
	return topic, true, nil
}

var (
	anyTag = regexp.MustCompile(`</?([A-Za-z]+)>`)
	label  = regexp.MustCompile(`(?i)^(?:number|topic):`) // in old topics
)

// parseTop reads a <top> element. Its fields begin with a tag and end at the next
// one, whether that is an end tag or not.
func parseTop(s string) (Topic, error) {
	fields := map[string]string{}
	tags := anyTag.FindAllStringSubmatchIndex(s, -1)
	for i, tag := range tags {
		end := len(s)
		if i+1 < len(tags) {
			end = tags[i+1][0]
		}
		name := strings.ToLower(s[tag[2]:tag[3]])
		if _, again := fields[name]; again {
			continue // an end tag
		}
		text := strings.Join(strings.Fields(s[tag[1]:end]), " ")
		fields[name] = strings.TrimSpace(label.ReplaceAllString(text, ""))
	}
	if id, ok := fields["docno"]; ok {
		return docTopic(id, s)
	}
	id, title := fields["num"], fields["title"]
	if id == "" {
		return Topic{}, errors.New("a <top> without <num>, a <DOC> without <DOCNO>")
	}
	if _, ok := fields["title"]; !ok {
		return Topic{}, errors.New("a <top> without <title>")
	}
	if strings.Trim(id, "0123456789") == "" {
		id = strings.TrimLeft(id[:len(id)-1], "0") + id[len(id)-1:]
	}
	return Topic{ID: id, Text: title}, nil
}

var docnoElement = regexp.MustCompile(`(?is)<docno>[^<]*(?:</docno>)?`)

// docTopic reads a <DOC> element: the text without tags and <DOCNO>.
func docTopic(id, s string) (Topic, error) {
	if id == "" {
		return Topic{}, errors.New("a <DOC> with an empty <DOCNO>")
	}
	text := anyTag.ReplaceAllString(docnoElement.ReplaceAllString(s, " "), " ")
	return Topic{ID: id, Text: strings.Join(strings.Fields(text), " ")}, nil
}
