package server

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"heddle/engine/api"
)

// TestLongInputs puts a text of 20,000 bytes into each field of each request, and into paths and headers. No error
// gives it back.
func TestLongInputs(t *testing.T) {
	r := run(t, Options{Limits: Limits{Terms: 1 << 20}})
	r.opt.Root = r.dir
	url, admin, done := r.listen(t.Context())
	const size = 20_000
	long := map[string]string{
		"letters": strings.Repeat("x", size), "digits": strings.Repeat("9", size), "quotes": strings.Repeat(`"`, size), "weight": "a^" + strings.Repeat("9", size),
		"column": strings.Repeat("x", size) + " = 1", "literal": "days = " + strings.Repeat("9", size), "string": "book = '" + strings.Repeat("y", size), "function": strings.Repeat("f", size) + "(days)",
	}
	if testing.Short() {
		maps.DeleteFunc(long, func(name, _ string) bool { return !slices.Contains([]string{"letters", "weight", "string"}, name) })
	}
	seen := map[string]bool{}
	check := func(what string, got reply) {
		t.Helper()
		if about := fmt.Sprintf("%.140s", got.body); got.status >= 400 && len(got.body) > 1500 && !seen[about] {
			seen[about] = true
			t.Errorf("%s: %d, %d bytes: %.200s", what, got.status, len(got.body), got.body)
		}
	}
	for _, service := range []string{api.IndexServiceName, api.TableServiceName, api.InspectServiceName, api.AdminServiceName} {
		if r.url = url; service == api.AdminServiceName {
			r.url = admin
		}
		for _, route := range api.Routes(service) {
			if route.Method != "POST" || strings.HasSuffix(route.Path, "/drain") || strings.HasSuffix(route.Path, "/unload") {
				continue
			}
			path := strings.NewReplacer("{index}", "looms", "{table}", "loans").Replace(route.Path)
			d, err := protoregistry.GlobalFiles.FindDescriptorByName(protoreflect.FullName(strings.ReplaceAll(strings.TrimPrefix(route.Procedure, "/"), "/", ".")))
			if err != nil {
				t.Fatal(err)
			}
			for name, text := range long {
				for field, body := range bodiesWith(d.(protoreflect.MethodDescriptor).Input(), text, 2) {
					check(fmt.Sprintf("%s, %s of %s", path, name, field), r.do("POST", path, body))
				}
			}
		}
	}
	r.url = url
	x := long["letters"]
	check("a name", r.do("GET", "/v1/indexes/"+x, ""))
	check("a table", r.do("GET", "/v1/tables/"+x, ""))
	check("a route", r.do("GET", "/v1/"+x, ""))
	check("a method", r.do("DELETE", "/v1/indexes/"+x, ""))
	check("an option", r.do("POST", "/v1/indexes/looms/search/batch?timeout_ms="+x, ""))
	check("an interval", r.do("GET", "/v1/events?interval_ms="+x, ""))
	check("an encoding", r.do("POST", search, "{}", "Content-Encoding: "+x))
	check("a type", r.do("POST", search, "{}", "Accept: "+x))
	check("a line", r.do("POST", "/v1/indexes/looms/search/batch", `{"mode":"`+x+`"}`))
	check("an id", r.do("POST", "/v1/indexes/looms/search/batch", `{"id":{"`+x+`":1}}`))
	check("a service", r.do("POST", "/grpc.health.v1.Health/Check", `{"service":"`+x[:4000]+`"}`, "Content-Type: application/json"))
	r.Drain()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// bodiesWith returns bodies in JSON, each with a text in one field, by the names of the fields.
func bodiesWith(d protoreflect.MessageDescriptor, text string, depth int) map[string]string {
	all := map[string]string{}
	quoted, _ := json.Marshal(text)
	for i := range d.Fields().Len() {
		f := d.Fields().Get(i)
		name, values := string(f.Name()), map[string]string{}
		switch {
		case name == "index" || name == "table" && depth == 2:
			continue
		case f.Message() == nil:
			values[""] = string(quoted)
			if f.Kind() != protoreflect.StringKind && strings.Trim(text, "9") == "" {
				values[" as a number"] = text
			}
		case depth > 0:
			values = bodiesWith(f.Message(), text, depth-1)
		}
		for inner, value := range values {
			if f.IsList() {
				value = "[" + value + "]"
			}
			body := `"` + name + `":` + value
			if name == "group_by" || name == "order_by" || name == "where" && d.Fields().ByName("select") != nil {
				body = `"select":"count(*)",` + body
			}
			all[name+"."+inner] = "{" + body + "}"
		}
	}
	all["a name"] = "{" + string(quoted) + ":1}"
	return all
}
