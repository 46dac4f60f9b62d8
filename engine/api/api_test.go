package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"connectrpc.com/connect/v2"
	"connectrpc.com/connect/v2/connectproto"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"heddle/engine"
	"heddle/engine/syntax"
)

func TestAppendJSON(t *testing.T) {
	offset := uint32(0)
	for _, c := range []struct {
		message proto.Message
		want    string
	}{
		{&SearchResponse{}, `{"hits":[],"took_ms":0,"queued_ms":0}`},
		{&SearchResponse{Hits: []*Hit{{Doc: "a \"b\"\n", Id: math.MaxUint64, Score: 0.1}, {Score: math.Inf(1)}}, TookMs: 1e-7, Explanation: "é", Total: &Total{Value: 3}},
			`{"hits":[{"doc":"a \"b\"\n","id":18446744073709551615,"score":0.1},{"id":0,"score":null}],"took_ms":1e-07,"queued_ms":0,"explanation":"é","total":{"value":3,"exact":false}}`},
		{&Error{Code: "invalid_query", Offset: &offset}, `{"code":"invalid_query","offset":0}`},
		{&SearchRequest{Terms: []string{"a", "<"}, Scoring: &Scoring{K1: proto.Float64(0)}}, `{"literal":false,"terms":["a","<"],"weights":[],"scoring":{"k1":0},"explain":false,"timeout_ms":0,"allow_partial":false,"fields":[],"source":false,"attributes":[],"offset":0,"sort":[],"min_score":0,"collapse_limit":0,"prefix_length":0,"suggest":false}`},
		{&Hit{Fields: `{"a":[1,"<"]}`, Snippet: "<b>\n"}, `{"id":0,"score":0,"fields":{"a":[1,"<"]},"snippet":"<b>\n"}`},
	} {
		got := string(AppendJSON(nil, c.message))
		if got != c.want || !json.Valid([]byte(got)) {
			t.Errorf("%T: %s, want %s", c.message, got, c.want)
		}
	}
}

// TestAppendProtoJSON: protojson reads the messages again.
func TestAppendProtoJSON(t *testing.T) {
	for _, m := range []proto.Message{
		&SearchBatchResponse{},
		&SearchBatchResponse{Counts: []uint64{0, math.MaxUint64}, Ids: []uint64{1 << 60}, Ends: []uint64{0, 1}, Scores: []float64{0, math.Copysign(0, -1), 1e21, 1e-7, -5e-324, math.MaxFloat64, math.Inf(1), math.Inf(-1)},
			Docs: []string{"", "\"a\n\u2028é<"}, Errors: []*BatchError{{Query: 7, Error: &Error{Code: "x", Offset: new(uint32)}}}, TookMs: 0.125, Coverage: &Coverage{Epoch: 3, Missing: []*MissingShard{{Shard: 2, Error: "late"}}},
			Notes: []*BatchNote{{Note: "n"}}, Totals: []*Total{{}, {Value: 1, Exact: true}}, Contents: []*Contents{{Fields: `{"a":[1]}`}}, After: []string{"c"}},
		&SearchResponse{Hits: []*Hit{{}, {Doc: "a", Id: 5, Score: 2.5, Fields: `{"a":"<"}`, Snippet: "<b>"}}, Total: &Total{}},
	} {
		got := m.ProtoReflect().New().Interface()
		text := AppendProtoJSON(nil, m)
		if err := protojson.Unmarshal(text, got); err != nil || !proto.Equal(got, m) {
			t.Errorf("%v: %s", err, text)
		}
	}
	var got SearchBatchResponse
	if err := protojson.Unmarshal(AppendProtoJSON(nil, &SearchBatchResponse{Scores: []float64{math.NaN()}}), &got); err != nil || !math.IsNaN(got.Scores[0]) {
		t.Errorf("%v, %v", err, got.Scores)
	}
}

func TestReadJSON(t *testing.T) {
	for body, want := range map[string]string{
		``:                          `body: it is empty: want a JSON object`,
		" \n":                       `body: it is empty`,
		`null`:                      `body: byte 1: want an object, found null`,
		`{"k":1,"query":"a","k":2}`: `body: byte 20: the object has the member "k" twice`,
		`{"query":"a","Query":"b"}`: `body: unknown member "Query"`,
		`{"ſcoring":{}}`:            `body: unknown member "ſcoring"`,
		"{\"query\":\"\xff\"}":      `body: invalid JSON text: byte 11 is 0xff, which is not UTF-8`,
		`{"query":"\ud800"}`:        `body: invalid JSON text: byte 10 of the text is \ud800, half of a surrogate pair`,
		`{"k":` + strings.Repeat("9", 1<<20) + `}`: `k: byte 1048581: want a whole number from 0 to 4294967295, found number ` + strings.Repeat("9", 93) + `…`,
		`{"` + strings.Repeat("q", 1<<20) + `":1}`: `body: unknown member "` + strings.Repeat("q", 100) + `"…`,
		`{"query":"a","k":3}`:                      ``,
		` {"scoring":{"k1":1.5}} `:                 ``,
		`{"query":1}`:                              `query: byte 10: want a string, found number`,
		`{"k":-1}`:                                 `k: byte 7: want a whole number from 0 to 4294967295, found number -1`,
		`{"scoring":{"k1":"1"}}`:                   `scoring.k1: byte 20: want a number, found string`,
		`{"quary":"a"}`:                            `body: unknown member "quary"`,
		`{"query":"a"`:                             `body: the JSON value is cut off`,
		`{"query":"a",}`:                           `body: incorrect JSON: byte 14 is '}': a member in double quotes`,
		`{"query":"a"} {"query":"a"} `:             `body: byte 15: more than one JSON object`,
		`[]`:                                       `body: byte 1: want an object, found array`,
	} {
		err := ReadJSON([]byte(body), new(SearchRequest), nil)
		if (err == nil) != (want == "") || err != nil && !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v, want %s", body, err, want)
		}
	}
}

