"""Makes the networks of the tests, with the Python package onnx:

    python3 networks.py

sum.onnx: y = x + k, for floats x and integers k. endless.onnx: y = x + 1, a billion times.
"""
import onnx
from onnx import TensorProto, helper

FLOAT, INT, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL


def info(name, kind, shape):
    return helper.make_tensor_value_info(name, kind, shape)


def save(graph, name):
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 15)], ir_version=8)
    onnx.checker.check_model(model)
    onnx.save(model, name)


save(helper.make_graph(
    [helper.make_node("Cast", ["k"], ["f"], to=FLOAT), helper.make_node("Add", ["x", "f"], ["y"])],
    "sum", [info("x", FLOAT, ["n"]), info("k", INT, ["n"])], [info("y", FLOAT, ["n"])]), "sum.onnx")

body = helper.make_graph(
    [helper.make_node("Add", ["a", "one"], ["b"]), helper.make_node("Identity", ["go"], ["on"])],
    "body", [info("i", INT, []), info("go", BOOL, []), info("a", FLOAT, [1])], [info("on", BOOL, []), info("b", FLOAT, [1])],
    [helper.make_tensor("one", FLOAT, [1], [1.0])])
save(helper.make_graph(
    [helper.make_node("Loop", ["times", "", "x"], ["y"], body=body)],
    "endless", [info("x", FLOAT, [1])], [info("y", FLOAT, [1])],
    [helper.make_tensor("times", INT, [], [10**9])]), "endless.onnx")
