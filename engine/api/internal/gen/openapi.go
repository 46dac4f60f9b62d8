package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/bufbuild/protocompile/linker"
	"google.golang.org/protobuf/reflect/protoreflect"
)

type object = map[string]any

// openAPI returns the OpenAPI description of all routes.
func openAPI(files linker.Files) ([]byte, error) {
	d := &description{paths: object{}, schemas: object{}}
	for _, f := range files {
		services := f.Services()
		for i := range services.Len() {
			methods := services.Get(i).Methods()
			for j := range methods.Len() {
				d.method(methods.Get(j))
			}
		}
		if m := f.Messages().ByName("BatchQuery"); m != nil {
			d.ref(m)
		}
		if m := f.Messages().ByName("Error"); m != nil {
			d.ref(m)
		}
	}
	if err := d.plain(); err != nil {
		return nil, err
	}
	text, err := json.MarshalIndent(object{
		"openapi": "3.0.3",
		"info": object{
			"title": "heddle", "version": "v1", "description": "Search of posting lists and selection of rows of bitmap tables.",
			"license": object{"name": "Apache 2.0", "url": "https://www.apache.org/licenses/LICENSE-2.0"},
		},
		"servers":  []object{{"url": "/", "description": "The server of this description."}},
		"paths":    d.paths,
		"security": []object{{"token": []string{}}, {}},
		"components": object{
			"schemas": d.schemas,
			"responses": object{"Problem": object{
				"description": "The call failed.",
				"content":     object{"application/problem+json": object{"schema": schemaRef("Problem")}},
			}},
			"securitySchemes": object{"token": object{"type": "http", "scheme": "bearer", "description": "A token of the server, if it has any."}},
		},
	}, "", "  ")
	return append(text, '\n'), err
}

// description collects routes and schemas.
type description struct {
	paths, schemas object
}

var variable = regexp.MustCompile(`\{(\w+)\}`)

// method adds a method with a route.
func (d *description) method(m protoreflect.MethodDescriptor) {
	set := option(m, "heddle.v1.route")
	if !set.IsValid() {
		return
	}
	route := set.Message()
	text := func(name protoreflect.Name) string {
		return route.Get(route.Descriptor().Fields().ByName(name)).String()
	}
	fields := m.Input().Fields()
	operation := object{
		"operationId": string(m.Name()), "summary": text("summary"), "description": comment(m),
		"tags":      []string{strings.TrimSuffix(string(m.Parent().Name()), "Service")},
		"responses": responses(object{"description": "The answer.", "content": content("application/json", d.ref(m.Output()))}),
	}
	inPath := map[string]bool{}
	for _, v := range variable.FindAllStringSubmatch(text("path"), -1) {
		inPath[v[1]] = true
		operation["parameters"] = append(parameters(operation), parameter(v[1], comment(fields.ByName(protoreflect.Name(v[1])))))
	}
	for i := range fields.Len() {
		if f := fields.Get(i); text("method") == "GET" && !inPath[string(f.Name())] {
			schema := d.field(f)
			delete(schema, "description")
			operation["parameters"] = append(parameters(operation), object{"name": string(f.Name()), "in": "query", "description": comment(f), "schema": schema})
		}
	}
	if text("method") == "POST" && fields.Len() > len(inPath) {
		operation["requestBody"] = object{"required": true, "content": content("application/json", d.fields(m.Input(), inPath))}
	}
	d.add(text("path"), text("method"), operation)
}

// option returns an option of a definition by its full name; it is not valid if it is not set.
func option(of protoreflect.Descriptor, name protoreflect.FullName) (value protoreflect.Value) {
	of.Options().ProtoReflect().Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		if f.FullName() == name {
			value = v
		}
		return true
	})
	return value
}

func parameters(operation object) []object {
	all, _ := operation["parameters"].([]object)
	return all
}

