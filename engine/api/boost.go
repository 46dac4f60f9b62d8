package api

import (
	"fmt"
	"strconv"

	"google.golang.org/protobuf/types/known/structpb"

	"heddle/engine"
)

// BoostOf is the boost of a message; nil for nil.
func BoostOf(m *Boost) (*engine.Boost, error) {
	if m == nil {
		return nil, nil
	}
	b := &engine.Boost{Column: m.GetColumn(), Weight: m.GetWeight()}
	for _, end := range []struct {
		name  string
		value *structpb.Value
		text  *string
	}{{"from", m.GetFrom(), &b.From}, {"to", m.GetTo(), &b.To}} {
		switch v := end.value.GetKind().(type) {
		case *structpb.Value_NumberValue:
			*end.text = strconv.FormatFloat(v.NumberValue, 'f', -1, 64)
		case *structpb.Value_StringValue:
			*end.text = v.StringValue
		default:
			return nil, fmt.Errorf("boost.%s: want a number or a text", end.name)
		}
	}
	return b, nil
}
