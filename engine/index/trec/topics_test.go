package trec

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func read(f Format, file string) (topics []Topic, err error) {
	var wrong error
	err = ReadTopics("f", strings.NewReader(file), Reading{Format: f}, func(t Topic) bool {
		topics = append(topics, t)
		if t.Err != nil && wrong == nil {
			wrong = &Error{"f", t.Line, t.Err}
		}
		return true
	})
	return topics, errors.Join(err, wrong)
}

const oldTopics = `
<top>
<head> Tipster Topic Description
<num> Number:  051
<dom> Domain:  International Economics
<title> Topic:  Airbus Subsidies

<desc> Description:
Document will discuss <title> government assistance.
</top>
  <TOP>
<num> Number: 301A
<title>
International
  Organized Crime
<desc> Description: ...
</TOP>
`

const newTopics = "<top>\r\n<num> Number: 701 </num>\r\n<title> U.S. oil: industry </title>\r\n</top>\r\n\r\n \r\n" +
	"<top><num>000</num><title></title></top>\n"

// TestTopics: every format, named or found out.
func TestTopics(t *testing.T) {
	text := func(id, text string, line int) Topic { return Topic{ID: id, Text: text, Line: line} }
	for _, test := range []struct {
		name, file string
		format     Format // result of Auto
		want       []Topic
	}{
		{"lines with a TAB", "7\theaven\nq 8\tearth\tsea\n", TSV, []Topic{text("7", "heaven", 1), text("q 8", "earth\tsea", 2)}},
		{"lines without", "heaven\n\n earth\n", Plain, []Topic{text("1", "heaven", 1), text("2", " earth", 3)}},
		{"mixed", "x\theaven\nearth\n12:30 train\n", Auto, []Topic{text("x", "heaven", 1), text("2", "earth", 2), text("3", "12:30 train", 3)}},
		{"mark and line ends", "\ufeffheaven\r\n\r\nearth", Plain, []Topic{text("1", "heaven", 1), text("2", "earth", 3)}},
		{"CR alone", "heaven\r\rearth\r", Plain, []Topic{text("1", "heaven", 1), text("2", "earth", 3)}},
		{"UTF-16", "\xfe\xff\x00a\x00\t\x20\xac", TSV, []Topic{text("a", "€", 1)}},
		{"Terabyte", "1:pierson s: twin lakes\n02:b\n", TREC, []Topic{text("1", "pierson s: twin lakes", 1), text("02", "b", 2)}},
		{"Million Query", "20001:1:obama family tree\n20002:4:\n", TREC, []Topic{text("20001", "obama family tree", 1), text("20002", "", 2)}},
		{"a time in a file with TAB", "12:30\ttrain\n", TSV, []Topic{text("12:30", "train", 1)}},
		{"old topics", oldTopics, TREC, []Topic{text("51", "Airbus Subsidies", 2), text("301A", "International Organized Crime", 11)}},
		{"closed tags", newTopics, TREC, []Topic{text("701", "U.S. oil: industry", 1), text("0", "", 7)}},
		{"JSON", `{"id":"a","text":"heaven"}` + "\n" + `{"id":17,"vector":{"b":2.5,"a":1,"b":3},"more":[]}` + "\n" + `{"text":""}` + "\n" + `{"id":null,"vector":{}}`, JSONL,
			[]Topic{text("a", "heaven", 1), {ID: "17", Terms: []string{"b", "a", "b"}, Weights: []float64{2.5, 1, 3}, Line: 2}, text("3", "", 3), {ID: "4", Terms: []string{}, Weights: []float64{}, Line: 4}}},
		{"BEIR and MS MARCO", `{"_id":"a","text":"heaven"}` + "\n" + `{"qid":7,"query":"earth"}` + "\n" + `{"query_id":"c","title":"sea"}`, JSONL,
			[]Topic{text("a", "heaven", 1), text("7", "earth", 2), text("c", "sea", 3)}},
		{"documents", "<DOC>\n<DOCNO> 17 </DOCNO>\nwhat similarity laws\n<TEXT>must be obeyed</TEXT>\n</DOC>\n<doc><docno>2</docno>a</doc>\n", TREC,
			[]Topic{text("17", "what similarity laws must be obeyed", 1), text("2", "a", 6)}},
		{"XML", `<?xml version="1.0"?>` + "\n<!DOCTYPE t [\n<!ELEMENT t (topic)*>\n]>\n<t><!-- a\n<topic> -->\n<topic\n number='07' type=\"x\"> <query>a &amp; b</query>\n<subtopic number=\"1\">c</subtopic></topic>\n</t>", TREC,
			[]Topic{text("07", "a & b", 8)}},
		{"one line of XML", `<topics><topic number="1"><query>a</query></topic><topic number="2"><title>b</title><query>c</query></topic></topics>`, TREC,
			[]Topic{text("1", "a", 1), text("2", "b", 1)}},
		{"FIRE", "<topics>\n\n<top lang='en'>\n<num>176</num>\n<title>YSR Reddy death</title>\n<desc>Death</desc>\n</top>\n</topics>", TREC, []Topic{text("176", "YSR Reddy death", 3)}},
		{"Microblog", "<top>\n<num> Number: MB051 </num>\n<query> British cuts </query>\n<querytime> Tue </querytime>\n</top>", TREC, []Topic{text("MB051", "British cuts", 1)}},
		{"NTCIR", "<queries>\n\t<query>\n\t<qid>0001</qid><content>ascii code</content>\n</query></queries>", TREC, []Topic{text("0001", "ascii code", 2)}},
		{"CLEF", "<top>\n<num> C041 </num>\n<EN-title> Pesticides in Baby Food </EN-title>\n<EN-desc> Find reports. </EN-desc>\n</top>", TREC, []Topic{text("C041", "Pesticides in Baby Food", 1)}},
		{"precision medicine", "<topics><topic number=\"1\"><disease>melanoma</disease><gene>BRAF (V600E)</gene><demographic>64-year-old male</demographic></topic></topics>", TREC,
			[]Topic{text("1", "melanoma BRAF (V600E) 64-year-old male", 1)}},
		{"clinical trials", "<topics><topic number=\"1\">Patient is a 45-year-old man\nwith pain < 3 days.</topic></topics>", TREC, []Topic{text("1", "Patient is a 45-year-old man with pain < 3 days.", 1)}},
		{"CAR", "A/B%20c\nenwiki:D\n", CAR, []Topic{text("A/B%20c", "A B c", 1), text("enwiki:D", "D", 2)}},
		{"a weight of 0", `{"id":1,"vector":{"a":1,"b":0,"c":-0.0}}`, JSONL, []Topic{{ID: "1", Terms: []string{"a"}, Weights: []float64{1}, Line: 1}}},
		{"nothing", "\n\n", Auto, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			for _, f := range []Format{Auto, test.format} {
				if got, err := read(f, test.file); err != nil || !reflect.DeepEqual(got, test.want) {
					t.Errorf("%s: %+v, %v\nwant %+v", f, got, err, test.want)
				}
			}
		})
	}
	if got, err := read(Plain, "x\ty\n{}\n"); err != nil || len(got) != 2 || got[0].Text != "x\ty" || got[1].Text != "{}" {
		t.Errorf("plain lines: %+v, %v", got, err)
	}
	n := 0
	err := ReadTopics("f", strings.NewReader("a\nb\nc\n"), Reading{Format: Auto}, func(Topic) bool { n++; return n < 2 })
	if err != nil || n != 2 {
		t.Errorf("stopped after %d, %v", n, err)
	}
}

