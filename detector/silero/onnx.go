package silero

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"
)

// This file reads the tensors of an ONNX model, by graph. ONNX is a protobuf
// message; the numbers below are the field numbers of onnx.proto
// (https://github.com/onnx/onnx/blob/main/onnx/onnx.proto). A protobuf library
// would be larger than this file, which reads fourteen arrays.

const (
	modelGraph = 7 // ModelProto.graph

	graphNode        = 1 // GraphProto.node
	graphInitializer = 5 // GraphProto.initializer

	nodeOutput    = 2 // NodeProto.output
	nodeAttribute = 5 // NodeProto.attribute

	attributeTensor = 5  // AttributeProto.t
	attributeGraph  = 6  // AttributeProto.g
	attributeGraphs = 11 // AttributeProto.graphs

	tensorDims      = 1  // TensorProto.dims
	tensorDataType  = 2  // TensorProto.data_type
	tensorFloatData = 4  // TensorProto.float_data
	tensorName      = 8  // TensorProto.name
	tensorRawData   = 9  // TensorProto.raw_data
	tensorLocation  = 14 // TensorProto.data_location
)

const (
	wireVarint = 0
	wireFixed8 = 1
	wireBytes  = 2
	wireFixed4 = 5
)

const (
	dataTypeFloat    = 1 // TensorProto.DataType.FLOAT
	locationExternal = 1 // TensorProto.DataLocation.EXTERNAL
)

// Limits on the structure of a model file.
const (
	maxGraphDepth = 16
	maxTensorDims = 8
	maxTensors    = 1 << 16
)

var errTruncated = errors.New("the file is truncated or not an ONNX model")

// tensor is an array of the model. data refers to the bytes of the file.
type tensor struct {
	name     string
	dims     []int64
	dataType uint64
	external bool
	data     []byte // little-endian, as in the file
}

// scope contains the tensors of one graph. The branches of an If node are separate
// graphs, so that arrays of the same name in the 8 kHz and the 16 kHz branch are
// distinct.
type scope map[string]tensor

