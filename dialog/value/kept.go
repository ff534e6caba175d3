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

// This file converts values to their stored form and compares them.

const maxCanonDepth = 20

// Canonical converts a value to the form in which values are stored: string, bool, int64,
// float64 that is not a whole number, []any, map[string]any or nil. Such values decode from
// JSON as they were encoded.
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
	data, err := json.Marshal(v) // a type of the program
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

// Number converts a number to the form in which numbers are stored: int64 if it is whole,
// so that it decodes from JSON as it was encoded.
func Number(f float64) any {
	if f > -1<<63 && f < 1<<63 && f == float64(int64(f)) {
		return int64(f)
	}
	return f
}

// Length returns the number of characters of a text, of items of a list or of fields of a
// map, and 0 for any other value.
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

// ToNumber converts a number, or a text that contains one.
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

// Equal reports whether two stored values are equal. A number equals its text.
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
