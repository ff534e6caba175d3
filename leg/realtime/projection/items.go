package projection

import (
	"slices"
	"time"

	wire "github.com/hocketvoice/hocket/internal/wire/realtime"
)

// Limits of a conversation's items.
const (
	maxItems     = 4096
	maxItemBytes = 16 << 20 // of all texts together
)

// item is one item of the conversation, with fields that the protocol does not show.
type item struct {
	wire.Item
	// spoken reports that the machine has heard the words itself.
	spoken bool
	// answered reports that a response has begun after the item.
	answered bool
	length   time.Duration // of its sound
	waiting  bool          // its words are still being recognized
	marks    []mark        // for an answer: the words heard at each position
}

// mark contains the words of an answer that were heard after a number of milliseconds.
type mark struct {
	ms   int
	text string
}

// items is the list of the conversation's items.
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

// before returns the id of the item before an index, or nil if there is none.
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

// insert inserts an item at an index and returns the id of the item before it.
func (l *items) insert(i int, it *item) *string {
	l.list = slices.Insert(l.list, i, it)
	return l.before(i)
}

// add appends an item and returns the id of the item before it. If the list is full, it
// removes the oldest item, so that nothing said is lost.
func (l *items) add(it *item) *string {
	if len(l.list) >= maxItems {
		l.remove(0)
	}
	return l.insert(len(l.list), it)
}

func (l *items) remove(i int) { l.list = slices.Delete(l.list, i, i+1) }

// weight returns the size of an item in bytes, as counted towards the limit.
func weight(it *wire.Item) int {
	n := len(it.Arguments) + len(it.Output)
	for i := range it.Content {
		n += len(it.Content[i].Text)
	}
	return n
}

// words returns the words of an item.
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

// begun returns a message without content, as it is announced first.
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

// heardAt returns the words of an answer that were heard after ms milliseconds, as far
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
