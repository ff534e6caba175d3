package flite

import "testing"

func TestOptionsValidate(t *testing.T) {
	if err := (Options{}).Validate(); err != nil {
		t.Errorf("the zero value: %v", err)
	}
	for _, o := range []Options{{Voice: "nobody"}, {ClauseWords: -1}, {ClauseWords: 1000}} {
		if o.Validate() == nil {
			t.Errorf("%+v is accepted", o)
		}
	}
}
