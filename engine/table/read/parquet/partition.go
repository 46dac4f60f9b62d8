package parquet

import (
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"heddle/engine/table/column"
	"heddle/engine/table/read"
)

// partition is a column whose value is in the names of folders, such as date=2013-01-01.
type partition struct {
	field  read.Field
	values []string // value of the partition of each file
}

// noPartition is the value of a folder of rows without a value, as Hive writes it.
const noPartition = "__HIVE_DEFAULT_PARTITION__"

// partitions finds the columns that the folders of all files name, in the order of the folders of the first file. A column is an
// Int or a Timestamp if all its values are, else a String.
func partitions(paths []string) (all []partition) {
	for i, path := range paths {
		found := map[string]string{}
		for folder := range strings.SplitSeq(filepath.ToSlash(filepath.Dir(path)), "/") {
			name, value, ok := strings.Cut(folder, "=")
			if text, err := url.PathUnescape(value); err == nil {
				value = text
			}
			if !ok || name == "" {
				continue
			}
			if _, twice := found[name]; !twice && i == 0 {
				all = append(all, partition{field: read.Field{Name: name}})
			}
			found[name] = value
		}
		all = slices.DeleteFunc(all, func(p partition) bool { _, ok := found[p.field.Name]; return !ok })
		for k := range all {
			all[k].values = append(all[k].values, found[all[k].field.Name])
		}
	}
	for k := range all {
		p := &all[k]
		p.field.Type = column.String
		for _, t := range []column.Type{column.Timestamp, column.Int} {
			if !slices.ContainsFunc(p.values, func(s string) bool { _, ok := partitionKey(t, s); return s != noPartition && !ok }) {
				p.field.Type = t
			}
		}
	}
	return all
}

// partitionKey is the key of a value of the name of a folder.
func partitionKey(t column.Type, text string) (key uint64, ok bool) {
	if t == column.Timestamp {
		return column.ParseTimestamp(t, text)
	}
	v, ok := column.ParseDecimal(text, column.MaxDecimalDigits, 0)
	return column.IntKey(v.Int64()), ok && (text == "0" || text[0] != '0' && text[0] != '+')
}

// append appends the value of a file to rows.
func (p *partition) append(v *read.Values, file, rows int) {
	text := p.values[file]
	key, _ := partitionKey(p.field.Type, text)
	for range rows {
		switch {
		case text == noPartition:
			v.AppendMissing(p.field.Type)
		case p.field.Type == column.String:
			v.AppendChecked([]byte(text))
		default:
			v.AppendKey(key)
		}
	}
}
