package dialog

import (
	"math"
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
	Noon       string   `json:"noon"` // "": as any other time
	Midnight   string   `json:"midnight"`
	At         string   `json:"at"`
	Dot        string   `json:"dot"`
}

// voice speaks values in a language, on a day.
type voice struct {
	l     *language
	today civil
}

// speak is a value as the agent says it. The slot, if any, says what it is.
func (v voice) speak(value any, s *slot, format string) string {
	if s != nil && s.secret && value != nil {
		return hidden
	}
	switch value := value.(type) {
	case nil:
		return ""
	case bool:
		if value {
			return v.l.data.Render.Yes
		}
		return v.l.data.Render.No
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
		return rawText(value)
	case "relative":
		if c, ok := parseCivil(rawText(value)); ok {
			return v.relative(c)
		}
	case "date":
		if c, ok := parseCivil(rawText(value)); ok {
			return v.day(c)
		}
	case "time":
		if m, ok := parseClock(rawText(value)); ok {
			return v.clock(m)
		}
	case "money":
		if f, ok := toNumber(value); ok {
			currency := v.l.data.Currency
			if s != nil && s.currency != "" {
				currency = s.currency
			}
			return v.money(f, currency)
		}
	case "spell":
		return spell(rawText(value))
	case "email":
		text := strings.ReplaceAll(rawText(value), "@", " "+v.l.data.Render.At+" ")
		return strings.ReplaceAll(text, ".", " "+v.l.data.Render.Dot+" ")
	}
	if f, ok := toNumber(value); ok && len(format) == 3 && upperLetters(format) {
		return v.money(f, format)
	}
	if f, ok := value.(float64); ok {
		text := strconv.FormatFloat(f, 'f', -1, 64)
		return strings.Replace(text, ".", v.l.data.Decimal, 1)
	}
	return rawText(value)
}

// defaultFormat is how a value is spoken when its template does not say.
func defaultFormat(value any, s *slot) string {
	if s == nil {
		if text, ok := value.(string); ok {
			if _, is := parseCivil(text); is {
				return "date"
			}
		}
		return "number"
	}
	switch s.typ {
	case TypeDate:
		return "date"
	case TypeTime:
		return "time"
	case TypeMoney:
		return "money"
	case TypeDigits, TypePhone, TypeCode:
		return "spell"
	case TypeEmail:
		return "email"
	default:
		return "number"
	}
}

func rawText(value any) string {
	switch v := value.(type) {
	case string:
		return v
	case int64:
		return itoa(v)
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

// day speaks a date; the year only when it is not the nearest one.
func (v voice) day(c civil) string {
	d := &v.l.data.Render
	format := d.Date
	if c.before(v.today) || !c.before(v.today.add(330)) {
		format = d.DateYear
	}
	return strings.NewReplacer(
		"{weekday}", d.Weekdays[c.weekday()],
		"{month}", d.Months[c.month-1],
		"{day}", strconv.Itoa(c.day),
		"{year}", strconv.Itoa(c.year),
	).Replace(format)
}

// relative speaks a date as its distance from today, if it is near.
func (v voice) relative(c civil) string {
	d := &v.l.data.Render
	for i, name := range d.Near {
		if c == v.today.add(i-1) {
			return name
		}
	}
	return v.day(c)
}

// clock speaks a time of day.
func (v voice) clock(minutes int) string {
	h, m := minutes/60, minutes%60
	d := &v.l.data.Render
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

// money speaks an amount.
func (v voice) money(f float64, currency string) string {
	d := &v.l.data.Render
	c, ok := v.l.data.Currencies[currency]
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
	r := []string{"{amount}", sign + itoa(major), "{currency}", name}
	if minor == 0 {
		return strings.NewReplacer(r...).Replace(d.Money)
	}
	if c.MinorMany == "" {
		r[1] = sign + itoa(major) + v.l.data.Decimal + string(appendPadded(nil, int(minor), 2))
		return strings.NewReplacer(r...).Replace(d.Money)
	}
	minorName := c.MinorMany
	if minor == 1 {
		minorName = c.MinorOne
	}
	r = append(r, "{minor_amount}", itoa(minor), "{minor}", minorName)
	return strings.NewReplacer(r...).Replace(d.MoneyMinor)
}

// list speaks "a, b and c".
func (v voice) list(items []any, s *slot, format string) string {
	texts := make([]string, 0, len(items))
	for _, item := range items {
		if t := v.speak(item, s, format); t != "" {
			texts = append(texts, t)
		}
	}
	return enumerate(texts, v.l.data.Render.And)
}

// enumerate joins texts as people list things.
func enumerate(texts []string, conjunction string) string {
	switch len(texts) {
	case 0:
		return ""
	case 1:
		return texts[0]
	}
	last := len(texts) - 1
	return strings.Join(texts[:last], ", ") + " " + conjunction + " " + texts[last]
}

// fields speaks the values of a map in the order of its keys.
func (v voice) fields(m map[string]any) string {
	var texts []string
	for _, k := range sortedKeys(m) {
		if t := v.speak(m[k], nil, ""); t != "" {
			texts = append(texts, strings.ReplaceAll(k, "_", " ")+" "+t)
		}
	}
	return strings.Join(texts, ", ")
}

// spell sets characters apart, in groups as people read them out.
func spell(s string) string {
	var b strings.Builder
	run := 0
	for i, r := range s {
		if r == ' ' {
			continue
		}
		if r == '-' && b.Len() > 0 { // nobody says it: the groups are read apart
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
