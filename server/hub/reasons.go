package hub

// Reasons for which a conversation no longer runs here although it is not over.
const (
	ReasonHandedOver = "handed_over" // this process stops; another may continue it
	ReasonMoved      = "moved"       // another process has taken it over
)

// Over reports whether an ended conversation is over and does not continue elsewhere.
func (i Info) Over() bool { return i.Reason != ReasonHandedOver && i.Reason != ReasonMoved }
