package conv

// This file summarizes the beginning of a long history. A model gets the last turns word for
// word, and a summary of the turns before them. Source: seed 001, 4.8 (context preservation)
// and section 8.

// summary is the summary of the beginning of the history.
type summary struct {
	Text  string `json:"text,omitempty"`  // the summary, in the words of a model
	Items int    `json:"items,omitempty"` // how many of the first entries of the history it covers
	// Asking is how many entries the summary will cover that was asked for, or zero if none
	// was. Request is the number of that request.
	Asking  int `json:"asking,omitempty"`
	Request int `json:"request,omitempty"`
	// Later is set if a request failed: no summary is asked for up to the turn with this
	// number.
	Later int `json:"later,omitempty"`
}

// Summary returns the summary of the beginning of the history, and how many of the first
// entries of [Conversation.History] it covers. Without a summary it returns "" and 0.
func (c *Conversation) Summary() (text string, items int) {
	return c.st.Summary.Text, c.st.Summary.Items
}

// askSummary asks for a summary of everything before the last [Options.SummaryTurns] turns of
// the user, if there are as many turns before them.
func (s *State) askSummary(out *Output, o *Options) {
	m := &s.Summary
	if m.Asking != 0 || o.SummaryTurns < 0 || !o.modelAnswers() || s.LastTurn <= m.Later {
		return
	}
	// The request waits for as many turns again, so that not every turn leads to one.
	turns := 0
	for i := len(s.History) - 1; i >= m.Items; i-- {
		if s.History[i].Role != RoleUser {
			continue
		}
		turns++
		if turns == o.SummaryTurns {
			m.Asking = i
		}
	}
	if turns < 2*o.SummaryTurns {
		m.Asking = 0
		return
	}
	s.LastRequest++
	m.Request = s.LastRequest
	out.emit(Summarize{Request: m.Request, Items: m.Asking})
}

// take stores the summary that was asked for. If the request failed, the next one waits for
// [Options.SummaryTurns] turns.
func (m *summary) take(o *Options, e Summarized, lastTurn int) {
	items := m.Asking
	m.Asking = 0
	text := squeeze(e.Text)
	if text == "" {
		m.Later = lastTurn + o.SummaryTurns
		return
	}
	m.Text, m.Items = cutRunes(text, o.Limits.ResultChars), items
}

// context returns the context of a request for a reply.
func (m *summary) context(h history) ReplyContext {
	return ReplyContext{m.Text, h[m.Items:]}
}

// forgot notes that the n oldest entries of the history were dropped.
func (m *summary) forgot(n int) {
	m.Items = max(0, m.Items-n)
	m.Asking = max(0, m.Asking-n)
}

// inserted notes that an entry was inserted into the history at the index at.
func (m *summary) inserted(at int) {
	if at < m.Items {
		m.Items++
	}
	if at < m.Asking {
		m.Asking++
	}
}

// modelAnswers reports whether a model makes replies, and so reads the history.
func (o *Options) modelAnswers() bool {
	return !o.NoModel && (o.Agent == nil || o.Agent.Instructions() != "")
}
