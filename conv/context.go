package conv

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/hocketvoice/hocket/dialog"
)

// This file handles data that the client and the tools of a conversation set and read. The
// active files, the user's preferences and the work in progress survive a lost connection.
// Source: seed 001, 4.8 (context preservation).

// Limits of a [Context]. Each checkpoint and each request to a model contains all of it.
const (
	maxContextEntries = 64       // entries in each section
	maxContextName    = 200      // bytes in the name of an entry
	maxContextBytes   = 16 << 10 // bytes in all names and values together
	maxContextDepth   = 32       // levels of nested JSON values
	maxContextChanges = 32 << 10 // bytes of changes that are read at once
)

// Context is data about the conversation that its client and its tools set
// ([ContextSet]): the files that are in use and the user's preferences, each an entry with
// a name and a JSON value. A Context and its maps must not be changed; [Context.With]
// returns a changed one.
type Context struct {
	Files       map[string]json.RawMessage `json:"files,omitempty"`
	Preferences map[string]json.RawMessage `json:"preferences,omitempty"`
}

// The sections of a context.
const (
	sectionFiles       = "files"
	sectionPreferences = "preferences"
	sectionOperations  = "operations"
)

// section returns the entries of the named section, or nil if the name is unknown.
func (x *Context) section(name string) *map[string]json.RawMessage {
	switch name {
	case sectionFiles:
		return &x.Files
	case sectionPreferences:
		return &x.Preferences
	default:
		return nil
	}
}

// sections returns the entries of all sections.
func (x *Context) sections() [2]*map[string]json.RawMessage {
	return [...]*map[string]json.RawMessage{&x.Files, &x.Preferences}
}

// With returns a context with changes. They are a JSON object that may have the members
// "files" and "preferences", each an object of entries. An entry replaces the one with the
// same name. The value null removes an entry or, as the value of a section, all of its
// entries. With returns x and an error if the changes are invalid or exceed a limit.
func (x Context) With(changes string) (Context, error) {
	if n := len(changes); n > maxContextChanges {
		return x, fmt.Errorf("the changes have %d bytes: expected at most %d", n, maxContextChanges)
	}
	if !utf8.ValidString(changes) {
		return x, errors.New("the context must be valid UTF-8")
	}
	if err := checkJSON(changes); err != nil {
		return x, err
	}
	var sections map[string]json.RawMessage
	if err := json.Unmarshal([]byte(changes), &sections); err != nil || sections == nil {
		return x, errors.New("the context must be a JSON object with the members files and preferences")
	}
	next := x
	for _, name := range slices.Sorted(maps.Keys(sections)) {
		if name == sectionOperations {
			return x, errors.New("operations cannot be set: they are the work that the conversation does")
		}
		section := next.section(name)
		if section == nil {
			return x, fmt.Errorf("unknown section %q: expected files or preferences", name)
		}
		var entries map[string]json.RawMessage
		if err := json.Unmarshal(sections[name], &entries); err != nil {
			return x, fmt.Errorf("%s must be a JSON object of entries, or null", name)
		}
		var err error
		if *section, err = withEntries(*section, entries); err != nil {
			return x, fmt.Errorf("%s: %w", name, err)
		}
	}
	if err := next.check(); err != nil {
		return x, err
	}
	return next, nil
}

// withEntries returns a copy of entries with changes; changes that are nil remove all.
func withEntries(entries, changes map[string]json.RawMessage) (map[string]json.RawMessage, error) {
	if changes == nil {
		return nil, nil
	}
	next := maps.Clone(entries)
	for _, name := range slices.Sorted(maps.Keys(changes)) {
		if n := len(name); n == 0 || n > maxContextName {
			return nil, fmt.Errorf("the name of an entry has %d bytes: expected 1 to %d", n, maxContextName)
		}
		if isNull(changes[name]) {
			delete(next, name)
			continue
		}
		if next == nil {
			next = make(map[string]json.RawMessage, len(changes))
		}
		value, err := oneForm(changes[name])
		if err != nil {
			return nil, fmt.Errorf("entry %q: %w", name, err)
		}
		next[name] = value
	}
	if len(next) == 0 {
		return nil, nil
	}
	return next, nil
}

