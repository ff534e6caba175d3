package config

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// Position is a position in a file. Line and column count from 1; 0 means unknown.
type Position struct {
	File         string
	Line, Column int
}

// String returns the position as compilers print it: "hocket.yaml:3:5".
func (p Position) String() string {
	s := p.File
	if p.Line > 0 {
		s += ":" + strconv.Itoa(p.Line)
	}
	if p.Column > 0 {
		s += ":" + strconv.Itoa(p.Column)
	}
	return s
}

// Problem is a problem in a file.
type Problem struct {
	Position
	// Key is the key's path ("turn.easyturn.min_silence"), or empty if the problem
	// concerns the file.
	Key string
	// Message describes the problem and what was expected.
	Message string
	// Suggestion is what was probably meant; may be empty.
	Suggestion string
	// Belongs is the file to which the key belongs, if it is another one.
	Belongs string
}

// String returns the problem as one line.
func (p Problem) String() string {
	s := p.Position.String() + ": "
	if p.Key != "" {
		s += p.Key + ": "
	}
	s += p.Message
	if p.Belongs != "" {
		s += ": it belongs in " + p.Belongs
	}
	if p.Suggestion != "" {
		s += "; did you mean " + p.Suggestion + "?"
	}
	return s
}

// Problems is the error of an invalid file: at least one problem, in the order of the
// file.
type Problems []Problem

// Error returns one problem per line.
func (p Problems) Error() string {
	lines := make([]string, len(p))
	for i := range p {
		lines[i] = p[i].String()
	}
	return strings.Join(lines, "\n")
}

// Err returns the problems as an error, sorted by position, or nil if there are none.
func (p Problems) Err() error {
	if len(p) == 0 {
		return nil
	}
	slices.SortStableFunc(p, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return p
}
