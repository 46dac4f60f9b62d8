package records

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"io"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"heddle/engine/index/build/source"
)

// maxWARCHeader bounds the header of a record in bytes.
const maxWARCHeader = 256 << 10

// cutWARC cuts records that are documents: conversion, as in WET files, response and resource. A
// record becomes its name, "html" or "text", and its body, the first two with a line end behind them. Records
// of other types are skipped; a body that is no text, such as an image, is counted too.
func cutWARC(s *Input, dst []byte) ([]byte, source.Position, error) {
	for {
		at := s.At
		header, err := cutHeader(s)
		if err != nil {
			return dst, at, err
		}
		length, err := strconv.ParseInt(headerValue(header, "Content-Length"), 10, 64)
		if err != nil || length < 0 {
			return dst, at, at.Errorf(s.Path, "a WARC record without a Content-Length")
		}
		if kind := headerValue(header, "WARC-Type"); !slices.Contains([]string{"conversion", "response", "resource"}, strings.ToLower(kind)) {
			if err := s.discard(length); err != nil {
				return dst, at, recordEnd(s, at, err)
			}
			continue
		}
		if length > int64(s.MaxDocument) {
			return dst, at, at.Errorf(s.Path, "a WARC record of %d bytes; at most %d are possible", length, s.MaxDocument)
		}
		block := make([]byte, length)
		if _, err := io.ReadFull(s, block); err != nil {
			return dst, at, recordEnd(s, at, err)
		}
		s.At.Offset += length
		name := recordName(header)
		if name == "" {
			return dst, at, at.Errorf(s.Path, "a WARC record without WARC-TREC-ID, WARC-Target-URI and WARC-Record-ID")
		}
		form, body := textOf(headerValue(header, "Content-Type"), block, s.MaxDocument)
		if form == "" {
			s.Binary++
			continue
		}
		return append(append(dst, name+"\n"+form+"\n"...), body...), at, nil
	}
}

// recordName is the name of a record: the WARC-TREC-ID, as in ClueWeb, else the address, else the
// WARC-Record-ID.
func recordName(header []byte) string {
	for _, field := range []string{"WARC-TREC-ID", "WARC-Target-URI", "WARC-Record-ID"} {
		if name := strings.Trim(headerValue(header, field), "<>"); name != "" {
			return name
		}
	}
	return ""
}

// parseWARC reads a record of cutWARC.
func parseWARC(record []byte, _ source.Position, d *Document) error {
	name, rest, _ := bytes.Cut(record, []byte("\n"))
	form, body, _ := bytes.Cut(rest, []byte("\n"))
	d.Name, d.Text = name, body
	if string(form) == "html" {
		d.scratch = appendMarkup(d.scratch[:0], body)
		d.Text = d.scratch
	}
	return nil
}

// cutHeader returns the lines of the next header. io.EOF: no record is left.
func cutHeader(s *Input) (header []byte, err error) {
	at := s.At
	for {
		start := len(header)
		header, err = s.Delimited(header, '\n', maxWARCHeader)
		line := bytes.TrimRight(header[start:], "\r\n")
		switch {
		case err == source.ErrTooLong:
			return nil, at.Errorf(s.Path, "a WARC header of more than %d bytes", maxWARCHeader)
		case err == io.EOF && start > 0:
			return nil, at.Errorf(s.Path, "truncated: a WARC header without its end")
		case err != nil:
			return nil, err
		case start == 0 && len(line) == 0: // between records
			header, at = header[:0], s.At
		case start == 0 && !bytes.HasPrefix(line, []byte("WARC/")):
			return nil, at.Errorf(s.Path, "no WARC record: it begins with %.40q, not with WARC/", line)
		case len(line) == 0:
			return header, nil
		}
	}
}

// recordEnd explains an error within a record.
func recordEnd(s *Input, at source.Position, err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return at.Errorf(s.Path, "truncated: a WARC record is cut off")
	}
	return s.Fail(err)
}

// discard skips bytes.
func (s *Input) discard(length int64) error {
	n, err := io.CopyN(io.Discard, s, length)
	s.At.Offset += n
	return err
}

// headerValue is the value of a field of a header, or of the last one with this name.
func headerValue(header []byte, name string) (value string) {
	for line := range bytes.Lines(header) {
		key, rest, found := bytes.Cut(line, []byte(":"))
		if found && strings.EqualFold(string(bytes.TrimSpace(key)), name) {
			value = string(bytes.TrimSpace(rest))
		}
	}
	return value
}

// textOf returns the form of a block, html or text, and its text; an empty form if it is no text.
func textOf(kind string, block []byte, limit int) (form string, body []byte) {
	body = block
	if strings.HasPrefix(strings.ToLower(kind), "application/http") || bytes.HasPrefix(block, []byte("HTTP/")) {
		kind, body = httpBody(block, limit)
	}
	media, _, _ := mime.ParseMediaType(kind)
	switch {
	case strings.Contains(media, "html") || strings.HasSuffix(media, "xml") || media == "" && bytes.HasPrefix(bytes.TrimSpace(body), []byte("<")):
		return "html", body
	case media == "" || strings.HasPrefix(media, "text/") || strings.HasSuffix(media, "json"):
		return "text", body
	}
	return "", nil
}

// httpBody splits a reply of HTTP into the type and the content of its body. A body that a crawler cut off,
// or has unpacked already, stays as it is.
func httpBody(block []byte, limit int) (kind string, body []byte) {
	head, body, found := bytes.Cut(block, []byte("\r\n\r\n"))
	if !found {
		head, body, _ = bytes.Cut(block, []byte("\n\n"))
	}
	kind = headerValue(head, "Content-Type")
	reply, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(block)), nil)
	if err != nil { // servers of old crawls break the rules
		return kind, body
	}
	defer reply.Body.Close()
	var in io.Reader = reply.Body
	if strings.EqualFold(reply.Header.Get("Content-Encoding"), "gzip") && bytes.HasPrefix(body, []byte("\x1f\x8b")) {
		if in, err = gzip.NewReader(in); err != nil {
			return kind, body
		}
	}
	if read, _ := io.ReadAll(io.LimitReader(in, int64(limit))); len(read) > 0 {
		body = read
	}
	return kind, body
}

// appendMarkup appends the text of HTML or XML.
func appendMarkup(dst, b []byte) []byte {
	for len(b) > 0 {
		open := bytes.IndexByte(b, '<')
		if open < 0 {
			open = len(b)
		}
		dst, b = appendText(dst, b[:open]), b[open:]
		n := markup(b)
		if n == 0 { // a < that is none
			n = min(1, len(b))
			dst, b = append(dst, b[:n]...), b[n:]
			continue
		}
		name := string(bytes.ToUpper(tagName(b)))
		dst, b = append(dst, ' '), b[n:]
		if name == "SCRIPT" || name == "STYLE" {
			_, b, _ = element(b, name)
		}
	}
	return dst
}

// IsWARC reports whether an input begins with a record of a web archive, as WARC and WET files do.
func IsWARC(head []byte) bool { return bytes.HasPrefix(head, []byte("WARC/")) }
