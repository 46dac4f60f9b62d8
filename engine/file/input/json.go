package input

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
)

// JSONError words an error of encoding/json for a reader of the input: it names the
// member, the value and the expected type, and no type of Go. It returns any other error
// unchanged.
func JSONError(err error) error {
	var wrong *json.UnmarshalTypeError
	if !errors.As(err, &wrong) {
		return err
	}
	want := "an object"
	switch wrong.Type.Kind() {
	case reflect.String:
		want = "a string"
	case reflect.Bool:
		want = "true or false"
	case reflect.Slice, reflect.Array:
		want = "an array"
	case reflect.Float32, reflect.Float64:
		want = "a number in the range of float64"
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		want = "a whole number"
	}
	if wrong.Field != "" {
		return fmt.Errorf("member %s is %s, want %s", wrong.Field, article(wrong.Value), want)
	}
	return fmt.Errorf("%s, want %s", article(wrong.Value), want)
}

// article puts an article before the name of a kind of JSON value.
func article(value string) string {
	switch value {
	case "array", "object":
		return "an " + value
	case "bool":
		return "true or false"
	case "string", "number":
		return "a " + value
	}
	return value // "number 1e999"
}
