package read

// rows is the number of rows with a value or without one.
func (v *Values) rows() int { return max(v.len(), len(v.Counts)) }

// AppendNone appends a row without a value.
func (v *Values) AppendNone(f Field) {
	if f.List {
		v.EndList(v.BeginList())
	} else {
		v.AppendMissing(f.Type)
	}
}

// AppendUnfit appends a row whose value does not fit the column, for Treatment. The row has no value; values of it
// behind BeginList are dropped.
func (v *Values) AppendUnfit(f Field) {
	if f.List && v.Elements != nil {
		v.Elements.cut(v.elements(len(v.Counts)))
	}
	v.unfit = append(v.unfit, v.rows())
	v.AppendNone(f)
}

// AppendCut appends the start of a text that is too long.
func (v *Values) AppendCut(s []byte) {
	v.unfit = append(v.unfit, v.rows())
	v.AppendChecked(s)
}

// Truncate drops the values of a row that is not complete.
func (b *Batch) Truncate() {
	for i := range b.Columns {
		b.Columns[i].cut(b.Rows)
	}
}

// elements is the number of values in Elements of the first rows.
func (v *Values) elements(rows int) (n int) {
	for _, count := range v.Counts[:rows] {
		n += int(count)
	}
	return n
}

// cut drops all but the first rows.
func (v *Values) cut(rows int) {
	if v.Elements != nil && len(v.Counts) >= rows {
		v.Elements.cut(v.elements(rows))
	}
	v.Counts = v.Counts[:min(len(v.Counts), rows)]
	v.Keys = v.Keys[:min(len(v.Keys), rows)]
	if len(v.Ends) > rows {
		end := uint32(0)
		if rows > 0 {
			end = v.Ends[rows-1]
		}
		v.Ends, v.Text = v.Ends[:rows], v.Text[:end]
	}
	v.Missing = v.Missing[:min(len(v.Missing), rows)]
	for _, marked := range []*[]int{&v.invalid, &v.unfit} {
		for n := len(*marked); n > 0 && (*marked)[n-1] >= rows; n-- {
			*marked = (*marked)[:n-1]
		}
	}
}
