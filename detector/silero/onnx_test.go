package silero

import (
	"encoding/binary"
	"math"
	"strings"
	"testing"
)

// The functions below encode protobuf messages for test models.

func uintField(number int, v uint64) []byte {
	return binary.AppendUvarint(binary.AppendUvarint(nil, uint64(number)<<3|wireVarint), v)
}

func bytesField(number int, parts ...[]byte) []byte {
	var body []byte
	for _, p := range parts {
		body = append(body, p...)
	}
	out := binary.AppendUvarint(nil, uint64(number)<<3|wireBytes)
	return append(binary.AppendUvarint(out, uint64(len(body))), body...)
}

func tensorMessage(name string, values []float32, dims ...int64) []byte {
	var out []byte
	for _, d := range dims {
		out = append(out, uintField(tensorDims, uint64(d))...)
	}
	out = append(out, uintField(tensorDataType, dataTypeFloat)...)
	var raw []byte
	for _, v := range values {
		raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(v))
	}
	out = append(out, bytesField(tensorRawData, raw)...)
	if name != "" {
		out = append(out, bytesField(tensorName, []byte(name))...)
	}
	return out
}

// constant returns a Constant node, as used in the known file for weights.
func constant(output string, tensor []byte) []byte {
	return bytesField(graphNode, bytesField(nodeOutput, []byte(output)),
		bytesField(nodeAttribute, bytesField(1, []byte("value")), bytesField(attributeTensor, tensor)))
}

// branches returns an If node with two graphs.
func branches(then, otherwise []byte) []byte {
	return bytesField(graphNode, bytesField(nodeOutput, []byte("if")),
		bytesField(nodeAttribute, bytesField(attributeGraph, otherwise)),
		bytesField(nodeAttribute, bytesField(attributeGraph, then)))
}

func model(graph []byte) []byte {
	return append(uintField(1, 8), bytesField(modelGraph, graph)...)
}

func TestReadScopes(t *testing.T) {
	named := tensorMessage("a", []float32{1, 2}, 2)
	unnamed := tensorMessage("", []float32{3}, 1)
	scopes, err := readScopes(model(append(
		bytesField(graphInitializer, named),
		branches(constant("If_0__Inline_0__layer.weight", unnamed), constant("x", tensorMessage("a", []float32{9}, 1)))...,
	)))
	if err != nil {
		t.Fatal(err)
	}
	if len(scopes) != 3 {
		t.Fatalf("%d graphs, expected the outer one and two branches", len(scopes))
	}
	for i, want := range []struct {
		name string
		dims []int64
		v    float32
	}{{"a", []int64{2}, 1}, {"a", []int64{1}, 9}, {"layer.weight", []int64{1}, 3}} {
		got, err := scopes[i][want.name].floats(want.dims...)
		if err != nil || got[0] != want.v {
			t.Errorf("graph %d: %q is %v (%v), expected to start with %v", i, want.name, got, err, want.v)
		}
	}
}

func TestTensorForms(t *testing.T) {
	packedDims := bytesField(tensorDims, []byte{2, 1})
	float := uintField(tensorDataType, dataTypeFloat)
	data := bytesField(tensorFloatData, []byte{0, 0, 128, 63, 0, 0, 0, 64})
	t.Run("packed", func(t *testing.T) {
		got, err := readTensor(append(append(packedDims, float...), data...))
		if err != nil {
			t.Fatal(err)
		}
		v, err := got.floats(2, 1)
		if err != nil || v[0] != 1 || v[1] != 2 {
			t.Errorf("numbers are %v (%v), expected 1 and 2", v, err)
		}
	})
	nan := float32(math.NaN())
	for _, c := range []struct {
		name, want string
		msg        []byte
	}{
		{"shape", "shape is [3]: expected [2]", tensorMessage("", []float32{1, 2, 3}, 3)},
		{"short", "has 4 bytes: expected 8", tensorMessage("", []float32{1}, 2)},
		{"type", "data type is 7", append(tensorMessage("", []float32{1, 2}, 2), uintField(tensorDataType, 7)...)},
		{"external", "another file", append(tensorMessage("", []float32{1, 2}, 2), uintField(tensorLocation, locationExternal)...)},
		{"nan", "number 1 is not finite", tensorMessage("", []float32{1, nan}, 2)},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := readTensor(c.msg)
			if err == nil {
				_, err = got.floats(2)
			}
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error is %v, expected %q", err, c.want)
			}
		})
	}
}

func TestReadScopesRefuses(t *testing.T) {
	deep := constant("c", tensorMessage("w", []float32{1}, 1))
	for range maxGraphDepth + 1 {
		deep = branches(deep, nil)
	}
	dims := tensorMessage("w", nil, make([]int64, maxTensorDims+1)...)
	packed := bytesField(tensorDims, make([]byte, maxTensorDims+1))
	for _, c := range []struct {
		name, want string
		file       []byte
	}{
		{"deep", "nested deeper", model(deep)},
		{"dimensions", "dimensions", model(bytesField(graphInitializer, dims))},
		{"packed dimensions", "dimensions", model(bytesField(graphInitializer, packed))},
		{"truncated", "truncated", model(bytesField(graphInitializer, tensorMessage("w", []float32{1, 2}, 2)))[:12]},
		{"group", "truncated", []byte{7<<3 | 3}},
		{"endless number", "truncated", []byte{0x38, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1}},
		{"huge length", "truncated", []byte{0x3a, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1, 0}},
		{"text", "truncated", []byte("<html>not found</html>")},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := readScopes(c.file); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error is %v, expected %q", err, c.want)
			}
		})
	}
}

func FuzzReadScopes(f *testing.F) {
	f.Add(model(append(
		bytesField(graphInitializer, tensorMessage("a", []float32{1, 2}, 2)),
		branches(constant("If__b", tensorMessage("", []float32{3}, 1)), constant("x", tensorMessage("a", nil)))...,
	)))
	f.Add(model(bytesField(graphInitializer, bytesField(tensorDims, []byte{2, 1}), bytesField(tensorFloatData, make([]byte, 8)))))
	f.Add([]byte{0x3a, 0xff, 0xff, 0xff, 0xff, 0x0f})
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, file []byte) {
		scopes, err := readScopes(file)
		if err != nil {
			return
		}
		for _, s := range scopes {
			for name, x := range s {
				if len(x.data) > len(file) || len(x.dims) > maxTensorDims {
					t.Fatalf("%q: %d bytes and %d dimensions out of a file of %d bytes", name, len(x.data), len(x.dims), len(file))
				}
				values, err := x.floats(2)
				if err == nil && (len(values) != 2 || values[0] != values[0]) {
					t.Fatalf("%q: accepted as %v", name, values)
				}
			}
		}
		if _, err := decodeModel(file); err == nil && len(file) < 1<<20 {
			t.Fatal("a file smaller than the weights was accepted")
		}
	})
}
