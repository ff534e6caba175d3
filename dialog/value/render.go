package value

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

// renderData is the "render" part of a language file: how values are spoken.
type renderData struct {
	Weekdays   []string `json:"weekdays"` // from Sunday
	Months     []string `json:"months"`
	Near       []string `json:"near"` // yesterday, today, tomorrow
	Date       string   `json:"date"`
	DateYear   string   `json:"date_year"`
	And        string   `json:"and"`
	Or         string   `json:"or"`
	Yes        string   `json:"yes"`
	No         string   `json:"no"`
	Money      string   `json:"money"`
	MoneyMinor string   `json:"money_minor"`
	Time       string   `json:"time"` // {hour}, {hour12}, {minute}, {minute2}, {part}
	TimeHour   string   `json:"time_hour"`
	Noon       string   `json:"noon"` // "" if noon has no special name
	Midnight   string   `json:"midnight"`
	At         string   `json:"at"`
	Dot        string   `json:"dot"`
}

// Voice formats values as they are spoken in a language, on a day.
type Voice struct {
	Lang  *Language
	Today Date
}

// Speak formats a value as the agent says it. The slot, which may be nil, and the format,
// which may be "", say how. A secret is replaced by [Hidden].
func (v Voice) Speak(value any, s *Spec, format string) string {
	if s != nil && s.Secret && value != nil {
		return Hidden
	}
	switch value := value.(type) {
	case nil:
		return ""
	case bool:
		if value {
			return v.Lang.Data.Render.Yes
		}
		return v.Lang.Data.Render.No
	case []any:
		return v.list(value, s, format)
	case map[string]any:
		return v.fields(value)
	}
	if format == "" {
		format = defaultFormat(value, s)
	}
	switch format {
	case "raw", "iso":
		return RawText(value)
	case "relative":
		if c, ok := ParseDate(RawText(value)); ok {
			return v.relative(c)
		}
	case "date":
		if c, ok := ParseDate(RawText(value)); ok {
			return v.day(c)
		}
	case "time":
		if m, ok := ParseTime(RawText(value)); ok {
			return v.clock(m)
		}
	case "money":
		if f, ok := ToNumber(value); ok {
			currency := v.Lang.Data.Currency
			if s != nil && s.Currency != "" {
				currency = s.Currency
			}
			return v.money(f, currency)
		}
	case "spell":
		return spell(RawText(value))
	case "email":
		text := strings.ReplaceAll(RawText(value), "@", " "+v.Lang.Data.Render.At+" ")
		return strings.ReplaceAll(text, ".", " "+v.Lang.Data.Render.Dot+" ")
	}
	if f, ok := ToNumber(value); ok && len(format) == 3 && UpperLetters(format) {
		return v.money(f, format)
	}
	if f, ok := value.(float64); ok {
		text := strconv.FormatFloat(f, 'f', -1, 64)
		return strings.Replace(text, ".", v.Lang.Data.Decimal, 1)
	}
	return RawText(value)
}

// defaultFormat returns the format of a value whose template has none.
func defaultFormat(value any, s *Spec) string {
	if s == nil {
		if text, ok := value.(string); ok {
			if _, is := ParseDate(text); is {
				return "date"
			}
		}
		return "number"
	}
	switch s.Type {
	case TypeDate:
		return "date"
	case TypeTime:
		return "time"
	case TypeMoney:
		if s.Currency == "" {
			return "number" // the currency is unknown
		}
		return "money"
	case TypeDigits, TypePhone, TypeCode:
		return "spell"
	case TypeEmail:
		return "email"
	default:
		return "number"
	}
}

// RawText formats a stored value without words. It returns "" for lists and maps.
func RawText(value any) string {
	switch v := value.(type) {
	case string:
		return v
	case int64:
		return strconv.FormatInt(v, 10)
	case int:
		return strconv.Itoa(v)
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case bool:
		return strconv.FormatBool(v)
	default:
		return ""
	}
}

// day formats a date, with the year only if it is not within the next eleven months.
func (v Voice) day(c Date) string {
	d := &v.Lang.Data.Render
	format := d.Date
	if c.Before(v.Today) || !c.Before(v.Today.add(330)) {
		format = d.DateYear
	}
	return strings.NewReplacer(
		"{weekday}", d.Weekdays[c.Weekday()],
		"{month}", d.Months[c.month-1],
		"{day}", strconv.Itoa(c.day),
		"{year}", strconv.Itoa(c.year),
	).Replace(format)
}