// FuzzJSON checks that a message that was read can be written and read again.
func FuzzJSON(f *testing.F) {
	f.Add(`{"query":"faith hope","k":3,"weights":[1.5],"scoring":{"b":0}}`)
	f.Add(`{"terms":["\u0000","\ufffd"],"statistics":{"docs":18446744073709551615,"df":[1]}}`)
	f.Fuzz(func(t *testing.T, body string) {
		var a, b SearchRequest
		if ReadJSON([]byte(body), &a, nil) != nil {
			return
		}
		text := AppendJSON(nil, &a)
		if err := ReadJSON(text, &b, nil); err != nil {
			t.Fatalf("%s became %s: %v", body, text, err)
		}
		if again := AppendJSON(nil, &b); string(again) != string(text) {
			t.Errorf("%s became %s", text, again)
		}
	})
}

// FuzzLine compares Line.Read with ReadJSON, line by line.
func FuzzLine(f *testing.F) {
	f.Add("{\"query\":\"a\"}\n{\"k\":1} \n{\"k\":-1}\n{\"query\":\"b\"} {}\n\n{\"k\":2}")
	f.Add("{\n}\n{\"quary\":1}\nnull\n[]\nnull\v")
	f.Add(`{"id":"a","query":"red -loom","mode":"and","k":10,"literal":true}` + "\n" + ` { "id" : 12 , "query" : "\u00fc", "count":true }` + "\n" + `{"match":true,"id":-1e3,"K":3,"query":"x\\"}`)
	f.Add(`{"k":01}` + "\n" + `{"k":4294967296,"k":1.0}` + "\n" + `{"id":"\\u00e9","query":null,}` + "\n" + `{"id":1,"id":[2]}x` + "\n" + "{\"query\":\"\xff\"}")
	f.Fuzz(func(t *testing.T, body string) {
		var got Line
		for line := range strings.Lines(body) {
			var want Line
			err, wrong := got.Read([]byte(line), nil), ReadJSON([]byte(line), &want, nil)
			if fmt.Sprint(err) != fmt.Sprint(wrong) || err == nil && (string(got.ID) != string(want.ID) || string(AppendJSON(nil, &got.BatchQuery)) != string(AppendJSON(nil, &want.BatchQuery))) {
				t.Errorf("%q: %v %v, want %v %v", line, &got.BatchQuery, err, &want.BatchQuery, wrong)
			}
		}
	})
}

func TestRoutes(t *testing.T) {
	paths := map[string]string{}
	for _, service := range []string{IndexServiceName, TableServiceName, MachineServiceName, AdminServiceName, InspectServiceName} {
		for _, r := range Routes(service) {
			paths[r.Method+" "+r.Path] = r.Procedure
			if n := strings.Count(r.Path, "{"); n != len(r.Variables) || n > 0 && r.Variables[0] == nil {
				t.Errorf("%s: variables %v", r.Path, r.Variables)
			}
		}
	}
	if paths["POST /v1/indexes/{index}/search"] != IndexServiceSearchProcedure || len(paths) != 41 {
		t.Errorf("%d routes: %v", len(paths), paths)
	}
}

// TestErrors sends errors of the engine through the error of a protocol and back.
func TestErrors(t *testing.T) {
	for code := engine.InvalidQuery; code <= engine.Internal; code++ {
		sent := ErrorOf(&engine.Error{Code: code, Op: "search", Device: "H200", Err: &syntax.Error{Text: "a b", Offset: 2, Reason: "no"}})
		if sent.GetOffset() != 2 {
			t.Errorf("%s: offset %v", code, sent.Offset)
		}
		detail, err := connectproto.NewErrorDetail(sent)
		if err != nil {
			t.Fatal(err)
		}
		got, ok := errors.AsType[*engine.Error](EngineError(fmt.Errorf("so: %w", connect.NewError(connect.CodeUnknown, "no").WithDetail(detail))))
		if !ok || got.Code != code || got.Op != "search" || got.Device != "H200" {
			t.Errorf("%s became %+v", code, got)
		}
	}
	if err := EngineError(nil); err != nil {
		t.Errorf("no error became %v", err)
	}
	for err, want := range map[error]engine.Code{
		connect.NewError(connect.CodeUnavailable, "refused"):   engine.Unavailable,
		connect.NewError(connect.CodeDeadlineExceeded, "late"): engine.Deadline,
		connect.NewError(connect.CodeNotFound, "none"):         engine.NotFound,
		context.Canceled:    engine.Canceled,
		errors.New("other"): engine.Internal,
	} {
		if got := engine.CodeOf(EngineError(err)); got != want {
			t.Errorf("%v: code %s, want %s", err, got, want)
		}
	}
}
