package smartturn

import "errors"

// Network is the name of the file of the network as it is installed.
const Network = "smart-turn-v3.2-cpu.onnx"

// Options says where the files are.
type Options struct {
	Library string // the shared library of the ONNX Runtime
	Network string // the ONNX file of Smart Turn v3
}

// Validate returns an error if a field is empty.
func (o Options) Validate() error {
	if o.Library == "" || o.Network == "" {
		return errors.New("smartturn: Library and Network must be set")
	}
	return nil
}
