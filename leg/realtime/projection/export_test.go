package projection

import (
	"fmt"
	"slices"
	"time"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/conv"
	wire "github.com/hocketvoice/hocket/internal/wire/realtime"
)

// This file contains what the exploration needs to continue from one state in several
// ways.

// Clone returns a deep copy of all that changes.
func (p *Projection) Clone() *Projection {
	c := *p
	copies := make(map[*item]*item)
	of := func(it *item) *item {
		if it == nil {
			return nil
		}
		if copies[it] == nil {
			n := *it
			n.Item, n.marks = it.Clone(), slices.Clone(it.marks)
			copies[it] = &n
		}
		return copies[it]
	}
	all := func(list []*item) []*item {
		list = slices.Clone(list)
		for i := range list {
			list[i] = of(list[i])
		}
		return list
	}
	response := func(r *response) *response {
		if r == nil {
			return nil
		}
		n := *r
		n.output, n.message, n.calls = all(r.output), of(r.message), slices.Clone(r.calls)
		return &n
	}
	c.items.list = all(p.items.list)
	c.resp, c.last = response(p.resp), response(p.last)
	c.beside = slices.Clone(p.beside)
	for i := range c.beside {
		c.beside[i] = response(c.beside[i])
	}
	if p.create != nil {
		q := *p.create
		c.create = &q
	}
	if p.speech != nil {
		s := *p.speech
		c.speech = &s
	}
	c.written = slices.Clone(p.written)
	for i := range c.written {
		s := *c.written[i]
		c.written[i] = &s
	}
	return &c
}

// Canonical removes what has no influence on the future and renames turns. st is the
// machine's state in canonical form.
func (p *Projection) Canonical(st *conv.State, rename func(int) int) {
	for _, r := range append([]*response{p.resp, p.last}, p.beside...) {
		if r != nil {
			r.canonical(rename)
		}
	}
	if r := p.resp; r != nil && st.Reply.Turn == r.turn {
		if r.sent = len(st.Reply.Text); r.audio {
			r.sent -= len(st.Reply.Unsaid)
		}
	}
	p.items.list = slices.DeleteFunc(p.items.list, func(it *item) bool { return !p.counts(it) })
	for _, it := range p.items.list {
		it.length = 0
		if it.Role == "user" && it.Content[0].Type == wire.InputText {
			it.Content[0].Text = "hello"
		}
	}
	for _, s := range append([]*speech{p.speech}, p.written...) {
		if s != nil {
			s.text, s.partial, s.first, s.last, s.startMS = some(s.text), some(s.partial), 0, 0, 0
		}
	}
	for _, at := range []*time.Time{&p.idleAt, &p.stopAt} {
		soon(at, p.at.Now)
	}
	for _, s := range p.written {
		soon(&s.wordsBy, p.at.Now)
	}
	p.starts, p.ends = spots{}, spots{}
	p.limits.made, p.limits.spent = 0, 0
	p.uncommitted = min(p.uncommitted, Rate)
	p.idleFrom = 0
}

func (r *response) canonical(rename func(int) int) {
	r.turn = rename(r.turn)
	r.text, r.tokens, r.input, r.inputSound = "", 0, 0, 0
	r.samples = min(r.samples, Rate/50)
	if m := r.message; m != nil {
		m.setWords("")
		m.marks = nil
		m.length = min(m.length, audio.Pos(Rate/50).Duration(Rate))
	}
}

// Stopping reports whether the voice is silent and the turn may still continue.
func (p *Projection) Stopping() bool { return p.stopMS > 0 }

// soon sets a deadline to now, if it is set.
func soon(at *time.Time, now time.Time) {
	if !at.IsZero() {
		*at = now
	}
}

func some(s string) string { return s[:min(len(s), 1)] }

// counts reports whether the future depends on an item.
func (p *Projection) counts(it *item) bool {
	if p.resp != nil && slices.Contains(p.resp.output, it) || p.last != nil && p.last.message == it {
		return true
	}
	return it.waiting || it.Role == "user" && !it.answered && !it.spoken
}

// ItemIDs returns the ids of the conversation's items.
func (p *Projection) ItemIDs() (ids []string) {
	for _, it := range p.items.list {
		ids = append(ids, it.ID)
	}
	return ids
}

// AppendKey appends a key that distinguishes projections of the same state of the
// machine.
func (p *Projection) AppendKey(b []byte) []byte {
	b = fmt.Appendf(b, "|%t%t%t%t%t%t%t%t", p.Detects(), p.met, p.spoken, p.started, p.running, p.measure, p.uncommitted > 0, p.idleAt.IsZero())
	b = fmt.Appendf(b, "%t%t", p.stopAt.IsZero(), p.stopMS > 0)
	for _, r := range append([]*response{p.resp, p.last}, p.beside...) {
		b = append(b, '/')
		if r == nil {
			continue
		}
		b = fmt.Appendf(b, "%d%t%t%t%d%t%d%d", r.turn, r.audio, r.asked, r.first, len(r.output), r.samples > 0, r.sent, len(r.calls))
		b = fmt.Appendf(b, "%t%t%t%t%t%t%t", r.cut, r.answered, r.generated, r.limited, r.cancelling, r.failure == nil, r.params.OutOfBand)
		if r.message != nil {
			b = append(b, r.message.Status...)
		}
	}
	for _, it := range p.items.list {
		b = fmt.Appendf(b, "+%s%s%t%t%t", it.Type, it.Role, it.spoken, it.answered, it.waiting)
	}
	if q := p.create; q != nil {
		b = fmt.Appendf(b, "?%t%t", q.posted, q.cancelled)
	}
	for _, s := range append([]*speech{p.speech}, p.written...) {
		b = append(b, '!')
		if s != nil {
			b = fmt.Appendf(b, "%s %s%t%t%t", s.text, s.partial, s.quiet, s.stopped, s.wordsBy.IsZero())
		}
	}
	return b
}
