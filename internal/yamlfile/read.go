package yamlfile

import (
	"bytes"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// Limits are the limits of a text.
type Limits struct {
	Bytes int
	Lines int // 0 means no limit
	Depth int // of nesting
}

// Error is the error of a text that is not YAML or exceeds a limit.
type Error struct {
	Line, Column int // from 1; 0 if unknown
	Message      string
}

// Error returns the message without the position.
func (e *Error) Error() string { return e.Message }

// Read parses a text and returns the documents that are not empty. The error is of type
// [*Error].
func Read(data []byte, limits Limits) ([]Node, error) {
	if err := check(data, limits); err != nil {
		return nil, err
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff")) // written by some editors on Windows
	file, err := parse(data)
	if err != nil {
		e := &Error{Message: "invalid YAML: " + syntax("")}
		if told, ok := errors.AsType[yaml.Error](err); ok {
			e.Message = "invalid YAML: " + syntax(told.GetMessage())
			e.Line, e.Column = place(told.GetToken())
		}
		return nil, e
	}
	r := reader{depth: limits.Depth}
	var docs []Node
	for _, doc := range file.Docs {
		if doc != nil && doc.Body != nil {
			docs = append(docs, r.node(doc.Body, 0))
		}
	}
	if r.tooDeep > 0 {
		return nil, tooDeep(r.tooDeep, limits)
	}
	return docs, nil
}

// check refuses texts that the parser must not read.
func check(data []byte, limits Limits) error {
	if len(data) > limits.Bytes {
		return &Error{Message: fmt.Sprintf("the file has %d bytes: expected at most %d", len(data), limits.Bytes)}
	}
	if n := bytes.Count(data, []byte("\n")); limits.Lines > 0 && n > limits.Lines {
		return &Error{Message: fmt.Sprintf("the file has %d lines: expected at most %d", n, limits.Lines)}
	}
	if !utf8.Valid(data) {
		good := 0
		for r, n := utf8.DecodeRune(data); r != utf8.RuneError || n != 1; r, n = utf8.DecodeRune(data[good:]) {
			good += n
		}
		return &Error{Line: 1 + bytes.Count(data[:good], []byte("\n")), Message: "the file must be UTF-8 text"}
	}
	if line := deepLine(data, limits.Depth); line > 0 {
		return tooDeep(line, limits)
	}
	return nil
}

func tooDeep(line int, limits Limits) error {
	return &Error{Line: line, Column: 1, Message: fmt.Sprintf("nested too deeply: expected at most %d levels", limits.Depth)}
}

// deepLine returns the line on which brackets or marks are nested too deeply, or 0. The
// parser is recursive, and a stack overflow cannot be recovered. Quotes are not
// considered.
func deepLine(data []byte, most int) int {
	open, line := 0, 0
	for text := range bytes.Lines(data) {
		line++
		marks := 0 // in "- - - a" each opens a level on the same line
		for i, b := range text {
			switch b {
			case '[', '{':
				open++
			case ']', '}':
				open = max(0, open-1)
			case '!', '&':
				if i == 0 || text[i-1] <= ' ' {
					marks++
				}
			case '-', '?', ':':
				if i+1 == len(text) || text[i+1] <= ' ' {
					marks++
				}
			}
			if open > most || marks > most {
				return line
			}
		}
	}
	return 0
}

// parse calls the YAML library, which panics for some texts that are not YAML.
func parse(data []byte) (file *ast.File, err error) {
	defer func() {
		if recover() != nil {
			file, err = nil, errors.New("the text cannot be parsed")
		}
	}()
	return parser.ParseBytes(data, 0, parser.AllowDuplicateMapKey())
}

func place(t *token.Token) (line, column int) {
	if t == nil || t.Position == nil {
		return 0, 0
	}
	return t.Position.Line, t.Position.Column
}
