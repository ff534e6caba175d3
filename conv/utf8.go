package conv

// carried returns an event as its JSON carries it: bytes that are not UTF-8 are
// replaced. The machine works on what a trace can hold, so that the trace of any call
// replays bit for bit. A text that was cut in the middle of a letter loses that
// letter.
func carried(ev Event) Event {
	b, err := MarshalEvent(ev)
	if err != nil {
		return ev
	}
	clean, err := UnmarshalEvent(b)
	if err != nil {
		return ev // it is refused for something else, and cannot be in a trace
	}
	return clean
}