// readScopes returns the tensors of every graph of an ONNX model, outermost first.
func readScopes(model []byte) ([]scope, error) {
	r := onnxReader{}
	err := eachField(model, func(f field) error {
		if f.number == modelGraph && f.wire == wireBytes {
			return r.graph(f.bytes, 0)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return r.scopes, nil
}

type onnxReader struct {
	scopes  []scope
	tensors int
}

func (r *onnxReader) graph(msg []byte, depth int) error {
	if depth > maxGraphDepth {
		return fmt.Errorf("graphs are nested deeper than %d", maxGraphDepth)
	}
	here := scope{}
	r.scopes = append(r.scopes, here)
	return eachField(msg, func(f field) error {
		if f.wire != wireBytes {
			return nil
		}
		switch f.number {
		case graphInitializer:
			return r.addTensor(here, f.bytes, "")
		case graphNode:
			return r.node(here, f.bytes, depth)
		}
		return nil
	})
}

// node reads the tensor of a Constant and the graphs of an If.
func (r *onnxReader) node(here scope, msg []byte, depth int) error {
	var output string
	err := eachField(msg, func(f field) error {
		if f.number == nodeOutput && f.wire == wireBytes && output == "" {
			output = string(f.bytes)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return eachField(msg, func(f field) error {
		if f.number != nodeAttribute || f.wire != wireBytes {
			return nil
		}
		return eachField(f.bytes, func(a field) error {
			if a.wire != wireBytes {
				return nil
			}
			switch a.number {
			case attributeTensor:
				return r.addTensor(here, a.bytes, output)
			case attributeGraph, attributeGraphs:
				return r.graph(a.bytes, depth+1)
			}
			return nil
		})
	})
}

// addTensor stores a tensor under its name. If it has none, it uses the last part
// of the node's output, which exporters prefix with the path of inlined graphs.
func (r *onnxReader) addTensor(here scope, msg []byte, output string) error {
	if r.tensors++; r.tensors > maxTensors {
		return fmt.Errorf("more than %d tensors", maxTensors)
	}
	t, err := readTensor(msg)
	if err != nil {
		return err
	}
	if t.name == "" {
		t.name = output[strings.LastIndex(output, "__")+1:]
		t.name = strings.TrimLeft(t.name, "_/")
	}
	if t.name != "" {
		here[t.name] = t
	}
	return nil
}

func readTensor(msg []byte) (tensor, error) {
	var t tensor
	err := eachField(msg, func(f field) error {
		switch {
		case f.number == tensorDims && f.wire == wireVarint:
			t.dims = append(t.dims, int64(f.value))
		case f.number == tensorDims && f.wire == wireBytes: // packed
			for b := f.bytes; len(b) > 0; {
				v, n := binary.Uvarint(b)
				if n <= 0 {
					return errTruncated
				}
				t.dims, b = append(t.dims, int64(v)), b[n:]
				if len(t.dims) > maxTensorDims {
					break
				}
			}
		case f.number == tensorDataType && f.wire == wireVarint:
			t.dataType = f.value
		case f.number == tensorName && f.wire == wireBytes:
			t.name = string(f.bytes)
		case f.number == tensorRawData && f.wire == wireBytes,
			f.number == tensorFloatData && f.wire == wireBytes: // packed
			t.data = f.bytes
		case f.number == tensorLocation && f.wire == wireVarint:
			t.external = f.value == locationExternal
		}
		if len(t.dims) > maxTensorDims {
			return fmt.Errorf("a tensor has more than %d dimensions", maxTensorDims)
		}
		return nil
	})
	return t, err
}

// hasShape reports whether the tensor has exactly these dimensions.
func (t tensor) hasShape(dims ...int64) bool {
	if len(t.dims) != len(dims) {
		return false
	}
	for i, d := range dims {
		if t.dims[i] != d {
			return false
		}
	}
	return true
}

// floats returns the tensor's numbers. It returns an error for another type or
// shape, or a number that is not finite.
func (t tensor) floats(dims ...int64) ([]float32, error) {
	switch {
	case !t.hasShape(dims...):
		return nil, fmt.Errorf("shape is %v: expected %v", t.dims, dims)
	case t.external:
		return nil, errors.New("the numbers must not be in another file")
	case t.dataType != dataTypeFloat:
		return nil, fmt.Errorf("data type is %d: expected %d (float)", t.dataType, dataTypeFloat)
	}
	count := int64(1)
	for _, d := range dims {
		count *= d
	}
	if int64(len(t.data)) != 4*count {
		return nil, fmt.Errorf("data has %d bytes: expected %d", len(t.data), 4*count)
	}
	out := make([]float32, count)
	for i := range out {
		v := math.Float32frombits(binary.LittleEndian.Uint32(t.data[4*i:]))
		if f := float64(v); math.IsNaN(f) || math.IsInf(f, 0) {
			return nil, fmt.Errorf("number %d is not finite", i)
		}
		out[i] = v
	}
	return out, nil
}

// field is one field of a protobuf message. bytes refers to the message.
type field struct {
	number uint64
	wire   uint64
	value  uint64 // of wireVarint
	bytes  []byte // of wireBytes
}

// eachField calls visit for the fields of a protobuf message in order.
func eachField(msg []byte, visit func(field) error) error {
	for len(msg) > 0 {
		key, n := binary.Uvarint(msg)
		if n <= 0 {
			return errTruncated
		}
		msg = msg[n:]
		f := field{number: key >> 3, wire: key & 7}
		var size uint64
		switch f.wire {
		case wireVarint:
			if f.value, n = binary.Uvarint(msg); n <= 0 {
				return errTruncated
			}
			size = uint64(n)
		case wireFixed8:
			size = 8
		case wireFixed4:
			size = 4
		case wireBytes:
			length, n := binary.Uvarint(msg)
			if n <= 0 {
				return errTruncated
			}
			msg = msg[n:]
			size = length
		default:
			return errTruncated
		}
		if size > uint64(len(msg)) {
			return errTruncated
		}
		if f.wire == wireBytes {
			f.bytes = msg[:size]
		}
		msg = msg[size:]
		if err := visit(f); err != nil {
			return err
		}
	}
	return nil
}
