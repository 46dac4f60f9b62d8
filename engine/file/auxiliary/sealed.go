package auxiliary

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
)

var zeros = strings.Repeat("0", 2*sha256.Size)

// Seal returns the object v as lines of JSON with one more member at the end, checksum: the SHA-256
// of the text in hexadecimal, with zeros in place of these 64 digits.
func Seal(v any) ([]byte, error) {
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return nil, err
	}
	data = fmt.Appendf(bytes.TrimSuffix(data, []byte("\n}")), ",\n  \"checksum\": %q\n}\n", zeros)
	sum := sha256.Sum256(data)
	hex.Encode(data[bytes.LastIndex(data, []byte(zeros)):], sum[:])
	return data, nil
}

// Unseal reads JSON of Seal into v and compares the checksum. A text without a checksum, of an earlier
// version or by hand, has only members of v.
func Unseal(data []byte, v any) error {
	var seal struct {
		Checksum string `json:"checksum"`
	}
	if err := json.Unmarshal(data, &seal); err != nil {
		return err
	}
	if seal.Checksum == "" {
		d := json.NewDecoder(bytes.NewReader(data))
		d.DisallowUnknownFields()
		return d.Decode(v)
	}
	plain := bytes.Clone(data)
	if at := bytes.LastIndex(data, []byte(seal.Checksum)); len(seal.Checksum) == len(zeros) && at >= 0 {
		copy(plain[at:], zeros)
	}
	if sum := sha256.Sum256(plain); hex.EncodeToString(sum[:]) != seal.Checksum {
		return fmt.Errorf("checksum is %.64q, the content has %x: the file is damaged; after a change by hand remove the member checksum", seal.Checksum, sum)
	}
	return json.Unmarshal(data, v)
}
