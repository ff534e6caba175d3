package dialog_test

import "testing"

// hotelAgent searches for a hotel. The search runs without a confirmation, so that a guessed
// value would be used unheard.
const hotelAgent = `
slots:
  town: {type: city, prompt: In which town?}
  start_date: {type: date, prompt: What is the first day?}
  end_date: {type: date, prompt: What is the last day?}
  genre: {type: string, prompt: Of which kind?, required: false}
  beds: {type: integer, description: number of bedrooms, prompt: How many beds?}
  smoking_allowed: {type: boolean, description: whether smoking is allowed in the hotel}
  free_entry: {type: boolean, description: whether entry to the pool is free}
actions:
  search: {inputs: [town, start_date, end_date], optional_inputs: [genre, smoking_allowed, free_entry], outputs: [hotel], mock: {hotel: The Lion}}
flows:
  find_hotel:
    description: find a hotel
    trigger: {intents: [find me a hotel, "find a hotel in {town}"]}
    slots: [genre, smoking_allowed, free_entry]
    steps:
      - {step: a, type: collect, slot: town}
      - {step: b, type: collect, slot: start_date}
      - {step: c, type: collect, slot: end_date}
      - {step: n, type: collect, slot: beds}
      - {step: d, type: action, call: search}
      - {step: e, type: say, message: "There is {hotel}."}
`

// given are messages that give no value for a slot, each with the value that was taken.
func given() (all []symptom) {
	add := func(name string, want map[string]any, say ...string) {
		all = append(all, symptom{name: name, agent: hotelAgent, say: say, wrong: wantSlots(want)})
	}
	town := []string{"find me a hotel", "Boston"}
	none := map[string]any{"start_date": nil, "end_date": nil}
	for _, text := range []string{
		"No, that's all for now. Thanks.", "No, I'm good for now, thanks.", "fine get it now", "no, nothing for now, thanks", "that's all for today",
		"no, that's all for today, thanks", "I have some free time this weekend", "this weekend",
	} {
		add("a day is taken from: "+text, none, append(town, text)...)
	}
	add("today is not a day any more", map[string]any{"start_date": "2026-01-05"}, append(town, "today")...)
	add("right now is not a day any more", map[string]any{"start_date": "2026-01-05"}, append(town, "right now please")...)
	add("from the 3rd is the last day", map[string]any{"start_date": "2026-02-03", "end_date": nil}, append(town, "from the 3rd of February")...)
	add("a range that answers the question for its end is turned around", map[string]any{"start_date": "2026-02-03", "end_date": "2026-02-05"},
		"find me a hotel", "Boston", "until the 9th of February", "from the 3rd of February to the 5th of February")
	add("a range ends before it begins", map[string]any{"start_date": "2026-02-03", "end_date": nil}, "find me a hotel", "Boston", "from the 3rd of February to the 5th")
	for _, text := range []string{
		"is there a place where smoking is allowed?", "can you find out whether smoking is allowed in the hotel?", "and is smoking allowed there", "I want to know if smoking is allowed",
	} {
		add("a wish is taken from the question: "+text, map[string]any{"smoking_allowed": nil}, append(town, text)...)
	}
	for _, text := range []string{"No, thanks. I won't be needing smoking allowed.", "it can't have smoking allowed"} {
		add("a wish is taken from a sentence that refuses: "+text, map[string]any{"smoking_allowed": false}, append(town, text)...)
	}
	add("free entry is taken from free time", map[string]any{"free_entry": nil}, "I have some free time, find me a hotel")
	add("no entry fee is taken for no free entry", map[string]any{"free_entry": nil}, "find me a hotel that does not have an entry fee")
	add("a question gives a value of free text", map[string]any{"genre": nil}, append(town, "today", "tomorrow", "What genre of music is that?")...)
	add("a question after thanks gives a value of free text", map[string]any{"genre": nil}, append(town, "today", "tomorrow", "Yes thanks. What genre of music is it and when was it released?")...)
	for _, text := range []string{"find me one with three bedrooms", "I want one with a view", "get one in the old town please"} {
		add("one is a number of beds in: "+text, map[string]any{"beds": nil}, append(town, "today", "tomorrow", text)...)
	}
	add("one bed is not a number of beds", map[string]any{"beds": 1}, append(town, "today", "tomorrow", "just one please")...)
	add("the rest of a range is the last day", map[string]any{"start_date": "2026-02-03", "end_date": nil}, append(town, "starting the 3rd of February")...)
	add("an article is a town", map[string]any{"town": nil}, "find me a hotel", "I want it in the morning")
	add("a time of day is a town", map[string]any{"town": nil}, "find me a hotel", "I want it for half past 10 in the morning")
	return all
}

// TestNotGiven checks that no value is taken from words that give none.
func TestNotGiven(t *testing.T) {
	for _, s := range given() {
		t.Run(s.name, func(t *testing.T) {
			if why := s.hold(t); why != "" {
				t.Error(why)
			}
		})
	}
}
