package read

// BeginList begins a row of a multi-valued column, whose values are appended to Elements. Its answer is
// for EndList.
func (v *Values) BeginList() (first int) {
	if v.Elements == nil {
		v.Elements = &Values{}
	}
	return v.Elements.len()
}

// EndList ends the row that BeginList has begun.
func (v *Values) EndList(first int) { v.Counts = append(v.Counts, uint32(v.Elements.len()-first)) }

// LeaveOut counts a missing value of a row between BeginList and EndList, which is left out.
func (v *Values) LeaveOut() { v.nulls++ }

// MarkInvalid notes that a text of the row between BeginList and EndList is not UTF-8.
func (v *Values) MarkInvalid() { v.invalid = append(v.invalid, len(v.Counts)) }

// Invalids is the number of texts that are not UTF-8.
func (v *Values) Invalids() int { return len(v.invalid) }

// len is the number of values.
func (v *Values) len() int { return max(len(v.Keys), len(v.Ends)) }

// elementsOf gives the places in Elements of the values of rows, which ascend.
func (v *Values) elementsOf(rows []int) (places []int) {
	at := 0
	for row, n := range v.Counts {
		for i := range int(n) {
			if len(rows) > 0 && rows[0] == row {
				places = append(places, at+i)
			}
		}
		if len(rows) > 0 && rows[0] == row {
			rows = rows[1:]
		}
		at += int(n)
	}
	return places
}
