package convtest

import (
	"errors"
	"reflect"

	"github.com/hocketvoice/hocket/conv"
)

// checkContext checks that what a client or a tool sets changes the context and nothing
// else, that it is saved, and that nothing else changes it but the end of the
// conversation.
func (k *Checker) checkContext(s step) error {
	same := s.before.Context.Equal(&s.after.Context)
	if _, ok := s.event.(conv.ContextSet); !ok {
		if !same && s.after.Phase != conv.Idle {
			return errors.New("the context has changed")
		}
		return nil
	}
	refused := false
	for _, e := range s.out.Effects {
		if _, refused = e.(conv.Reject); !refused {
			return errors.New("the context does something: " + conv.EffectType(e))
		}
	}
	before, after := *s.before, *s.after
	before.Now, after.Now = s.now, s.now
	before.Context, after.Context = conv.Context{}, conv.Context{}
	switch {
	case len(s.out.Transitions)+len(s.out.Turns) > 0:
		return errors.New("the context changes the phase or a turn")
	case refused && !same:
		return errors.New("the context was refused, but has changed")
	case !same && !s.out.Keep:
		return errors.New("the context has changed, but Keep is not set")
	case !reflect.DeepEqual(before, after):
		return errors.New("the context changes more than itself")
	default:
		return nil
	}
}
