package explore

import (
	"fmt"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/internal/timers"
)

// broken is a violation found by a worker.
type broken struct {
	parent, label int32
	check, what   string
}

// violate records a violation, unless there is one of the same check; the first has a
// shortest path.
func (x *explorer) violate(b broken) {
	if _, ok := x.violations[b.check]; ok {
		return
	}
	path := x.path(b.parent)
	if b.label != noLabel {
		path = append(path, x.labelText(b.label))
	}
	x.violations[b.check] = Violation{Config: x.cfg.Name, Check: b.check, What: b.what, Path: path}
}

// path returns the path from the beginning to a state.
func (x *explorer) path(i int32) []string {
	var lines []string
	for ; i > 0; i = x.nodes[i].parent {
		lines = append(lines, x.labelText(x.nodes[i].label))
	}
	for l, r := 0, len(lines)-1; l < r; l, r = l+1, r-1 {
		lines[l], lines[r] = lines[r], lines[l]
	}
	return lines
}

// labelText returns an event as an input line of `hocket step`. A negative label is a
// deadline, whose name is in the field `timer`, a comment. A label after the events is
// an input of the follower.
func (x *explorer) labelText(label int32) string {
	if label < 0 {
		return fmt.Sprintf(`{"type":"deadline"} (%v)`, timers.Timer(-label-1))
	}
	if i := int(label) - len(x.events); i >= 0 {
		return x.cfg.Follower.InputName(i)
	}
	b, err := conv.MarshalEvent(x.events[label])
	if err != nil {
		panic(err) // all events of the alphabet can be encoded
	}
	return string(b)
}
