package dialog

import "github.com/hocketvoice/hocket/dialog/value"

// askWhat asks what is to be changed.
func (t *turn) askWhat() {
	if len(t.either) < 2 {
		t.phrase("change_which")
		return
	}
	var labels []string
	for _, s := range t.either {
		labels = append(labels, s.Label)
	}
	t.phrase("change_either", "values", value.Enumerate(labels, t.a.def.Lang.Data.Render.Or))
}
