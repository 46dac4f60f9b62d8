package records

import (
	"encoding/json"
	"maps"
	"testing"
)

// FuzzVector compares with encoding/json.
func FuzzVector(f *testing.F) {
	for _, s := range []string{`{}`, `{"a":1,"b":2.5e-1}`, ` { "a\"\\" : 1 , "\ud83e\uddf5" :3 } `, `{"a":[{"}":1}]}`, `{"":-0}`, `null`, `{"a":1,"a":2}`, "{\"\xff\":1}"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var v Vector
		if err := json.Unmarshal(b, &v); err != nil {
			return
		}
		var want map[string]float64
		if err := json.Unmarshal(b, &want); err != nil {
			t.Fatalf("%q is read, package json says %v", b, err)
		}
		got := map[string]float64{}
		for term, weight := range v.All() {
			got[string(term)] = weight
		}
		if !maps.Equal(got, want) || v.Given != (want != nil) {
			t.Fatalf("%q gives %v, want %v", b, got, want)
		}
	})
}