// read returns a context as it was before it was written to a snapshot, which escapes
// more.
func (x Context) read() Context {
	for _, section := range x.sections() {
		entries := make(map[string]json.RawMessage, len(*section))
		for name, value := range *section { // order: each by itself
			if form, err := oneForm(value); err == nil && !isNull(value) {
				entries[name] = form
			}
		}
		if *section = entries; len(entries) == 0 {
			*section = nil
		}
	}
	return x
}

// oneForm returns a JSON value in the one form that a context keeps of it: spaces, escapes
// and the order of names make no difference.
func oneForm(value json.RawMessage) (json.RawMessage, error) {
	d := json.NewDecoder(bytes.NewReader(value))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	if d.More() {
		return nil, errors.New("more than one JSON value")
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

func isNull(value json.RawMessage) bool { return string(bytes.TrimSpace(value)) == "null" }

// check returns an error if the context exceeds the limits.
func (x *Context) check() error {
	size := 0
	for i, section := range x.sections() {
		if n := len(*section); n > maxContextEntries {
			return fmt.Errorf("%s would have %d entries: expected at most %d", [...]string{sectionFiles, sectionPreferences}[i], n, maxContextEntries)
		}
		for name, value := range *section { // order: a sum
			size += len(name) + len(value)
		}
	}
	if size > maxContextBytes {
		return fmt.Errorf("the context would have %d bytes: expected at most %d", size, maxContextBytes)
	}
	return nil
}

// Empty reports whether the context has no entries.
func (x *Context) Empty() bool { return len(x.Files) == 0 && len(x.Preferences) == 0 }

// Equal reports whether two contexts have the same entries.
func (x *Context) Equal(y *Context) bool {
	same := func(a, b json.RawMessage) bool { return bytes.Equal(a, b) }
	return maps.EqualFunc(x.Files, y.Files, same) && maps.EqualFunc(x.Preferences, y.Preferences, same)
}

// checkJSON returns an error unless text is one JSON value that is not too deep and in
// which no object has two members of one name: readers differ on which of them counts.
func checkJSON(text string) error {
	d := json.NewDecoder(bytes.NewReader([]byte(text)))
	d.UseNumber()
	var open nesting
	for {
		token, err := d.Token()
		switch {
		case errors.Is(err, io.EOF) && len(open) == 0:
			return errors.New("the context is empty: expected a JSON object")
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			return errors.New("the JSON of the context ends early")
		case err != nil:
			return fmt.Errorf("the context is not valid JSON: %w", err)
		}
		if err := open.take(token); err != nil {
			return err
		}
		if len(open) == 0 {
			break
		}
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("the context must be one JSON object: more follows it")
	}
	return nil
}

// nesting is the objects and arrays of a JSON text that are open, the outermost first.
type nesting []level

// level is an open object or array.
type level struct {
	names map[string]bool // of an object; nil: it is an array
	value bool            // a name was read: its value follows
}

// take takes the next token. It returns an error if the token opens too deep a level or repeats a
// name.
func (n *nesting) take(token json.Token) error {
	var top *level
	if depth := len(*n); depth > 0 {
		top = &(*n)[depth-1]
	}
	if name, ok := token.(string); ok && top != nil && top.names != nil && !top.value {
		if top.names[name] {
			return fmt.Errorf("the name %q stands twice in one JSON object", cutRunes(name, maxContextName))
		}
		top.names[name], top.value = true, true
		return nil
	}
	if token == json.Delim('}') || token == json.Delim(']') {
		*n = (*n)[:len(*n)-1]
		return nil
	}
	if top != nil {
		top.value = false
	}
	switch token {
	case json.Delim('{'), json.Delim('['):
		if len(*n) == maxContextDepth {
			return fmt.Errorf("the JSON of the context has more than %d levels", maxContextDepth)
		}
		var inner level
		if token == json.Delim('{') {
			inner.names = map[string]bool{}
		}
		*n = append(*n, inner)
	default:
		// A value without levels.
	}
	return nil
}

// handleContextSet changes the context, in every phase but Terminating. It changes nothing
// else.
func (s *State) handleContextSet(out *Output, e ContextSet) {
	if s.Phase == Terminating {
		out.emit(Reject{Code: "no_conversation"})
		return
	}
	next, err := s.Context.With(e.Data)
	if err != nil {
		out.emit(Reject{Code: CodeContextRefused})
		return
	}
	s.Context, s.changed = next, true // also if next is equal, because the context with secrets hidden may differ
}

// CodeContextRefused is the code of the [Reject] for a [ContextSet] with which [Context.With]
// returns an error.
const CodeContextRefused = "context.refused"

// ContextView is the context of a conversation together with the work in progress, which
// cannot be set.
type ContextView struct {
	Context

	Operations []Operation `json:"operations,omitempty"`
}

// Operation is work in progress: something that the conversation waits for or has not told
// yet.
type Operation struct {
	Kind  OperationKind `json:"kind"`
	ID    string        `json:"id,omitempty"`   // id of the call, with which [UserCancel] cancels delegated work
	Name  string        `json:"name,omitempty"` // name of the tool, or of the step of the flow that asks
	Since time.Time     `json:"since,omitzero"` // when the call was started
}

// OperationKind says what an [Operation] waits for.
type OperationKind string

// The kinds of operations.
const (
	OperationTool         OperationKind = "tool"         // a tool runs
	OperationTask         OperationKind = "task"         // delegated work runs
	OperationConfirmation OperationKind = "confirmation" // the user is asked for a yes
	OperationResult       OperationKind = "result"       // a result has come and has not been told
)

// OperationKinds returns all kinds of operations.
func OperationKinds() []string {
	return []string{string(OperationTool), string(OperationTask), string(OperationConfirmation), string(OperationResult)}
}

// ContextView returns the context and the work in progress.
func (s *State) ContextView() ContextView {
	return ContextView{s.Context, s.operations()}
}

// operations returns the work in progress.
func (s *State) operations() []Operation {
	var list []Operation
	for i := range s.Calls {
		call := &s.Calls[i]
		kind := OperationTool
		if call.Long {
			kind = OperationTask
		}
		list = append(list, Operation{kind, call.ID, call.Name, call.Started})
	}
	for i := range s.Consent.Calls {
		list = append(list, Operation{Kind: OperationConfirmation, Name: s.Consent.Calls[i].Name})
	}
	if d := &s.Dialogue; d.Confirmation != nil {
		list = append(list, Operation{Kind: OperationConfirmation, Name: d.Confirmation.Step})
	}
	for _, ids := range [...][]string{s.Pending.Announcing, s.Pending.News} {
		for _, id := range ids {
			list = append(list, Operation{Kind: OperationResult, ID: id, Name: s.History.nameOf(id)})
		}
	}
	return list
}

// hideContext returns a context with the secrets hidden. A value that would not be valid JSON
// with only a part hidden is hidden as a whole.
func (k *mask) hideContext(x Context) Context {
	for _, section := range x.sections() {
		if *section == nil {
			continue
		}
		hidden := make(map[string]json.RawMessage, len(*section))
		for _, name := range slices.Sorted(maps.Keys(*section)) {
			hidden[k.Text(name)] = json.RawMessage(k.json(string((*section)[name])))
		}
		*section = hidden
	}
	return x
}

// json returns a JSON text with the secrets hidden, also secrets that are written with escapes.
func (k *mask) json(text string) string {
	if k.None() {
		return text
	}
	if b, err := oneForm(json.RawMessage(text)); err == nil {
		text = string(b)
	}
	hidden := k.Text(text)
	if hidden != text && !json.Valid([]byte(hidden)) {
		return `"` + dialog.Hidden + `"`
	}
	return hidden
}
