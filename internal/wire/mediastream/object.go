package mediastream

import "bytes"

// object reads the members of a JSON object without allocating. It accepts a superset of JSON:
// what matters is decoded from the members afterwards.
type object struct {
	rest        []byte // behind the last member that was read
	name, value []byte // of the last member that was read; the text between the quotes of the name
	bad         bool   // the text is not an object
}

// openObject returns the object that data contains.
func openObject(data []byte) object {
	data = bytes.TrimLeft(data, space)
	if len(data) == 0 || data[0] != '{' {
		return object{bad: true}
	}
	return object{rest: data[1:]}
}

const space = " \t\r\n"

// next reads the next member and reports whether there is one. If the text is malformed, it sets
// bad and returns false.
func (o *object) next() bool {
	rest := bytes.TrimLeft(o.rest, space)
	if o.bad || len(rest) == 0 {
		o.bad = true
		return false
	}
	if rest[0] == '}' {
		o.rest = rest
		return false
	}
	if rest[0] == ',' {
		rest = bytes.TrimLeft(rest[1:], space)
	}
	n := text(rest)
	if n == 0 {
		o.bad = true
		return false
	}
	name := rest[1 : n-1]
	rest = bytes.TrimLeft(rest[n:], space)
	if len(rest) == 0 || rest[0] != ':' {
		o.bad = true
		return false
	}
	rest = bytes.TrimLeft(rest[1:], space)
	if n = length(rest); n == 0 {
		o.bad = true
		return false
	}
	o.name, o.value, o.rest = name, rest[:n], rest[n:]
	return true
}

// text returns the length of the string at the start of data, with its quotes, or 0.
func text(data []byte) int {
	if len(data) == 0 || data[0] != '"' {
		return 0
	}
	for i := 1; i < len(data); i++ {
		switch data[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return 0
}

// length returns the length of the value at the start of data, or 0.
func length(data []byte) int {
	if len(data) == 0 {
		return 0
	}
	switch data[0] {
	case '"':
		return text(data)
	case '{', '[':
		return nested(data)
	}
	if n := bytes.IndexAny(data, ",}] \t\r\n"); n > 0 {
		return n
	}
	return 0
}

// nested returns the length of the object or array at the start of data, or 0.
func nested(data []byte) int {
	depth := 0
	for i := 0; i < len(data); i++ {
		switch data[i] {
		case '"':
			n := text(data[i:])
			if n == 0 {
				return 0
			}
			i += n - 1
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return 0
}

// inner returns a value without its quotes, if it has any.
func inner(value []byte) []byte {
	if len(value) >= 2 && value[0] == '"' {
		return value[1 : len(value)-1]
	}
	return value
}
