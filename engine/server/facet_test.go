package server

import (
	"testing"

	"heddle/engine"
)

// TestFacetAnswer: the empty text is a value, and documents without a value have none.
func TestFacetAnswer(t *testing.T) {
	a := facetAnswer(3, []engine.Facet{{Column: "lang", Values: []engine.FacetValue{{Value: "", Count: 1}, {Value: "a\xff", Count: 1}, {Missing: true, Count: 1}}}})
	values := a.Columns[0].Values
	if v := values[0].Value; v == nil || *v != "" || values[0].Missing {
		t.Errorf("the empty text: %v", values[0])
	}
	if v := values[1].Value; v == nil || *v != "a\uFFFD" {
		t.Errorf("a text that is not UTF-8: %v", values[1])
	}
	if values[2].Value != nil || !values[2].Missing {
		t.Errorf("no value: %v", values[2])
	}
}
