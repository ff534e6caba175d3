package projection

import (
	"github.com/hocketvoice/hocket/conv"
	wire "github.com/hocketvoice/hocket/internal/wire/realtime"
)

// This file handles clients that connect for the first time or again.

// connected sends session.created. It sends a returning client the current state.
func (p *Projection) connected() {
	back := p.met
	p.met = true
	p.send(wire.SessionEvent{Name: "created", Session: p.session})
	if back {
		p.retell()
	}
}

// retell sends a returning client all items and the active response.
func (p *Projection) retell() {
	r := p.resp
	for i, it := range p.items.list {
		if r != nil && it == r.message {
			p.retellResponse()
		} else {
			p.tellItem(i)
		}
	}
	if r != nil && (r.message == nil || p.items.index(r.message.ID) < 0) {
		p.retellResponse()
	}
}

// retellResponse announces the active response again, with what it has said so far.
func (p *Projection) retellResponse() {
	r := p.resp
	p.send(wire.ResponseEvent{Name: "created", Response: p.show(r, wire.InProgress, nil)})
	if r.message == nil {
		return
	}
	p.send(wire.OutputItem{Name: "added", ResponseID: r.id, OutputIndex: r.index, Item: r.message.begun()})
	if at := p.items.index(r.message.ID); at >= 0 {
		p.send(wire.ItemEvent{Name: "added", PreviousItemID: p.items.before(at), Item: r.message.begun()})
	}
	p.send(wire.Part{Name: "added", Place: r.place(), Content: wire.PartContent{Audio: r.audio}})
	if r.text != "" {
		p.send(wire.WordsDelta{Audio: r.audio, Place: r.place(), Delta: r.text})
	}
}

// tellItem announces an item that existed before the client connected.
func (p *Projection) tellItem(i int) {
	it, before := p.items.list[i], p.items.before(i)
	p.send(wire.ItemEvent{Name: "added", PreviousItemID: before, Item: it.Clone()})
	p.send(wire.ItemEvent{Name: "done", PreviousItemID: before, Item: it.Clone()})
}

// recall creates the items of a restored conversation from the machine's history.
func (p *Projection) recall(st *conv.State) {
	for i := range st.History {
		h := &st.History[i]
		it := &item{
			Item:   wire.Item{ID: p.newID("item"), Type: wire.Message, Status: wire.Completed, Role: "user"},
			spoken: true, answered: true,
		}
		kind := wire.InputText
		switch h.Role {
		case conv.RoleAgent:
			it.Role, kind = "assistant", wire.OutputText
			if h.Interrupted {
				it.Status = wire.Incomplete
			}
		case conv.RoleUser:
		default:
			continue // the client does not see calls of this server's own tools
		}
		if h.Text == "" {
			continue
		}
		it.Content = []wire.Content{{Type: kind, Text: h.Text}}
		p.items.add(it)
		p.tellItem(len(p.items.list) - 1)
	}
}