func parameter(name, doc string) object {
	return object{"name": name, "in": "path", "required": true, "description": doc, "schema": object{"type": "string"}}
}

// responses are the responses of an operation: its answer, a fault of the request, or another one.
func responses(answer object) object {
	failed := object{"$ref": "#/components/responses/Problem"}
	return object{"200": answer, "4XX": failed, "default": failed}
}

func (d *description) add(path, method string, operation object) {
	if d.paths[path] == nil {
		d.paths[path] = object{}
	}
	d.paths[path].(object)[strings.ToLower(method)] = operation
}

// ref adds the schema of a message and returns a reference to it.
func (d *description) ref(m protoreflect.MessageDescriptor) object {
	name := string(m.Name())
	if d.schemas[name] == nil {
		d.schemas[name] = object{} // ends a recursion
		s := d.fields(m, nil)
		if doc := comment(m); doc != "" {
			s["description"] = doc
		}
		d.schemas[name] = s
	}
	return schemaRef(name)
}

// fields returns the schema of an object with the fields of a message, except some.
func (d *description) fields(m protoreflect.MessageDescriptor, except map[string]bool) object {
	properties := object{}
	for i := range m.Fields().Len() {
		if f := m.Fields().Get(i); !except[string(f.Name())] {
			properties[string(f.Name())] = d.field(f)
		}
	}
	return object{"type": "object", "properties": properties, "additionalProperties": false}
}

func (d *description) field(f protoreflect.FieldDescriptor) object {
	var s object
	switch f.Kind() {
	case protoreflect.StringKind:
		if s = (object{"type": "string"}); option(f, "heddle.v1.json").IsValid() {
			s = object{} // any JSON
		}
	case protoreflect.BytesKind:
		s = object{"type": "string", "format": "byte"}
	case protoreflect.BoolKind:
		s = object{"type": "boolean"}
	case protoreflect.DoubleKind:
		s = object{"type": "number", "format": "double"}
	case protoreflect.Uint32Kind:
		s = object{"type": "integer", "minimum": 0, "maximum": 1<<32 - 1}
	case protoreflect.Uint64Kind:
		s = object{"type": "integer", "minimum": 0}
	case protoreflect.MessageKind:
		if f.Message().FullName() == "google.protobuf.Value" {
			s = object{"oneOf": []object{{"type": "number"}, {"type": "string"}}} // Boost.from and Boost.to
			if f.Name() == "total" {
				s = object{"oneOf": []object{{"type": "boolean"}, {"type": "integer", "minimum": 0}}}
			}
			break
		}
		s = d.ref(f.Message())
	default:
		panic(fmt.Sprintf("%s: type %s has no schema", f.FullName(), f.Kind()))
	}
	if f.IsList() {
		s = object{"type": "array", "items": s}
	}
	if doc := comment(f); doc != "" && s["$ref"] == nil {
		s["description"] = doc
	}
	return s
}

func content(kind string, schema object) object { return object{kind: object{"schema": schema}} }

func schemaRef(name string) object { return object{"$ref": "#/components/schemas/" + name} }

// comment returns the comment above a definition as one line.
func comment(d protoreflect.Descriptor) string {
	at := d.ParentFile().SourceLocations().ByDescriptor(d)
	return strings.Join(strings.Fields(at.LeadingComments+" "+at.TrailingComments), " ")
}

