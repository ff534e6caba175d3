package pocketsphinx

import (
	"testing"
	"time"
)

func TestOptionsValidate(t *testing.T) {
	if err := (Options{}).Validate(); err != nil {
		t.Errorf("the zero value: %v", err)
	}
	for _, o := range []Options{
		{MaxStreams: -1},
		{Warm: -1},
		{Warm: 3, MaxStreams: 2},
		{Partial: time.Millisecond},
		{MaxUtterance: -time.Second},
		{MaxUtterance: time.Hour},
	} {
		if o.Validate() == nil {
			t.Errorf("%+v is accepted", o)
		}
	}
}

func TestOptionsDefaults(t *testing.T) {
	o := Options{}.withDefaults()
	if o.AcousticModel == "" || o.LanguageModel == "" || o.Dictionary == "" || o.MaxStreams == 0 || o.Partial != 100*time.Millisecond || o.MaxUtterance == 0 {
		t.Errorf("defaults are missing: %+v", o)
	}
	if o := (Options{Dictionary: "mine", MaxSecondPass: -1}).withDefaults(); o.Dictionary != "mine" || o.MaxSecondPass != -1 {
		t.Errorf("settings are overwritten: %+v", o)
	}
}
