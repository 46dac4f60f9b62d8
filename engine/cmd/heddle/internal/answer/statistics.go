package answer

import (
	"bytes"
	"encoding/json"
	"fmt"

	"heddle/engine"
	"heddle/engine/file/auxiliary"
	"heddle/engine/file/input"
	"heddle/engine/syntax"
)

// ReadStatistics reads the statistics of a collection from a JSON file.
func ReadStatistics(path string) (*engine.Statistics, error) {
	text, err := auxiliary.Read(path, 1<<30)
	if err != nil {
		return nil, err
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	st := new(engine.Statistics)
	if err := d.Decode(st); err != nil {
		return nil, fmt.Errorf("%s: %w: statistics: %w", path, input.ErrCorrupt, syntax.JSON(text, err))
	}
	return st, nil
}
