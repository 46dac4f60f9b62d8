package lists

import (
	"errors"
	"slices"
	"testing"

	"heddle/cl/internal/device"
	"heddle/codec"
	"heddle/engine/plan"
)

// TestKinds checks that every device kind of package codec has kernels here, and that each
// decoder is a registered kernel.
func TestKinds(t *testing.T) {
	for k := codec.DeviceNone + 1; k < codec.DeviceKinds; k++ {
		if !kinds[k].known {
			t.Errorf("device kind %d has no entry", k)
		}
	}
	if kinds[codec.DeviceNone].known {
		t.Error("codecs without kernels have an entry")
	}
	for _, id := range codec.IDs() {
		src := &plan.Source{Lists: []plan.List{{Codec: id}}}
		if err := Supported(src); (err == nil) != (id.Device() != codec.DeviceNone) {
			t.Errorf("%v: %v", id, err)
		}
		d := DecoderOf(id)
		if d != NoDecoder && !slices.ContainsFunc(Operation.Programs, func(p device.Program) bool { return p.Name() == Decoders[d].Name }) {
			t.Errorf("%v: the decoder %s is not registered", id, Decoders[d].Name)
		}
	}
}

// TestUnknownCodec loads a list of a codec without kernels.
func TestUnknownCodec(t *testing.T) {
	src := &plan.Source{Docs: 10, Lists: []plan.List{{Codec: codec.Raw}, {Codec: 200}}}
	if s, err := New(nil, src, nil); s != nil || !errors.Is(err, plan.ErrUnsupported) {
		t.Errorf("a list of codec 200: %v", err)
	}
}
