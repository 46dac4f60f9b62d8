package api

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"strconv"
	"strings"
	"sync"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"heddle/engine/syntax"
)

// AppendJSON appends a message in the JSON of the plain HTTP routes: fields under their names in
// the definition, and numbers as numbers. It leaves out empty strings and messages that are not
// set. Numbers, truth values and lists are always there. Numbers that are not finite become null.
func AppendJSON(dst []byte, m proto.Message) []byte {
	return appendMessage(dst, m.ProtoReflect(), false)
}

// AppendProtoJSON appends a message in the JSON of protocol buffers and Connect. The package protojson takes several
// times as long for lists of numbers.
func AppendProtoJSON(dst []byte, m proto.Message) []byte {
	return appendMessage(dst, m.ProtoReflect(), true)
}

// field is a field of a message with its facts for JSON.
type field struct {
	protoreflect.FieldDescriptor
	kind   protoreflect.Kind
	list   bool
	always bool      // the plain JSON has it without a value, too
	json   bool      // its text is JSON
	names  [2]string // in the plain JSON and in the JSON of protocol buffers, as they are written
}

// known are the fields of messages by their descriptors: descriptors take time for the facts.
var known sync.Map

func fieldsOf(d protoreflect.MessageDescriptor) []field {
	if all, ok := known.Load(d); ok {
		return all.([]field)
	}
	all := make([]field, d.Fields().Len())
	for i := range all {
		f := d.Fields().Get(i)
		json, _ := proto.GetExtension(f.Options(), E_Json).(bool)
		always := f.IsList() || !f.HasPresence() && f.Kind() != protoreflect.StringKind && f.Kind() != protoreflect.BytesKind
		all[i] = field{f, f.Kind(), f.IsList(), always, json, [2]string{`"` + string(f.Name()) + `":`, `"` + f.JSONName() + `":`}}
	}
	known.Store(d, all)
	return all
}

func appendMessage(dst []byte, m protoreflect.Message, canonical bool) []byte {
	form := 0
	if canonical {
		form = 1
	}
	dst = append(dst, '{')
	first, all := len(dst), fieldsOf(m.Descriptor())
	for i := range all {
		f := &all[i]
		if (canonical || !f.always) && !m.Has(f.FieldDescriptor) {
			continue
		}
		if len(dst) > first {
			dst = append(dst, ',')
		}
		dst = append(dst, f.names[form]...)
		if !f.list {
			dst = appendValue(dst, f, m.Get(f.FieldDescriptor), canonical)
			continue
		}
		dst = append(dst, '[')
		list := m.Get(f.FieldDescriptor).List()
		for j := range list.Len() {
			if j > 0 {
				dst = append(dst, ',')
			}
			dst = appendValue(dst, f, list.Get(j), canonical)
		}
		dst = append(dst, ']')
	}
	return append(dst, '}')
}

func appendValue(dst []byte, f *field, v protoreflect.Value, canonical bool) []byte {
	switch f.kind {
	case protoreflect.StringKind:
		if f.json && !canonical {
			return append(dst, v.String()...)
		}
		return AppendString(dst, v.String())
	case protoreflect.BoolKind:
		return strconv.AppendBool(dst, v.Bool())
	case protoreflect.DoubleKind:
		if n := v.Float(); canonical && (math.IsNaN(n) || math.IsInf(n, 0)) {
			return append(append(append(dst, '"'), strings.Replace(strings.TrimPrefix(strconv.FormatFloat(n, 'g', -1, 64), "+"), "Inf", "Infinity", 1)...), '"')
		}
		return AppendNumber(dst, v.Float())
	case protoreflect.Uint64Kind:
		if canonical {
			return append(strconv.AppendUint(append(dst, '"'), v.Uint(), 10), '"')
		}
		return strconv.AppendUint(dst, v.Uint(), 10)
	case protoreflect.Uint32Kind:
		return strconv.AppendUint(dst, v.Uint(), 10)
	case protoreflect.BytesKind:
		return append(base64.StdEncoding.AppendEncode(append(dst, '"'), v.Bytes()), '"')
	}
	return appendMessage(dst, v.Message(), canonical) // the definition has no other kinds
}

// AppendString appends a JSON string. Bytes that are not UTF-8 become U+FFFD.
func AppendString(dst []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c >= 0x7f || c == '"' || c == '\\' {
			var b bytes.Buffer
			e := json.NewEncoder(&b)
			e.SetEscapeHTML(false)
			_ = e.Encode(s) // strings always succeed
			return append(dst, bytes.TrimSuffix(b.Bytes(), []byte("\n"))...)
		}
	}
	return append(append(append(dst, '"'), s...), '"')
}

// AppendNumber appends the shortest JSON number that reads as v; null if v is not finite.
func AppendNumber(dst []byte, v float64) []byte {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return append(dst, "null"...)
	}
	return strconv.AppendFloat(dst, v, 'g', -1, 64)
}

// ErrTotal is the error of a member total of another type or out of its range.
var ErrTotal = errors.New("total: want true, false or a whole number from 0 to 2^53")

// ReadJSON reads a body of the plain HTTP routes, a single JSON object, into v: a message or a
// struct that embeds one. It is strict: members have exactly the names of the definition, none comes twice,
// and texts are UTF-8. Errors name the field or the byte. Room, unless it is nil, gets an estimate of the
// memory of the decoded body in bytes before it is decoded; its error is the error of ReadJSON.
func ReadJSON(text []byte, v any, room func(bytes int64) error) error {
	if start := bytes.TrimLeft(text, " \t\r\n"); len(start) == 0 {
		return errors.New("body: it is empty: want a JSON object")
	} else if start[0] == 'n' {
		return errors.New("body: byte 1: want an object, found null")
	}
	memory, err := syntax.CheckJSON(text, checkName)
	if err != nil {
		return fmt.Errorf("body: %w", err)
	}
	if room != nil {
		if err := room(memory + int64(len(text))); err != nil { // the decoder has a copy
			return err
		}
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
			field := wrong.Field
			if field == "" {
				field = "body"
			}
			return fmt.Errorf("%s: byte %d: want %s, found %s", syntax.Short(field), wrong.Offset, typeName(wrong.Type), syntax.Short(wrong.Value))
		}
		if errors.Is(err, proto.Error) { // total, and the ends of a boost, read themselves
			return fmt.Errorf("%w; boost.from and boost.to: want a number or a text", ErrTotal)
		}
		return fmt.Errorf("body: %w", syntax.JSON(text, err))
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return fmt.Errorf("body: byte %d: more than one JSON object", d.InputOffset())
	}
	return nil
}

// checkName refuses names that encoding/json takes for a field in spite of their case.
func checkName(name string) error {
	if strings.ContainsFunc(name, func(c rune) bool { return 'A' <= c && c <= 'Z' || c > '~' }) {
		return fmt.Errorf("unknown member %s", syntax.Quote(name))
	}
	return nil
}

// typeName names the JSON type of a field.
func typeName(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Pointer:
		return typeName(t.Elem())
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Slice:
		return "an array"
	case reflect.Struct:
		return "an object"
	case reflect.Uint32:
		return "a whole number from 0 to 4294967295"
	case reflect.Uint64:
		return "a whole number from 0 to 18446744073709551615"
	}
	return "a number"
}
