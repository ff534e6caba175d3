package value

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// This file: values as they are kept, and compared.

const maxCanonDepth = 20

// Canonical is the form in which values are kept: string, bool, int64, float64 that
// is no whole number, []any, map[string]any, nil. A state that holds only these
// reads back from JSON as it was.
func Canonical(v any) any { return canonAt(v, 0) }

func canonAt(v any, depth int) any {
	if depth > maxCanonDepth {
		return nil
	}
	switch v := v.(type) {
	case nil, bool, int64:
		return v
	case string:
		return strings.ToValidUTF8(v, "\uFFFD")
	case int:
		return int64(v)
	case int32:
		return int64(v)
	case float32:
		return Number(float64(v))
	case float64:
		if v != v || v > 1e300 || v < -1e300 {
			return nil
		}
		return Number(v)
	case json.Number:
		if i, err := v.Int64(); err == nil {
			return i
		}
		f, err := v.Float64()
		if err != nil {
			return v.String()
		}
		return Number(f)
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = canonAt(v[i], depth+1)
		}
		return out
	case []string:
		out := make([]any, len(v))
		for i := range v {
			out[i] = v[i]
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for k := range v {
			out[k] = canonAt(v[k], depth+1)
		}
		return out
	case map[string]string:
		out := make(map[string]any, len(v))
		for k := range v {
			out[k] = v[k]
		}
		return out
	case time.Time:
		return v.Format(time.RFC3339)
	}
	data, err := json.Marshal(v) // another type of the program: by its JSON
	if err != nil {
		return fmt.Sprintf("%T", v)
	}
	var out any
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	if err := d.Decode(&out); err != nil {
		return fmt.Sprintf("%T", v)
	}
	return canonAt(out, depth+1)
}

// Number is the form in which numbers are kept: int64 if whole, so that a
// state reads back from JSON as it was.
func Number(f float64) any {
	if f > -1<<63 && f < 1<<63 && f == float64(int64(f)) {
		return int64(f)
	}
	return f
}

// Length counts the characters of a text, the items of a list, the fields of a map;
// it is 0 for any other value.
func Length(v any) int {
	switch v := v.(type) {
	case string:
		return utf8.RuneCountInString(v)
	case []any:
		return len(v)
	case map[string]any:
		return len(v)
	default:
		return 0
	}
}

// ToNumber reads a number or the text of one.
func ToNumber(v any) (float64, bool) {
	switch v := v.(type) {
	case int64:
		return float64(v), true
	case float64:
		return v, true
	case int:
		return float64(v), true
	case string:
		f, err := strconv.ParseFloat(v, 64)
		return f, err == nil && !math.IsNaN(f) && !math.IsInf(f, 0)
	default:
		return 0, false
	}
}

// Equal reports whether two kept values are the same. A number equals the text of the
// number.
func Equal(a, b any) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	if x, ok := ToNumber(a); ok {
		if y, ok := ToNumber(b); ok {
			_, sa := a.(string)
			_, sb := b.(string)
			return x == y && !(sa && sb && a != b)
		}
	}
	switch x := a.(type) {
	case string:
		y, ok := b.(string)
		return ok && x == y
	case bool:
		y, ok := b.(bool)
		return ok && x == y
	case []any:
		y, ok := b.([]any)
		if !ok || len(x) != len(y) {
			return false
		}
		for i := range x {
			if !Equal(x[i], y[i]) {
				return false
			}
		}
		return true
	}
	return false
}