// relative formats a date as "tomorrow" or similar if it is near.
func (v Voice) relative(c Date) string {
	d := &v.Lang.Data.Render
	for i, name := range d.Near {
		if c.time().Equal(v.Today.add(i - 1).time()) {
			return name
		}
	}
	return v.day(c)
}

// clock formats a time of day.
func (v Voice) clock(minutes int) string {
	h, m := minutes/60, minutes%60
	d := &v.Lang.Data.Render
	switch {
	case minutes == 0 && d.Midnight != "":
		return d.Midnight
	case minutes == 720 && d.Noon != "":
		return d.Noon
	}
	part, half := "am", h%12
	if h >= 12 {
		part = "pm"
	}
	if half == 0 {
		half = 12
	}
	format := d.Time
	if m == 0 {
		format = d.TimeHour
	}
	return strings.NewReplacer(
		"{hour}", strconv.Itoa(h), "{hour12}", strconv.Itoa(half), "{minute}", strconv.Itoa(m),
		"{minute2}", string(appendPadded(nil, m, 2)), "{part}", part,
	).Replace(format)
}

// money formats an amount.
func (v Voice) money(f float64, currency string) string {
	d := &v.Lang.Data.Render
	c, ok := v.Lang.Data.Currencies[currency]
	if !ok {
		c = currencyData{One: currency, Many: currency}
	}
	cents := int64(math.Round(math.Abs(f) * 100))
	major, minor := cents/100, cents%100
	sign := ""
	if f < 0 {
		sign = "-"
	}
	name := c.Many
	if major == 1 {
		name = c.One
	}
	r := []string{"{amount}", sign + strconv.FormatInt(major, 10), "{currency}", name}
	if minor == 0 {
		return strings.NewReplacer(r...).Replace(d.Money)
	}
	if c.MinorMany == "" {
		r[1] = sign + strconv.FormatInt(major, 10) + v.Lang.Data.Decimal + string(appendPadded(nil, int(minor), 2))
		return strings.NewReplacer(r...).Replace(d.Money)
	}
	minorName := c.MinorMany
	if minor == 1 {
		minorName = c.MinorOne
	}
	r = append(r, "{minor_amount}", strconv.FormatInt(minor, 10), "{minor}", minorName)
	return strings.NewReplacer(r...).Replace(d.MoneyMinor)
}

// list formats a list as "a, b and c".
func (v Voice) list(items []any, s *Spec, format string) string {
	texts := make([]string, 0, len(items))
	for _, item := range items {
		if t := v.Speak(item, s, format); t != "" {
			texts = append(texts, t)
		}
	}
	return Enumerate(texts, v.Lang.Data.Render.And)
}

// Enumerate joins texts with commas, and the last one with a conjunction.
func Enumerate(texts []string, conjunction string) string {
	switch len(texts) {
	case 0:
		return ""
	case 1:
		return texts[0]
	}
	last := len(texts) - 1
	return strings.Join(texts[:last], ", ") + " " + conjunction + " " + texts[last]
}

// fields formats the values of a map in the order of its keys.
func (v Voice) fields(m map[string]any) string {
	var texts []string
	for _, k := range slices.Sorted(maps.Keys(m)) {
		if t := v.Speak(m[k], nil, ""); t != "" {
			texts = append(texts, strings.ReplaceAll(k, "_", " ")+" "+t)
		}
	}
	return strings.Join(texts, ", ")
}

// spell separates characters, in groups as people read them aloud.
func spell(s string) string {
	var b strings.Builder
	run := 0
	for i, r := range s {
		if r == ' ' {
			continue
		}
		if r == '-' && b.Len() > 0 { // a dash is not said but separates groups
			b.WriteByte(',')
			run = 0
			continue
		}
		if b.Len() > 0 {
			if run > 0 && run%3 == 0 && len(s)-i > 1 && len(s) > 5 {
				b.WriteByte(',')
			}
			b.WriteByte(' ')
		}
		b.WriteRune(r)
		run++
	}
	return b.String()
}

// Hidden replaces a secret.
const Hidden = "•••"
