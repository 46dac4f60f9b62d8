package server

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"heddle/engine/api"
	"heddle/engine/server/admit"
	"heddle/engine/server/bodies"
	"heddle/engine/server/problem"
)

// counter is a Changer that notes the memory of the request while it adds.
type counter struct {
	Changer
	account *admit.Account
	most    int64
	bytes   int
}

func (c *counter) Add(_ context.Context, _ string, lines []byte) (*api.DocumentsResponse, error) {
	c.most, c.bytes = max(c.most, c.account.Bytes()), c.bytes+len(lines)
	return &api.DocumentsResponse{}, nil
}

// TestUploadMemory: the parts of an upload count in the memory of the server, up to the addition of each.
func TestUploadMemory(t *testing.T) {
	line := `{"id":"a","text":"` + strings.Repeat("x", 1000) + "\"}\r\n"
	for _, test := range []struct {
		memory int64
		fits   bool
	}{{64 << 20, true}, {6 << 20, false}} {
		account := admit.NewBudget(test.memory).Open("caller")
		ctx := admit.With(t.Context(), account)
		to := &counter{account: account}
		u := &upload{ctx: ctx, to: to, index: "books"}
		body := io.NopCloser(strings.NewReader(strings.Repeat(line, 12_000)))
		err := u.read(&bodies.Reader{ReadCloser: body, Take: taking(ctx)}, 1<<20)
		if !test.fits {
			if limit, ok := errors.AsType[*problem.LimitError](err); !ok || limit.Limit != "memory" {
				t.Errorf("%d bytes of memory: %v", test.memory, err)
			}
			continue
		}
		if err != nil || u.Lines != 12_000 || to.bytes < 12_000*1000 || to.most < uploadPart || to.most > bodies.Growth*(uploadPart+128<<10) {
			t.Errorf("%v, %d lines, %d bytes, at most %d bytes of memory", err, u.Lines, to.bytes, to.most)
		}
		if got := account.Bytes(); got != 0 {
			t.Errorf("%d bytes are not given back", got)
		}
	}
}
