# %% [markdown]
# # Label maps from segmentation logits
#
# A segmentation network gives each pixel a score for every class; a label map is the best class of each.
# Here the scores are a small classifier's: the classes are eight colours found in a photograph of
# scikit-learn's, and a pixel scores the higher for a class the nearer its colour is.
#
# It needs `pip install scikit-learn matplotlib` and writes `label_maps.png`.

# %% The logits
import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import load_sample_image

import dmlcpu

image = load_sample_image("china.jpg")
pixels = image.reshape(-1, 3).astype(np.float32)
model = KMeans(8, n_init=1, random_state=0).fit(pixels[::50])
centres = model.cluster_centers_.astype(np.float32)

# (classes, height, width), as networks give them
distances = ((image[..., None, :] - centres) ** 2).sum(-1)
logits = np.ascontiguousarray(np.moveaxis(-distances / 1000, -1, 0))
print("logits", logits.shape, logits.dtype)

# %% The label map
labels = dmlcpu.argmax(logits, axis=0, keepdims=False, index_dtype=np.int32)
print("labels", labels.shape, labels.dtype)

# %% Its colours
palette = centres.round().astype(np.uint8)
coloured = dmlcpu.gather_nd(palette, labels[..., None])
print("coloured", coloured.shape, coloured.dtype)

# %% Where the network is unsure
best = dmlcpu.top_k(logits, 2, axis=0)
margin = best.values[0] - best.values[1]
print("the best two classes", best.indices.shape, "of the pixel at (0, 0):", best.indices[:, 0, 0])

# %% The pixels to look at first
doubt = dmlcpu.top_k(margin.reshape(-1), 5, axis_direction="increasing")
rows, columns = np.unravel_index(doubt.indices, margin.shape)
print("smallest margins at", [(int(row), int(column)) for row, column in zip(rows, columns)])

# %% The picture
figure, axes = plt.subplots(1, 3, figsize=(12, 3.1), layout="constrained")
titles = "The photograph", "Its label map, in the classes' colours", "Margin of the best class"
for axis, title, picture in zip(axes, titles, (image, coloured, np.minimum(margin, 5))):
    shown = axis.imshow(picture, cmap="magma")
    axis.set_title(title)
    axis.set_axis_off()
figure.colorbar(shown, ax=axes[2], label="logits, cut at 5")
figure.savefig("label_maps.png")
