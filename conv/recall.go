package conv

// Recall sets the state to that of a snapshot, and the output that [Conversation.Last] returns
// to out. A replay calls it in place of Step for a step with a [Shown.After]. It changes
// nothing if it returns an error.
func (c *Conversation) Recall(snapshot []byte, out Output) error {
	then, err := Restore(c.opts, snapshot)
	if err != nil {
		return err
	}
	c.st, c.out = then.st, out
	return nil
}
