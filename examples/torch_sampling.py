"""Steps of PyTorch programs, as they are and with dmlcpu behind torch's own functions.

    python examples/torch_sampling.py [--rows ROWS]

Top-k sampling: of the logits of a language model's 128256 tokens, the 50 highest of each row, one of
which is drawn. A label map: of the scores of 21 classes, the best class of each of 512 x 512 pixels.
The functions do not know of dmlcpu; `dmlcpu.torch.enable()` is all that changes. Results agree.
"""

import argparse

import torch

import dmlcpu.torch

from timing import milliseconds, note_load


def sample(logits, k=50, generator=None):
    """A token for each row, drawn from its k most probable ones."""
    values, tokens = torch.topk(logits, k)
    drawn = torch.multinomial(torch.softmax(values, -1), 1, generator=generator)
    return tokens.gather(-1, drawn)


def keep_nucleus(logits, p=0.9):
    """The logits of the fewest tokens whose probabilities sum up to p or more; -inf for the others."""
    # Stable, so that among equal logits the same ones are kept with every implementation of the sort.
    ascending, tokens = torch.sort(logits, dim=-1, stable=True)
    up_to = torch.cumsum(torch.softmax(ascending, -1), -1)
    unlikely = up_to <= 1 - p
    unlikely[:, -1] = False  # the most probable one stays
    return logits.masked_fill(unlikely.scatter(1, tokens, unlikely), float("-inf"))


def label_map(scores):
    """The class of highest score of each pixel."""
    return torch.argmax(scores, dim=1)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=int, default=64, help="rows of logits, default 64")
    arguments = parser.parse_args()
    generator = torch.Generator().manual_seed(1)
    logits = torch.randn(arguments.rows, 128256, generator=generator)
    scores = torch.randn(1, 21, 512, 512, generator=generator)
    bfloat16_logits = logits.bfloat16()
    steps = {
        "top-k sampling": lambda: sample(logits, generator=generator.manual_seed(0)),
        "top-p, float32": lambda: keep_nucleus(logits),
        "top-p, bfloat16": lambda: keep_nucleus(bfloat16_logits),
        "label map": lambda: label_map(scores),
    }
    for name, step in steps.items():
        own, own_time = step(), milliseconds(step)
        dmlcpu.torch.enable()
        faster, faster_time = step(), milliseconds(step)
        dmlcpu.torch.disable()
        print(
            f"{name:16} PyTorch {own_time:8.2f} ms   with enable() {faster_time:8.2f} ms   "
            f"{own_time / faster_time:5.1f} times   results {'agree' if own.equal(faster) else 'DIFFER'}"
        )
    note_load()


if __name__ == "__main__":
    main()
