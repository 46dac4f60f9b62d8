package trec

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"

	"heddle/engine/syntax"
)

// jsonTopic is a line of a JSONL file. Members have the names that BEIR, MS MARCO,
// ir_datasets, M-BEIR and EPIC-QA use. Further members are ignored.
type jsonTopic struct {
	ID         json.RawMessage `json:"id"`
	QID        json.RawMessage `json:"qid"`
	ID2        json.RawMessage `json:"_id"`
	QueryID    json.RawMessage `json:"query_id"`
	QuestionID json.RawMessage `json:"question_id"`

	Text     *string `json:"text"`
	Query    *string `json:"query"`
	Title    *string `json:"title"`
	QueryTxt *string `json:"query_txt"`
	Question *string `json:"question"`
	Vector   *vector `json:"vector"`
}

// parseJSON fills t from a JSON object. Its text is the members fields, unless there are none.
func (t *Topic) parseJSON(line string, fields []string) error {
	var o jsonTopic
	if err := json.Unmarshal([]byte(line), &o); err != nil {
		return syntax.JSONLine([]byte(line), err)
	}
	if reason := syntax.LoneSurrogate("line", []byte(line)); reason != "" {
		return errors.New(reason)
	}
	text := cmp.Or(o.Text, o.Query, o.Title, o.QueryTxt, o.Question)
	switch {
	case len(fields) > 0:
		chosen, err := chooseMembers(line, fields)
		if err != nil {
			return err
		}
		t.Text = chosen
	case text != nil && o.Vector != nil:
		return errors.New("both a text and a vector")
	case text == nil && o.Vector == nil:
		return errors.New("none of the members text, query, title, query_txt, question, vector")
	case o.Vector != nil:
		t.Text, t.Terms, t.Weights = "", o.Vector.terms, o.Vector.weights
	default:
		t.Text = *text
	}
	for _, id := range []json.RawMessage{o.ID, o.QID, o.ID2, o.QueryID, o.QuestionID} {
		if len(id) > 0 && id[0] != 'n' { // null
			return t.parseID(id)
		}
	}
	return nil
}

// chooseMembers joins the members of a JSON object with these names, which are strings.
func chooseMembers(line string, fields []string) (string, error) {
	var all map[string]json.RawMessage
	if err := json.Unmarshal([]byte(line), &all); err != nil {
		return "", err
	}
	texts, has := map[string]string{}, []string{}
	for name, value := range all {
		if has = append(has, name); value[0] == '"' {
			var text string
			if err := json.Unmarshal(value, &text); err != nil {
				return "", err
			}
			texts[strings.ToLower(name)] = text
		}
	}
	return choose(fields, func(name string) (string, bool) {
		text, ok := texts[strings.ToLower(name)]
		return text, ok
	}, has)
}

// parseID takes a string or a number, as it is written.
func (t *Topic) parseID(id json.RawMessage) error {
	switch {
	case id[0] == '"':
		return json.Unmarshal(id, &t.ID)
	case id[0] == '-' || '0' <= id[0] && id[0] <= '9':
		t.ID = string(id)
		return nil
	}
	return fmt.Errorf("an id that is neither string nor number: %.20s", id)
}

// vector is a JSON object of weights, in the order of the file, so that nothing
// depends on the order of a map.
type vector struct {
	terms   []string
	weights []float64
}

func (v *vector) UnmarshalJSON(b []byte) error {
	switch b[0] {
	case '{':
	case '[':
		return errors.New("a vector that is an array, as of dense retrieval: want an object {TERM: WEIGHT}")
	default:
		return errors.New("a vector that is no object of weights")
	}
	d := json.NewDecoder(bytes.NewReader(b))
	if _, err := d.Token(); err != nil {
		return err
	}
	v.terms, v.weights = []string{}, []float64{}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return err
		}
		var weight float64
		if err := d.Decode(&weight); err != nil {
			return fmt.Errorf("weight of term %q: %w", name, syntax.JSON(b, err))
		}
		if weight < 0 || math.IsInf(weight, 0) {
			return fmt.Errorf("weight %v of term %q is negative or not finite", weight, name)
		}
		if weight == 0 {
			continue // it adds nothing to a score
		}
		v.terms = append(v.terms, name.(string))
		v.weights = append(v.weights, weight)
	}
	return nil
}