// TestTopicFields chooses the text of topics.
func TestTopicFields(t *testing.T) {
	const xml = `<topics><topic number="1"><query>a</query><question>b c</question></topic></topics>`
	const old = "<top>\n<num> Number: 1\n<title> Topic: a\n<desc> Description:\nfind b\n<narr> Narrative\nc\n</top>"
	const json = `{"id":"1","query":"a","reasoning":"b","n":3}`
	for _, test := range []struct {
		file, fields, want, wrong string
	}{
		{xml, "question,query", "b c a", ""},
		{xml, "desc", "", "f:1: no field desc: the topic has query, question"},
		{old, "title,DESCRIPTION,narr", "a find b c", ""},
		{json, "reasoning,query", "b a", ""},
		{json, "n", "", "f:1: no field n: the topic has id, n, query, reasoning"},
		{"1\ta", "title", "", "f:1: topics in lines have no fields such as title"},
	} {
		var got []Topic
		err := ReadTopics("f", strings.NewReader(test.file), Reading{Format: Auto, Fields: strings.Split(test.fields, ",")}, func(t Topic) bool {
			got = append(got, t)
			return true
		})
		if len(got) > 0 && got[0].Err != nil {
			err = &Error{"f", got[0].Line, got[0].Err}
		}
		if test.wrong != "" {
			if err == nil || !strings.HasPrefix(err.Error(), test.wrong) {
				t.Errorf("%s: %v, want %s", test.fields, err, test.wrong)
			}
		} else if err != nil || len(got) != 1 || got[0].Text != test.want || got[0].ID != "1" {
			t.Errorf("%s: %+v, %v", test.fields, got, err)
		}
	}
}

