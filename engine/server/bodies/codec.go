package bodies

import (
	"bytes"
	"context"
	"io"
	"strings"
	"unicode/utf8"

	"connectrpc.com/connect/v2"
	"connectrpc.com/connect/v2/connectproto"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"heddle/engine/api"
	"heddle/engine/syntax"
)

// TakeFor is Take for the request of a context.
type TakeFor func(ctx context.Context, bytes int64) error

// Codecs returns the codecs of Connect for protocol buffers and JSON, which count the memory of a message
// before they decode it.
func Codecs(take TakeFor) []connect.Codec {
	return []connect.Codec{
		&codec{Codec: connectproto.NewBinaryCodec(), take: take, weigh: func(text []byte, m proto.Message) (int64, error) {
			return weigh(text, m.ProtoReflect().Descriptor(), 0), nil
		}},
		&codec{Codec: connectproto.NewJSONCodec(), take: take, weigh: func(text []byte, _ proto.Message) (int64, error) {
			return syntax.CheckJSON(text, nil)
		}},
	}
}

type codec struct {
	connect.Codec
	take  TakeFor
	weigh func(text []byte, m proto.Message) (int64, error)
}

// MarshalWrite implements connect.Codec. Bytes of a text that are not UTF-8, such as of a term of an index in another encoding,
// become U+FFFD, as in the plain HTTP routes.
func (c *codec) MarshalWrite(ctx context.Context, dst io.Writer, msg any) error {
	switch m := msg.(type) {
	case *api.SearchResponse, *api.SearchBatchResponse, *api.MatchResponse: // they have many numbers
		if c.Name() != connect.CodecNameJSON {
			break
		}
		var room []byte
		if b, ok := dst.(interface{ AvailableBuffer() []byte }); ok {
			room = b.AvailableBuffer()
		}
		_, err := dst.Write(api.AppendProtoJSON(room, m.(proto.Message)))
		return err
	}
	err := c.Codec.MarshalWrite(ctx, dst, msg)
	if m, ok := msg.(proto.Message); ok && err != nil {
		if m = proto.Clone(m); repair(m.ProtoReflect()) {
			return c.Codec.MarshalWrite(ctx, dst, m)
		}
	}
	return err
}

// repair puts U+FFFD into the texts of a message for bytes that are not UTF-8, and tells whether there were any.
func repair(m protoreflect.Message) (found bool) {
	valid := func(v protoreflect.Value) (protoreflect.Value, bool) {
		if inner, ok := v.Interface().(protoreflect.Message); ok {
			found = repair(inner) || found
		} else if text, ok := v.Interface().(string); ok && !utf8.ValidString(text) {
			found = true
			return protoreflect.ValueOfString(strings.ToValidUTF8(text, "\uFFFD")), true
		}
		return v, false
	}
	m.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		if !f.IsList() { // the definition has no maps in answers
			if v, changed := valid(v); changed {
				m.Set(f, v)
			}
			return true
		}
		for i := range v.List().Len() {
			if one, changed := valid(v.List().Get(i)); changed {
				v.List().Set(i, one)
			}
		}
		return true
	})
	return found
}

// UnmarshalRead implements connect.Codec.
func (c *codec) UnmarshalRead(ctx context.Context, src io.Reader, msg any) error {
	m, ok := msg.(proto.Message)
	if !ok {
		return c.Codec.UnmarshalRead(ctx, src, msg)
	}
	buffer, ok := src.(*bytes.Buffer)
	if !ok {
		buffer = new(bytes.Buffer)
		if _, err := buffer.ReadFrom(src); err != nil {
			return err
		}
	}
	n, err := c.weigh(buffer.Bytes(), m)
	if err != nil {
		return err
	}
	if err := c.take(ctx, int64(buffer.Len())+n); err != nil {
		return err
	}
	return c.Codec.UnmarshalRead(ctx, buffer, msg)
}

const (
	messageBytes = 256 // a message and its place in a list
	valueBytes   = 32  // a text or a number and its place in a list
	mostDepth    = 100
)

// weigh estimates the memory of a message from its encoding.
func weigh(text []byte, d protoreflect.MessageDescriptor, depth int) (n int64) {
	for len(text) > 0 && depth < mostDepth {
		number, kind, size := protowire.ConsumeTag(text)
		if size < 0 {
			return n // the decoder reports the fault
		}
		text = text[size:]
		if size = protowire.ConsumeFieldValue(number, kind, text); size < 0 {
			return n
		}
		f := d.Fields().ByNumber(number)
		switch {
		case kind != protowire.BytesType || f == nil:
			n += valueBytes
		case f.Message() != nil:
			inner, _ := protowire.ConsumeBytes(text)
			n += messageBytes + weigh(inner, f.Message(), depth+1)
		case f.IsPacked():
			n += 16 * int64(size) // numbers of a byte become numbers of eight
		default:
			n += valueBytes + int64(size)
		}
		text = text[size:]
	}
	return n
}
