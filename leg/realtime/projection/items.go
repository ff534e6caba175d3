package projection

import (
	"slices"
	"time"

	wire "github.com/hocketvoice/hocket/internal/wire/realtime"
)

// The bounds of a conversation's items.
const (
	maxItems     = 4096
	maxItemBytes = 16 << 20 // of all texts together
)

// item is one item of the conversation, and what the protocol does not show of it.
type item struct {
	wire.Item
	// spoken: the machine has heard the words itself.
	spoken bool
	// answered: a response has begun behind it.
	answered bool
	length   time.Duration // of its sound
	waiting  bool          // its words are still being recognized
	marks    []mark        // of an answer: what had been heard when
}

// mark is what of an answer had been heard after so many milliseconds.
type mark struct {
	ms   int
	text string
}

// items is the conversation's list.
type items struct{ list []*item }

func (l *items) index(id string) int {
	return slices.IndexFunc(l.list, func(it *item) bool { return it.ID == id })
}

func (l *items) find(id string) *item {
	if i := l.index(id); i >= 0 {
		return l.list[i]
	}
	return nil
}

// before is the id of the item in front of an index, nil for none.
func (l *items) before(i int) *string {
	if i <= 0 || i > len(l.list) {
		return nil
	}
	id := l.list[i-1].ID
	return &id
}

// room reports whether one more item fits.
func (l *items) room(it *wire.Item) bool {
	bytes := weight(it)
	for _, other := range l.list {
		bytes += weight(&other.Item)
	}
	return len(l.list) < maxItems && bytes <= maxItemBytes
}

// insert puts an item at an index and returns the id before it.
func (l *items) insert(i int, it *item) *string {
	l.list = slices.Insert(l.list, i, it)
	return l.before(i)
}

// add puts an item at the end. What is said must not be lost: in a full list the oldest
// item is.
func (l *items) add(it *item) *string {
	if len(l.list) >= maxItems {
		l.remove(0)
	}
	return l.insert(len(l.list), it)
}

func (l *items) remove(i int) { l.list = slices.Delete(l.list, i, i+1) }

// weight is what an item counts for, in bytes.
func weight(it *wire.Item) int {
	n := len(it.Arguments) + len(it.Output)
	for i := range it.Content {
		n += len(it.Content[i].Text)
	}
	return n
}

// words are what an item says.
func words(it *wire.Item) string {
	text := ""
	for i := range it.Content {
		w := it.Content[i].Words()
		if text != "" && w != "" {
			text += " "
		}
		text += w
	}
	return text
}

// begun is a message as it is announced, before it has content.
func (it *item) begun() wire.Item {
	w := it.Clone()
	w.Content = nil
	return w
}

// setWords sets the text or the transcript of a message.
func (it *item) setWords(text string) {
	if len(it.Content) == 0 {
		return
	}
	if part := &it.Content[0]; part.Type == wire.OutputText {
		part.Text = text
	} else {
		part.Transcript = &text
	}
}

// heardAt is what of an answer had been heard after so many milliseconds, as far
// as is known.
func (it *item) heardAt(ms int) string {
	text := ""
	for _, m := range it.marks {
		if m.ms <= ms {
			text = m.text
		}
	}
	return text
}
