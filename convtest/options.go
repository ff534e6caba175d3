package convtest

import (
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/turn"
)

// SetOption sets one option by its JSON path: "limits.waiting" to "2s",
// "retry.backoff" to "1s,2s".
func SetOption(o *conv.Options, path, value string) error {
	switch path {
	case "barge_in":
		if value == "seeds" {
			o.BargeIn = turn.Profiles{Greeting: turn.SeedsBargeIn(), Reply: turn.SeedsBargeIn(), ReadBack: turn.SeedsBargeIn()}
			return nil
		}
		path = "barge_in.reply.policy"
	case "dead_air":
		if value != "off" {
			return fmt.Errorf("option dead_air is %q: expected off", value)
		}
		path, value = "dead_air.off", "true"
	}
	v := reflect.ValueOf(o).Elem()
	for name := range strings.SplitSeq(path, ".") {
		field, err := fieldByName(v, name)
		if err != nil {
			return fmt.Errorf("option %s: %w", path, err)
		}
		v = field
	}
	if err := setValue(v, value); err != nil {
		return fmt.Errorf("option %s is %q: %w", path, value, err)
	}
	return nil
}

// fieldByName returns a struct's field by its JSON name, or by its Go name if it
// has none.
func fieldByName(v reflect.Value, name string) (reflect.Value, error) {
	if v.Kind() != reflect.Struct {
		return reflect.Value{}, fmt.Errorf("%s is not a group of options", v.Type())
	}
	for i := range v.NumField() {
		f := v.Type().Field(i)
		tag, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if tag == name || tag == "" && strings.EqualFold(f.Name, name) {
			return v.Field(i), nil
		}
	}
	return reflect.Value{}, fmt.Errorf("there is no %q", name)
}

var durationType = reflect.TypeFor[time.Duration]()

func setValue(v reflect.Value, s string) error {
	switch {
	case v.Type() == durationType:
		if s == "off" {
			v.SetInt(-1)
			return nil
		}
		d, err := time.ParseDuration(s)
		v.SetInt(int64(d))
		return err
	case v.Kind() == reflect.String:
		v.SetString(s)
		return nil
	case v.Kind() == reflect.Bool:
		b, err := strconv.ParseBool(s)
		v.SetBool(b)
		return err
	case v.Kind() == reflect.Int:
		n, err := strconv.Atoi(s)
		v.SetInt(int64(n))
		return err
	case v.Kind() == reflect.Float64:
		x, err := strconv.ParseFloat(s, 64)
		v.SetFloat(x)
		return err
	case v.Kind() == reflect.Slice:
		list := reflect.MakeSlice(v.Type(), 0, 4)
		for part := range strings.SplitSeq(s, ",") {
			if part == "" {
				continue
			}
			e := reflect.New(v.Type().Elem()).Elem()
			if err := setValue(e, part); err != nil {
				return err
			}
			list = reflect.Append(list, e)
		}
		v.Set(list)
		return nil
	default:
		return errors.New("it cannot be set by name")
	}
}

// parseOptions parses "key=value ..." with quoted values.
func parseOptions(o *conv.Options, s string) error {
	fields, err := parseFields(s)
	if err != nil {
		return err
	}
	for path, value := range fields {
		if err := SetOption(o, path, fmt.Sprint(asText(value))); err != nil {
			return err
		}
	}
	return nil
}
