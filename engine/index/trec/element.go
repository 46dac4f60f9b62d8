package trec

import (
	"errors"
	"fmt"
	"html"
	"maps"
	"regexp"
	"slices"
	"strings"

	"heddle/engine/syntax/pattern"
)

// element is the part of a topic in markup that has been read.
type element struct {
	line int // where it begins; 0: there is none
	name string
	text strings.Builder // text of the element from its start tag on
	size int64           // size of text in bytes; above MaxLine, text has only a part
}

// grow adds a part of an element and reports whether there is room for it.
func (e *element) grow(length int64) bool {
	e.size += length
	return e.size <= MaxLine
}

// Tags. A tag has a name and perhaps attributes, so that x<y and <a@b.c> are text.
const tagPattern = `<(/?)([A-Za-z][\w.-]*)((?:\s[^<>]*)?)>`

var (
	tag       = pattern.New(tagPattern)
	firstTag  = pattern.New(`^` + tagPattern)
	endTags   = map[string]func() *regexp.Regexp{"top": pattern.New(`(?i)</top\s*>`), "doc": pattern.New(`(?i)</doc\s*>`), "topic": pattern.New(`(?i)</topic\s*>`), "query": pattern.New(`(?i)</query\s*>`)}
	attribute = pattern.New(`([\w.-]+)\s*=\s*(?:"([^"]*)"|'([^']*)')`)
	reference = pattern.New(`&(?:#?\w+);`)
)

const orPlain = "; with the format plain, each line is a text"

// markup takes a line of a file of elements.
func (t *topicReader) markup(line int, text string) error {
	text, t.pending = t.pending+text, ""
	for {
		switch {
		case t.open.line > 0:
			rest, closed, err := t.inside(line, text)
			if !closed || err != nil {
				return err
			}
			text = rest
		case t.skip != "":
			_, rest, found := strings.Cut(text, t.skip)
			if !found {
				return nil
			}
			t.skip, text = "", rest
		default:
			text = strings.TrimLeft(text, " \t\r\v\f")
			if text == "" {
				return nil
			}
			rest, err := t.outside(line, text)
			if err != nil {
				return err
			}
			text = rest
		}
	}
}

// outside takes the start of a topic, or markup around topics, off text.
func (t *topicReader) outside(line int, text string) (rest string, err error) {
	m := firstTag().FindStringSubmatch(text)
	switch {
	case m != nil && m[1] == "" && endTags[strings.ToLower(m[2])] != nil:
		t.open = element{line: line, name: strings.ToLower(m[2])}
		t.number++
		return text, nil
	case m != nil:
		text = text[len(m[0]):]
	case strings.HasPrefix(text, "<!--"):
		t.skip = "-->"
	case strings.HasPrefix(text, "<?"):
		t.skip = "?>"
	case strings.HasPrefix(text, "<!"):
		t.skip = ">"
		if head, _, _ := strings.Cut(text, ">"); strings.Contains(head, "[") {
			t.skip = "]>"
		}
	case text[0] == '<' && !strings.Contains(text, ">") && len(text) < MaxLine: // the tag goes on
		t.pending = text + " "
		return "", nil
	default:
		return "", errors.New("text outside of the elements <top>, <topic>, <query> and <DOC>, and no NUMBER:TEXT" + orPlain)
	}
	if t.wrapper == 0 {
		t.wrapper = line
	}
	return text, nil
}

// inside takes the text of the open topic, and returns the rest of a line that closes it.
func (t *topicReader) inside(line int, text string) (rest string, closed bool, err error) {
	part := text
	at := endTags[t.open.name]().FindStringIndex(text)
	if start := firstTag().FindString(text); t.open.size == 0 && strings.HasSuffix(start, "/>") {
		at = []int{len(start), len(start)} // an empty element
	}
	if at != nil {
		part, rest = text[:at[0]], text[at[1]:]
	}
	if t.open.grow(int64(len(part)) + 1) {
		t.open.text.WriteString(part)
		t.open.text.WriteByte('\n')
	}
	if at == nil {
		return "", false, nil
	}
	content := t.open.text.String()
	topic, err := Topic{}, checkLine(content)
	switch {
	case t.open.size > MaxLine:
		err = fmt.Errorf("a topic of %d bytes; at most %d are possible", t.open.size, MaxLine)
	case err == nil:
		topic, err = t.parseElement(content)
	}
	if err != nil {
		topic = t.wrong(line, err)
	}
	topic.Line = t.open.line
	t.open = element{}
	return rest, true, t.yield(topic)
}

