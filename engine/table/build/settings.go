package build

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"heddle/engine/table/binning"
	"heddle/engine/table/column"
)

// ParseSettings parses NAME:KEY=VALUE,… on top of the settings s. The name may
// contain colons.
func ParseSettings(text string, s Settings) (name string, _ Settings, err error) {
	i := strings.LastIndexByte(text, ':')
	if i < 1 {
		return "", s, errors.New("is not NAME:KEY=VALUE,…")
	}
	for _, pair := range strings.Split(text[i+1:], ",") {
		key, value, _ := strings.Cut(pair, "=")
		switch key {
		case "bins":
			s.Bins, err = strconv.Atoi(value)
			if err != nil || s.Bins < 1 || s.Bins > binning.MaxBins {
				err = fmt.Errorf("%q is not a number from 1 to %d", value, binning.MaxBins)
			}
		case "binning":
			s.Binning, err = column.ParseBinning(value)
		case "encoding":
			s.Encoding, err = column.ParseEncoding(value)
		default:
			err = fmt.Errorf("unknown key (one of bins, binning, encoding)")
		}
		if err != nil {
			return "", s, fmt.Errorf("has an invalid %q: %w", key, err)
		}
	}
	return text[:i], s, nil
}
