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
func (c *Conversation) askSummary() {
	s := &c.st.Summary
	if s.Asking != 0 || c.opts.SummaryTurns < 0 || !c.modelAnswers() || c.st.LastTurn <= s.Later {
		return
	}
	// As many turns again as are kept: a model is not asked with every one of them.
	turns := 0
	for i := len(c.st.History) - 1; i >= s.Items; i-- {
		if c.st.History[i].Role != RoleUser {
			continue
		}
		turns++
		if turns == c.opts.SummaryTurns {
			s.Asking = i
		}
	}
	if turns < 2*c.opts.SummaryTurns {
		s.Asking = 0
		return
	}
	c.st.LastRequest++
	s.Request = c.st.LastRequest
	c.emit(Summarize{Request: s.Request, Items: s.Asking})
}

// handleSummarized takes the summary that was asked for.
func (c *Conversation) handleSummarized(e Summarized) {
	s := &c.st.Summary
	items := s.Asking
	s.Asking = 0
	text := squeeze(e.Text)
	if text == "" {
		s.Later = c.st.LastTurn + c.opts.SummaryTurns
		return
	}
	s.Text, s.Items = cutRunes(text, c.opts.Limits.ResultChars), items
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
func (c *Conversation) modelAnswers() bool {
	return c.opts.Agent == nil || c.opts.Agent.Instructions() != ""
}
