package agent

// This file reads checks of slot values by external services, and rules, and finds secrets in
// messages.

// outsideCheck is a check of a slot's values by an external service.
type outsideCheck struct {
	Action *Action
	// Lenient reports whether a value is accepted if the service fails.
	Lenient bool
}

// slotValidators reads the validators of a slot: names and at most one external service.
func (c *compiler) slotValidators(s *Slot, n node) {
	what := "slot " + s.Name + ".validator"
	items := n.items
	if n.kind != nodeSequence {
		items = []node{n}
	}
	for _, item := range items {
		if item.kind != nodeMapping {
			s.Validators = append(s.Validators, c.validatorList(item, what)...)
			continue
		}
		if s.Check != nil {
			c.fail(item, "%s: expected at most one service", what)
			continue
		}
		s.Check = c.outsideCheck(s, item, what)
	}
}

// outsideCheck reads the service of a check: {http: ..} or {mcp: ..}.
func (c *compiler) outsideCheck(s *Slot, n node, what string) *outsideCheck {
	a := &Action{
		Name: "check_" + s.Name, Description: "Asks whether " + s.Name + " can be taken.", Declared: true, Idempotent: true,
		Inputs: []ActionInput{{Name: s.Name, From: s.Name}}, Outputs: []string{"message", "valid", "value"}, Checks: s.Name,
	}
	check := &outsideCheck{Action: a}
	c.fields(n, what, map[string]func(key, value node){
		"http":   func(_, v node) { a.HTTP = c.httpCall(v, what+".http") },
		"mcp":    func(_, v node) { a.MCP = c.mcpCall(v, what+".mcp") },
		"inputs": func(_, v node) { a.Inputs = append(a.Inputs, c.actionInputs(a, v, true)...) },
		"on_error": func(_, v node) {
			switch text := c.text(v, what+".on_error"); text {
			case "accept":
				check.Lenient = true
			case "error":
			default:
				c.report(SeverityError, v, nearest(text, []string{"accept", "error"}), "%s.on_error: expected accept or error", what)
			}
		},
	})
	if (a.HTTP == nil) == (a.MCP == nil) {
		c.fail(n, "%s: expected one of the name of a validator, http, mcp", what)
	}
	c.checks = append(c.checks, a)
	return check
}

// rejections reads the rules that reject values: {if: condition, message: ..}.
func (c *compiler) rejections(n node, what string) []Rejection {
	what += ".rejections"
	if n.kind != nodeSequence {
		if n.given() {
			c.fail(n, "%s is %s: expected a list of {if: .., message: ..}", what, n.kind)
		}
		return nil
	}
	var out []Rejection
	for _, item := range n.items {
		var r Rejection
		c.fields(item, what, map[string]func(key, value node){
			"if":      func(_, v node) { r.If = c.expression(v, what+".if") },
			"message": func(_, v node) { r.Message = c.message(v, what+".message") },
		})
		if _, there := item.find("if"); !there {
			c.fail(item, "%s: a rule needs a condition in the field if", what)
		}
		if r.If != nil {
			out = append(out, r)
		}
	}
	return out
}

// addChecks adds the actions that check slot values.
func (c *compiler) addChecks() {
	for _, a := range c.checks {
		if c.a.ActionIndex[a.Name] != nil {
			c.fail(node{}, "slot %s: the action name %s is reserved for the slot's validator", a.Checks, a.Name)
			continue
		}
		c.addAction(a)
	}
}

// checkSecrets reports messages, and set steps for other slots, that would reveal a secret.
func (c *compiler) checkSecrets() {
	for _, r := range c.refs {
		if s := c.a.SlotIndex[r.name]; s != nil && s.Secret && r.shows {
			c.fail(r.at, "%s: the slot %q is secret and is not said", r.what, r.name)
		}
	}
}
