"""An ONNX model evaluated by onnx's own evaluator, with its operators and with dmlcpu's.

    python examples/onnx_graph.py [--size PIXELS]

The model ends a program that labels the pixels of an image: of each pixel's scores of 21 classes,
ArgMax finds the best class and GatherND looks up its colour in a palette; TopK finds the pixels that
the network is least sure of. The scores are random. Both evaluators' answers are compared and timed.
"""

import argparse

import numpy as np
import onnx.checker
import onnx.parser
from onnx.reference import ReferenceEvaluator

import dmlcpu.onnx

from timing import milliseconds, note_load

CLASSES = 21

MODEL = """
<ir_version: 8, opset_import: ["": 13]>
colour_and_doubt (float[C, H, W] scores, uint8[C, 3] palette, int64[1] count)
    => (uint8[H, W, 3] image, float[K] margins, int64[K] pixels)
{
  classes = ArgMax <axis = 0, keepdims = 0> (scores)
  last = Constant <value_ints = [-1]> ()
  tuples = Unsqueeze (classes, last)
  image = GatherND (palette, tuples)

  two = Constant <value_ints = [2]> ()
  best, best_classes = TopK <axis = 0> (scores, two)
  halves = Constant <value_ints = [1, 1]> ()
  first, second = Split <axis = 0> (best, halves)
  margin = Sub (first, second)
  flat = Reshape (margin, last)
  margins, pixels = TopK <largest = 0> (flat, count)
}
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--size", type=int, default=256, metavar="PIXELS")
    size = parser.parse_args().size

    model = onnx.parser.parse_model(MODEL)
    onnx.checker.check_model(model)
    rng = np.random.default_rng(0)
    feeds = {
        "scores": rng.standard_normal((CLASSES, size, size), np.float32),
        "palette": rng.integers(0, 256, (CLASSES, 3), np.uint8),
        "count": np.array([10]),
    }
    evaluators = {
        "onnx": ReferenceEvaluator(model),
        "dmlcpu": ReferenceEvaluator(model, new_ops=dmlcpu.onnx.ops()),
    }
    print(f"{CLASSES} classes, {size} x {size} pixels, {dmlcpu.get_num_threads()} threads")
    answers, times = {}, {}
    for name, evaluator in evaluators.items():
        answers[name] = evaluator.run(None, feeds)
        times[name] = milliseconds(lambda evaluator=evaluator: evaluator.run(None, feeds))
    for name, took in times.items():
        print(f"{name:8} {took:9.2f} ms   {times['onnx'] / took:6.1f} times")
    note_load()
    same = all(np.array_equal(*pair) for pair in zip(*answers.values(), strict=True))
    print(f"answers {'agree' if same else 'DIFFER'}")
    return 0 if same else 1


if __name__ == "__main__":
    raise SystemExit(main())
