package fetch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"

	"heddle/engine/file/shared"
)

// open opens a file of a source at a position. skipped is false if the reader begins at the start
// of the file all the same.
func (c *Client) open(ctx context.Context, file File, source string, at uint64) (body io.ReadCloser, skipped bool, err error) {
	if !strings.HasPrefix(source, "http://") && !strings.HasPrefix(source, "https://") {
		return openLocal(file, source, at)
	}
	// A node knows its files by checksum, another web server by name.
	err = errors.New("no address")
	for _, name := range []string{file.SHA256, file.Name} {
		var found bool
		if body, skipped, found, err = c.get(ctx, strings.TrimSuffix(source, "/")+"/"+url.PathEscape(name), at); found {
			break
		}
	}
	return body, skipped, err
}

// get sends one request. found is false if the server does not know the address.
func (c *Client) get(ctx context.Context, address string, at uint64) (body io.ReadCloser, skipped, found bool, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, false, true, err
	}
	// A compressed answer would have other positions.
	req.Header.Set("Accept-Encoding", "identity")
	if at > 0 {
		req.Header.Set("Range", "bytes="+strconv.FormatUint(at, 10)+"-")
	}
	answer, err := cmp.Or(c.HTTP, http.DefaultClient).Do(req)
	if err != nil {
		return nil, false, true, err
	}
	switch {
	case answer.StatusCode == http.StatusOK:
		return answer.Body, at == 0, true, nil
	case at > 0 && answer.StatusCode == http.StatusPartialContent:
		if begin := fmt.Sprintf("bytes %d-", at); strings.HasPrefix(answer.Header.Get("Content-Range"), begin) {
			return answer.Body, true, true, nil
		}
		err = fmt.Errorf("%s: the server sent the range %q, not the bytes from %d", address, answer.Header.Get("Content-Range"), at)
	default:
		err = fmt.Errorf("%s: the server answered %s", address, answer.Status)
	}
	return nil, false, answer.StatusCode != http.StatusNotFound, errors.Join(err, answer.Body.Close())
}

func openLocal(file File, folder string, at uint64) (io.ReadCloser, bool, error) {
	f, err := shared.Open(filepath.Join(folder, filepath.Base(file.Name)))
	if err != nil {
		return nil, false, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is no regular file", f.Name())
	}
	if err == nil {
		_, err = f.Seek(int64(at), io.SeekStart)
	}
	if err != nil {
		return nil, false, errors.Join(err, f.Close())
	}
	return f, true, nil
}
