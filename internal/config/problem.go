package config

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// Position is a place in a file. Line and column count from 1; zero is unknown.
type Position struct {
	File         string
	Line, Column int
}

// String is the position as compilers write it: "hocket.yaml:3:5".
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

// Problem is one thing that is wrong with a file.
type Problem struct {
	Position
	// Key is the key's path ("turn.easyturn.min_silence"), empty if the problem
	// is the file's.
	Key string
	// Message says what is wrong and what was expected.
	Message string
	// Suggestion is what was probably meant, if that can be told.
	Suggestion string
	// Belongs is the file that the key belongs in, if it is another.
	Belongs string
}

// String is the problem on one line.
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

// Problems is the error of a file that is wrong: at least one problem, in the
// order of the file.
type Problems []Problem

// Error has one problem on each line.
func (p Problems) Error() string {
	lines := make([]string, len(p))
	for i := range p {
		lines[i] = p[i].String()
	}
	return strings.Join(lines, "\n")
}

// Err is the problems as an error, in the order of the file; nil if there are
// none.
func (p Problems) Err() error {
	if len(p) == 0 {
		return nil
	}
	slices.SortStableFunc(p, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return p
}
