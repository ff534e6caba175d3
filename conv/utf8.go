package conv

// carried returns an event as it is read back from JSON: bytes that are not valid UTF-8 are
// replaced. The machine works only on what a trace can contain, so that the trace of every
// conversation replays bit for bit.
func carried(ev Event) Event {
	b, err := MarshalEvent(ev)
	if err != nil {
		return ev
	}
	clean, err := UnmarshalEvent(b)
	if err != nil {
		return ev // the event is invalid for another reason and cannot be in a trace
	}
	return clean
}
