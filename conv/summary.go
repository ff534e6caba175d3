package conv

// This file: what stands for the beginning of a long history. Seed 001, 4.8
// (context preservation) and section 8: a model is given the last turns word for
// word, and a summary of those before them.

// Summary stands for the beginning of the history.
type Summary struct {
	Text  string `json:"text,omitempty"`  // what was said, in a model's words
	Items int    `json:"items,omitempty"` // so many entries of the history, from its first, are in it
	// Asking is how many entries will be in the summary that was asked for; zero: none
	// was. Request numbers what was asked.
	Asking  int `json:"asking,omitempty"`
	Request int `json:"request,omitempty"`
	// Later is the turn up to which no other is asked for: the last one failed.
	Later int `json:"later,omitempty"`
}

// Summary is what stands for the beginning of the history, and how many of its
// entries that is.
func (c *Conversation) Summary() (text string, items int) {
	return c.st.Summary.Text, c.st.Summary.Items
}

// askSummary asks for a summary of what is older than the last turns, when there is
// enough of it.
func (s *State) askSummary(out *Output, o *Options) {
	m := &s.Summary
	if m.Asking != 0 || o.SummaryTurns < 0 || !o.modelAnswers() || s.LastTurn <= m.Later {
		return
	}
	// As many turns again as are kept: a model is not asked with every one of them.
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

// handleSummarized takes the summary that was asked for.
func (s *State) handleSummarized(o *Options, e Summarized) {
	m := &s.Summary
	items := m.Asking
	m.Asking = 0
	text := squeeze(e.Text)
	if text == "" {
		m.Later = s.LastTurn + o.SummaryTurns
		return
	}
	m.Text, m.Items = cutRunes(text, o.Limits.ResultChars), items
}

// context returns what a reply is made of.
func (s *State) context() ReplyContext {
	return ReplyContext{s.Summary.Text, s.History[s.Summary.Items:]}
}

// forgot: the oldest entries of the history are gone.
func (s *Summary) forgot(n int) {
	s.Items = max(0, s.Items-n)
	s.Asking = max(0, s.Asking-n)
}

// inserted: an entry of the history came in at a place.
func (s *Summary) inserted(at int) {
	if at < s.Items {
		s.Items++
	}
	if at < s.Asking {
		s.Asking++
	}
}

// modelAnswers reports whether a model reads the history.
func (o *Options) modelAnswers() bool {
	return !o.NoModel && (o.Agent == nil || o.Agent.Instructions() != "")
}