func TestTopicErrors(t *testing.T) {
	for _, test := range []struct {
		name   string
		format Format
		file   string
		want   string
	}{
		{"no TAB", TSV, "a\tb\nc\n", "f:2: no TAB, want ID TAB TEXT"},
		{"text in a TREC file", TREC, "\n1:a\nb\n", "f:3: text outside of the elements"},
		{"text between topics", Auto, "<top><num>1<title>a</top>\nb\n", "f:2: text outside of the elements"},
		{"open topic", Auto, "<top>\n<num>1\n<title>a\n", "f:1: a <top> without </top>"},
		{"no number", Auto, "<top>\n<title>a\n</top>\n", "f:1: a <top> without <num>"},
		{"no title", Auto, "<top>\n<num>1\n</top>\n", "f:1: a <top> without <title>"},
		{"text behind a topic", Auto, "<top><num>1<title>a</top> b\n", "f:1: text outside of the elements"},
		{"HTML", Auto, "<html>\n<head><title>a</title></head>\n", "f:2: text outside of the elements"},
		{"markup without topics", Auto, "\n<?xml version='1.0'?>\n<topics>\n</topics>\n", "f:2: markup without an element <top>"},
		{"open comment", Auto, "<top><num>1<title>a</top>\n<!-- b\n", "f:2: a tag, comment or declaration without its end"},
		{"open tag", Auto, "<topics\n", "f:1: a tag, comment or declaration without its end"},
		{"query that is a document", Auto, "<top><num>1</num><docid>x</docid><url>y<url></top>", "f:1: a <top> without <title>, <query> or <content>: choose the text with --topic-field among docid, num, url"},
		{"empty element", Auto, "<topics><topic number='3'/></topics>", ""},
		{"no number in XML", Auto, "<topic><query>a</query></topic>", "f:1: a <topic> without <num>, <number>, <qid> or <id>, or an attribute number or id"},
		{"answers", Auto, "who sings\t['Linda Davis']\n", "f:1: the second column is a list of answers"},
		{"escape in CAR", CAR, "a%2\n", `f:1: invalid URL escape "%2"`},
		{"endless topic", Auto, "<top>\n" + strings.Repeat(strings.Repeat("x", 1<<18)+"\n", 5), "f:1: a <top> without </top>"},
		{"long topic", Auto, "<top>\n" + strings.Repeat(strings.Repeat("x", 1<<18)+"\n", 4) + "</top>", "f:1: a topic of 1048587 bytes; at most 1048576 are possible"},
		{"zero bytes", Auto, "a\x00b\x00", "f:1: a zero byte"},
		{"Latin-1", TSV, "1\tcaf\xe9", "f:1: invalid UTF-8: byte 5 of the line is 0xe9"},
		{"surrogate", Auto, "\xff\xfea\x00\x00\xd8", "f:1: invalid UTF-8: byte 1 of the line is 0xed"},
		{"array", Auto, "\n[\n{", "f:2: a JSON array: write one object per line"},
		{"array on a line", Auto, `[{"id": 1}]`, "f:1: a JSON array"},
		{"endless line", Auto, "a\n" + strings.Repeat("x", MaxLine+1), "f:2: a line of 1048577 bytes; at most 1048576 are possible"},
		{"not JSON", Auto, "{\"text\":\"a\"}\nb\n", "f:2: incorrect JSON: byte 1 is 'b'"},
		{"no object", JSONL, "[]\n", "f:1: an array, want an object"},
		{"neither", JSONL, `{"id":1}`, "f:1: none of the members text, query, title, query_txt, question, vector"},
		{"both", JSONL, `{"text":"a","vector":{}}`, "f:1: both a text and a vector"},
		{"vector is no object", JSONL, `{"vector":1}`, "f:1: a vector that is no object"},
		{"dense vector", JSONL, `{"vector":[1]}`, "f:1: a vector that is an array, as of dense retrieval"},
		{"weight is no number", JSONL, `{"vector":{"a":"1"}}`, `f:1: weight of term "a": a string, want a number`},
		{"weight is negative", JSONL, `{"vector":{"a":-0.5}}`, `f:1: weight -0.5 of term "a" is negative or not finite`},
		{"weight is too great", JSONL, `{"vector":{"a":1e999}}`, `f:1: weight of term "a": number 1e999, want a number`},
		{"id is an object", JSONL, `{"id":{},"text":"a"}`, "f:1: an id that is neither string nor number: {}"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := read(test.format, test.file)
			if test.want == "" && err == nil {
				return
			}
			if _, ok := errors.AsType[*Error](err); !ok || !strings.HasPrefix(err.Error(), test.want) {
				t.Errorf("%v, want %s", err, test.want)
			}
		})
	}
	for _, f := range Formats() {
		if got, err := ParseFormat(string(f)); got != f || err != nil {
			t.Errorf("%s: %s, %v", f, got, err)
		}
	}
	if _, err := ParseFormat("xml"); err == nil || err.Error() != `unknown format "xml" of topics (one of auto, plain, tsv, trec, jsonl, car)` {
		t.Errorf("%v", err)
	}
}

