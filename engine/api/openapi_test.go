package api

import (
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
)

// TestRecommended: the description keeps the rules that redocly recommends, without a warning
// (.ci/lint asks redocly itself where npm is at hand).
func TestRecommended(t *testing.T) {
	doc, err := openapi3.NewLoader().LoadFromData(OpenAPI) // resolves all references
	if err != nil {
		t.Fatal(err)
	}
	if err := doc.Validate(t.Context()); err != nil { // structure, parameters of paths, unique operationIds
		t.Fatal(err)
	}
	if l := doc.Info.License; l == nil || l.Name == "" || l.URL == "" {
		t.Error("info has no licence")
	}
	if len(doc.Servers) == 0 {
		t.Error("no servers")
	}
	for scheme := range doc.Security[0] {
		if doc.Components.SecuritySchemes[scheme] == nil {
			t.Errorf("no security scheme %s", scheme)
		}
	}
	variable := regexp.MustCompile(`\{[^}]*\}`)
	forms := map[string]string{}
	for path, item := range doc.Paths.Map() {
		form := variable.ReplaceAllString(path, "{}")
		if other := forms[form]; other != "" {
			t.Errorf("%s and %s are one path", path, other)
		}
		forms[form] = path
		if strings.HasSuffix(path, "/") || strings.Contains(path, "?") {
			t.Errorf("%s ends with a slash or has a query", path)
		}
		for method, o := range item.Operations() {
			if o.OperationID == "" || url.PathEscape(o.OperationID) != o.OperationID || o.Summary == "" || len(o.Tags) != 1 {
				t.Errorf("%s %s: operationId %q, summary %q, tags %q", method, path, o.OperationID, o.Summary, o.Tags)
			}
			good, bad := false, false
			for status := range o.Responses.Map() {
				good, bad = good || status[0] == '2', bad || status[0] == '4'
			}
			if !good || !bad {
				t.Errorf("%s %s has no response of success, or none of a fault of the request", method, path)
			}
		}
	}
	for name := range doc.Components.Schemas {
		if !strings.Contains(string(OpenAPI), `"#/components/schemas/`+name+`"`) {
			t.Errorf("schema %s has no use", name)
		}
	}
}
