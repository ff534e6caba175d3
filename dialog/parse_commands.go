package dialog

import (
	"encoding/json"
	"fmt"
)

// ParseCommands reads a model's answer to an [UnderstandRequest].
func ParseCommands(b []byte) (Understood, error) {
	var answer struct {
		Commands []Command `json:"commands"`
	}
	if err := json.Unmarshal(b, &answer); err != nil {
		return Understood{}, fmt.Errorf("commands of a model: %w", err)
	}
	return Understood{Commands: answer.Commands}, nil
}