// plain adds the routes and bodies that are no methods.
func (d *description) plain() error {
	line, ok := d.schemas["BatchQuery"].(object)
	if !ok {
		return errors.New("the definition has no message BatchQuery")
	}
	id := object{"description": "Any JSON string or number."}
	line["properties"].(object)["id"] = id
	d.schemas["BatchAnswer"] = object{
		"type": "object", "description": "A line of the answer, in the order of the queries.",
		"properties": object{
			"id": id, "count": object{"type": "integer", "minimum": 0},
			"hits":  object{"type": "array", "items": schemaRef("Hit")},
			"total": schemaRef("Total"),
			"after": object{"type": "string", "description": "See SearchResponse."},
			"note":  object{"type": "string", "description": "See SearchResponse."},
			"error": schemaRef("Error"),
		},
		"additionalProperties": false,
	}
	problem := object{}
	for name, s := range d.schemas["Error"].(object)["properties"].(object) {
		if name != "message" { // it is the member detail
			problem[name] = s
		}
	}
	for name, doc := range map[string]string{"type": "Always about:blank.", "title": "Text of the status.", "detail": "The error."} {
		problem[name] = object{"type": "string", "description": doc}
	}
	problem["status"] = object{"type": "integer", "description": "Status of the reply."}
	d.schemas["Problem"] = object{"type": "object", "description": "An error (RFC 9457).", "properties": problem, "required": []string{"type", "title", "status", "detail", "code"}}

	index := []object{parameter("index", "Name of the index.")}
	table := []object{parameter("table", "Name of the table.")}
	d.add("/v1/indexes/{index}/search/batch", "POST", object{
		"operationId": "SearchLines", "summary": "Answers to many queries, a line each", "tags": []string{"Index"},
		"parameters": append(index, object{"name": "timeout_ms", "in": "query", "description": "Time-out of the batch in milliseconds.", "schema": object{"type": "integer", "minimum": 1}},
			object{"name": "allow_partial", "in": "query", "description": "Answer from the shards that can be asked, when others do not answer.", "schema": object{"type": "boolean"}}),
		"requestBody": object{"required": true, "content": content("application/x-ndjson", schemaRef("BatchQuery"))},
		"responses":   responses(object{"description": "A line for each query.", "content": content("application/x-ndjson", schemaRef("BatchAnswer"))}),
	})
	bytes := object{"type": "string", "format": "binary"}
	selected := d.paths["/v1/tables/{table}/select"].(object)["post"].(object)["responses"].(object)["200"].(object)["content"].(object)
	selected["application/x-ndjson"] = object{"schema": object{"type": "integer", "description": "A row number on each line."}}
	selected["application/octet-stream"] = object{"schema": bytes}
	selected["application/x-roaring"] = object{"schema": bytes}
	selected["text/tab-separated-values"] = object{"schema": object{"type": "string", "description": "The first and the last row of each range of consecutive rows, a TAB between them, on each line."}}
	selected["application/vnd.apache.arrow.stream"] = object{"schema": bytes}
	d.add("/v1/events", "GET", object{
		"operationId": "Events", "summary": "The counters of the engine for each interval, as server-sent events", "tags": []string{"Inspect"},
		"parameters": []object{
			{"name": "interval_ms", "in": "query", "description": "Length of an interval.", "schema": object{"type": "integer", "minimum": 100, "maximum": 60000, "default": 1000}},
			{"name": "past_s", "in": "query", "description": "The kept events of so many last seconds come first.", "schema": object{"type": "integer", "minimum": 0, "maximum": 900, "default": 0}},
		},
		"responses": responses(object{"description": "Events with a Status each.", "content": content("text/event-stream", schemaRef("Status"))}),
	})
	for _, r := range []struct {
		path, id, summary string
		parameters        []object
	}{
		{"/livez", "Live", "The process answers", nil},
		{"/readyz", "Ready", "All files are in service, and the server does not drain", nil},
		{"/v1/indexes/{index}/ready", "IndexReady", "The index is in service", index},
		{"/v1/tables/{table}/ready", "TableReady", "The table is in service", table},
		{"/openapi.json", "OpenAPI", "This description", nil},
	} {
		operation := object{"operationId": r.id, "summary": r.summary, "tags": []string{"Health"}, "responses": responses(object{"description": "Yes."})}
		if r.parameters != nil {
			operation["parameters"] = r.parameters
		}
		d.add(r.path, "GET", operation)
	}
	return nil
}
