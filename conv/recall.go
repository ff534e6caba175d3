package conv

// Recall replaces the state by a snapshot and Last by out, without a step: a replay of a
// step with [Shown.After] does this. It changes nothing if it returns an error.
func (c *Conversation) Recall(snapshot []byte, out Output) error {
	then, err := Restore(c.opts, snapshot)
	if err != nil {
		return err
	}
	c.st, c.out = then.st, out
	return nil
}