// TestWrongLines reads on behind a wrong line.
func TestWrongLines(t *testing.T) {
	long := strings.Repeat("x", MaxLine+1)
	got, err := read(Plain, "a\n"+long+"\nb\r\n"+long)
	if err == nil || len(got) != 4 || got[1].Err == nil || got[2].Text != "b" || got[2].ID != "3" || got[3].Line != 4 || got[3].Err == nil {
		t.Errorf("long lines: %.100v, %v", got, err)
	}
	if got, err := read(Auto, long+"\n1:a\n"+long+"\n2:b"); err == nil || len(got) != 4 || got[0].Err == nil || got[1].Text != "a" || got[2].Line != 3 || got[3].ID != "2" {
		t.Errorf("long lines between numbers: %.100v, %v", got, err)
	}
	top := func(id, title string) string { return "<top>\n<num>" + id + "\n<title>" + title + "\n</top>\n" }
	if got, err := read(Auto, top("1", "a")+top("2", long)+top("3", long[2:]+"\nx")+top("4", "caf\xe9")+top("5", "b")); err == nil || len(got) != 5 ||
		got[0].Text != "a" || got[1].Err == nil || got[1].Line != 5 || got[2].Err == nil || got[3].Err == nil || got[4].Text != "b" || got[4].ID != "5" {
		t.Errorf("long elements: %.300v, %v", got, err)
	}
	if got, err := read(Plain, long[1:]+"\r\nb"); err != nil || len(got) != 2 || len(got[0].Text) != MaxLine || got[1].Text != "b" {
		t.Errorf("lines at the limit: %d topics, %v", len(got), err)
	}
	for format, file := range map[Format]string{
		TSV:   "a\tx\nb\nc\ty\n",
		JSONL: `{"id":"a","text":"x"}` + "\n" + `{"text":` + "\n" + `{"id":"c","text":"y"}` + "\n",
	} {
		got, err := read(format, file)
		if err == nil || len(got) != 3 || got[0].Text != "x" || got[2].Text != "y" || got[2].ID != "c" || got[2].Err != nil {
			t.Fatalf("%s: %+v, %v", format, got, err)
		}
		if wrong := got[1]; wrong.Err == nil || wrong.Line != 2 || wrong.ID != "2" || wrong.Text != "" {
			t.Errorf("%s: %+v", format, wrong)
		}
	}
}

// TestTopicsRoundTrip: topics written in a format are read from it.
func TestTopicsRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		texts := rapid.SliceOf(rapid.StringMatching(`[a-z:{}.^ ]+[a-z]`)).Draw(t, "texts")
		var tsv, colon, top strings.Builder
		for _, s := range texts {
			tsv.WriteString("7\t" + s + "\n")
			colon.WriteString("7:" + s + "\n")
			top.WriteString("<top>\n<num> Number: 7\n<title> " + s + "\n<desc> other\n</top>\n\n")
		}
		for _, file := range []string{tsv.String(), colon.String(), top.String()} {
			got, err := read(Auto, file)
			if err != nil || len(got) != len(texts) {
				t.Fatalf("%d topics of %d, %v", len(got), len(texts), err)
			}
			for i, s := range texts {
				if file == top.String() {
					s = strings.Join(strings.Fields(s), " ")
				}
				if got[i].ID != "7" || got[i].Text != s {
					t.Fatalf("%+v, want %q", got[i], s)
				}
			}
		}
	})
}

// FuzzTopics: any bytes, in any format, give topics or an error that names a line.
func FuzzTopics(f *testing.F) {
	for i, s := range []string{"x\ty\nz", oldTopics, newTopics, "1:a\n2:3:b", `{"id":"a","vector":{"b":2.5}}`, `{"text":"` + "\\u00e9" + `"}`} {
		f.Add(s, uint8(i))
	}
	f.Fuzz(func(t *testing.T, file string, format uint8) {
		formats := Formats()
		topics, err := read(formats[int(format)%len(formats)], file)
		checkFileError(t, file, err)
		last := 0
		for _, q := range topics {
			if q.Line < last || len(q.Terms) != len(q.Weights) {
				t.Fatalf("%+v after line %d", q, last)
			}
			for _, w := range q.Weights {
				if !(w > 0) {
					t.Fatalf("weight %v", w)
				}
			}
			last = q.Line
		}
	})
}
