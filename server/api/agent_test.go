package api

// testAgent is the agent of the tests.
const testAgent = `version: "1.0"
settings:
  greeting: "Welcome to the airline. What would you like to do?"
slots:
  origin:
    type: city
    prompt: "Where would you like to fly from?"
    values: [Boston, Denver, Chicago]
  destination:
    type: city
    prompt: "Where would you like to fly to?"
    values: [Boston, Denver, Chicago]
  day:
    type: date
    prompt: "On which day?"
flows:
  book:
    trigger:
      intents: ["book a flight", "book a flight from {origin} to {destination}"]
    steps:
      - {step: ask_origin, type: collect, slot: origin}
      - {step: ask_destination, type: collect, slot: destination}
      - {step: ask_day, type: collect, slot: day}
      - {step: done, type: say, message: "You fly from {origin} to {destination} on {day}."}
`