// end checks the end of a file.
func (t *topicReader) end(path string) error {
	switch {
	case t.open.line > 0:
		return &Error{path, t.open.line, fmt.Errorf("a <%s> without </%s>", t.open.name, t.open.name)}
	case t.pending != "" || t.skip != "":
		return &Error{path, max(t.wrapper, 1), errors.New("a tag, comment or declaration without its end" + orPlain)}
	case t.wrapper > 0 && t.number == 0:
		return &Error{path, t.wrapper, errors.New("markup without an element <top>, <topic>, <query> or <DOC>" + orPlain)}
	}
	return nil
}

// The names of fields that are the ID or the text of a topic, in the order of their precedence.
var (
	identifiers = []string{"num", "number", "qid", "id", "topicid", "identifier", "docno"}
	attributes  = []string{"number", "id", "qid"}
	titles      = []string{"title", "query", "content"}
	together    = []string{"disease", "gene", "demographic", "other"}
)

// fieldsOf are the texts of the fields of an element by their names in lower case. A field begins with
// a start tag and ends at the next tag, whether that is an end tag or not; the first field of
// a name counts.
type fieldsOf map[string]string

func (f fieldsOf) get(name string) (string, bool) {
	name = strings.ToLower(name)
	text, ok := f[name]
	if long := map[string]string{"desc": "description", "narr": "narrative", "description": "desc", "narrative": "narr"}[name]; !ok {
		text, ok = f[long]
	}
	return text, ok
}

// parseElement reads a topic.
func (t *topicReader) parseElement(s string) (topic Topic, err error) {
	start := firstTag().FindStringSubmatch(s)
	content := s[len(start[0]):]
	fields := fieldsOf{}
	tags := tag().FindAllStringSubmatchIndex(content, -1)
	for i, at := range tags {
		end := len(content)
		if i+1 < len(tags) {
			end = tags[i+1][0]
		}
		name := strings.ToLower(content[at[4]:at[5]])
		if len(name) > 3 && name[2] == '-' { // a language: EN-title
			name = name[3:]
		}
		if _, again := fields[name]; at[2] == at[3] && !again {
			fields[name] = fieldText(content[at[1]:end], t.open.name == "top")
		}
	}
	if topic.ID, err = identify(t.open.name, start[3], fields); err != nil {
		return topic, err
	}
	has := slices.Collect(maps.Keys(fields))
	if len(t.fields) > 0 {
		topic.Text, err = choose(t.fields, fields.get, has)
		return topic, err
	}
	if t.open.name == "doc" {
		topic.Text = fieldText(tag().ReplaceAllString(docnoElement().ReplaceAllString(content, " "), " "), false)
		return topic, nil
	}
	for _, name := range titles {
		if text, ok := fields[name]; ok {
			topic.Text = text
			return topic, nil
		}
	}
	var parts []string
	for _, name := range together {
		if text, ok := fields[name]; ok {
			parts = append(parts, text)
		}
	}
	switch {
	case len(parts) > 0:
		topic.Text = strings.Join(parts, " ")
	case len(tags) == 0:
		topic.Text = fieldText(content, false)
	default:
		err = fmt.Errorf("a <%s> without <title>, <query> or <content>: choose the text with --topic-field among %s", t.open.name, names(has))
	}
	return topic, err
}

// identify returns the ID of an element.
func identify(element, start string, fields fieldsOf) (string, error) {
	given := map[string]string{}
	for _, m := range attribute().FindAllStringSubmatch(start, -1) {
		given[strings.ToLower(m[1])] = resolve(m[2] + m[3])
	}
	for _, name := range attributes {
		if given[name] != "" {
			return given[name], nil
		}
	}
	for _, name := range identifiers {
		id := fields[name]
		if id == "" {
			continue
		}
		if name == "num" && strings.Trim(id, "0123456789") == "" {
			id = strings.TrimLeft(id[:len(id)-1], "0") + id[len(id)-1:]
		}
		return id, nil
	}
	if element == "doc" {
		return "", errors.New("a <DOC> without <DOCNO>")
	}
	return "", fmt.Errorf("a <%s> without <num>, <number>, <qid> or <id>, or an attribute number or id", element)
}

var (
	docnoElement = pattern.New(`(?is)<docno>[^<]*(?:</docno>)?`)
	label        = pattern.New(`(?i)^\s*(?:(?:number|topic|description|narrative|domain|summary)\s*:|(?:description|narrative)\s*\n)`)
)

// fieldText is a text with single spaces and without references, and if it is labelled, as in old
// topics, without its label.
func fieldText(text string, labelled bool) string {
	if labelled {
		text = label().ReplaceAllString(text, "")
	}
	return strings.Join(strings.Fields(resolve(text)), " ")
}

// resolve replaces known character references, such as &amp;.
func resolve(text string) string {
	return reference().ReplaceAllStringFunc(text, html.UnescapeString)
}
