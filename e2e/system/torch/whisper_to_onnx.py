"""Converts Whisper from CTranslate2's format to the three files that sherpa-onnx reads.

usage: python whisper_to_onnx.py SOURCE FOLDER

SOURCE holds model.bin, config.json and tokenizer.json. FOLDER gets encoder.onnx, decoder.onnx and tokens.txt.
"""

import base64
import json
import struct
import sys
from pathlib import Path

import numpy
import onnx
import torch
from torch import nn
from torch.nn import functional

MELS = 80
FRAMES = 3000
AUDIO_CONTEXT = 1500
TEXT_CONTEXT = 448
FIRST_MULTILINGUAL_VOCABULARY = 51865
OPSET = 13
# The numbers of data types in a CTranslate2 file.
TYPES = {0: numpy.float32, 1: numpy.int8, 2: numpy.int16, 3: numpy.int32, 4: numpy.float16}


def read_weights(path):
    """Returns the variables of a CTranslate2 file by name: its own header, then name, shape, type and bytes of each."""
    with open(path, "rb") as file:

        def number(form):
            return struct.unpack("<" + form, file.read(struct.calcsize("<" + form)))[0]

        def text():
            return file.read(number("H")).rstrip(b"\0").decode()

        number("I")
        kind = text()
        if kind != "WhisperSpec":
            raise ValueError(f"{path} holds a {kind}, not a WhisperSpec")
        number("I")
        weights = {}
        for _ in range(number("I")):
            name = text()
            shape = [number("I") for _ in range(number("B"))]
            kind = TYPES[number("B")]
            data = numpy.frombuffer(file.read(number("I")), dtype=kind).reshape(shape)
            weights[name] = torch.from_numpy(data.copy()).float() if data.ndim else int(data)
        return weights


class Part(nn.Module):
    """What encoder and decoder have in common. `prefix` is the first part of the names of its weights."""

    def __init__(self, weights, prefix):
        super().__init__()
        self.weights = {name.removeprefix(prefix + "/"): value for name, value in weights.items() if name.startswith(prefix)}
        self.heads = self.weights["num_heads"]
        layers = {name.split("/")[0] for name in self.weights if name.startswith("layer_")}
        self.layers = sorted(layers - {"layer_norm"}, key=lambda name: int(name.removeprefix("layer_")))

    def linear(self, x, name):
        return functional.linear(x, self.weights[name + "/weight"], self.weights[name + "/bias"])

    def norm(self, x, name):
        scale = self.weights[name + "/gamma"]
        return functional.layer_norm(x, scale.shape, scale, self.weights[name + "/beta"], 1e-5)

    def convolution(self, x, name, stride):
        weight, bias = self.weights[name + "/weight"], self.weights[name + "/bias"]
        return functional.gelu(functional.conv1d(x, weight, bias, stride=stride, padding=1))

    def feed_forward(self, x, layer):
        hidden = functional.gelu(self.linear(self.norm(x, layer + "/ffn/layer_norm"), layer + "/ffn/linear_0"))
        return x + self.linear(hidden, layer + "/ffn/linear_1")

    def attention(self, q, k, v, mask=None):
        """Returns the result and the weights of each head."""
        batch, length, size = q.shape
        width = size // self.heads
        q = q.view(batch, length, self.heads, width).permute(0, 2, 1, 3) * width**-0.5
        k = k.view(batch, -1, self.heads, width).permute(0, 2, 3, 1)
        v = v.view(batch, -1, self.heads, width).permute(0, 2, 1, 3)
        scores = q @ k
        if mask is not None:
            scores = scores + mask
        shares = scores.softmax(-1)
        return (shares @ v).permute(0, 2, 1, 3).reshape(batch, length, size), shares


class Encoder(Part):
    """Returns the keys and values of the decoder's cross-attention: one row for each of its layers."""

    def __init__(self, weights, decoder):
        super().__init__(weights, "encoder")
        self.decoder = decoder

    def forward(self, mel):
        x = self.convolution(self.convolution(mel, "conv1", 1), "conv2", 2).permute(0, 2, 1)
        x = x + self.weights["position_encodings/encodings"][: x.shape[1]]
        for layer in self.layers:
            inputs = self.linear(self.norm(x, layer + "/self_attention/layer_norm"), layer + "/self_attention/linear_0")
            result, _ = self.attention(*inputs.chunk(3, dim=-1))
            x = x + self.linear(result, layer + "/self_attention/linear_1")
            x = self.feed_forward(x, layer)
        x = self.norm(x, "layer_norm")
        pairs = [self.decoder.linear(x, layer + "/attention/linear_1").chunk(2, dim=-1) for layer in self.decoder.layers]
        return torch.stack([k for k, _ in pairs]), torch.stack([v for _, v in pairs])


class Decoder(Part):
    """
    One step: scores of the next tokens, the caches of the self-attention with the rows of `tokens` filled in, and where the
    alignment heads look in the recording, from which sherpa-onnx computes the times of words.
    """

    def __init__(self, weights, alignment_heads):
        super().__init__(weights, "decoder")
        self.alignment_heads = alignment_heads
        self.causal = torch.full((TEXT_CONTEXT, TEXT_CONTEXT), float("-inf")).triu(1)

    def forward(self, tokens, keys, values, cross_keys, cross_values, offset):
        start = offset[0]
        end = start + tokens.shape[-1]
        embeddings = self.weights["embeddings/weight"]
        x = functional.embedding(tokens, embeddings) + self.weights["position_encodings/encodings"][start:end]
        mask = self.causal[start:end, :end]
        new_keys, new_values, aligned = [], [], []
        for index, layer in enumerate(self.layers):
            inputs = self.linear(self.norm(x, layer + "/self_attention/layer_norm"), layer + "/self_attention/linear_0")
            q, k, v = inputs.chunk(3, dim=-1)
            k = torch.cat([keys[index][:, :start], k], 1)
            v = torch.cat([values[index][:, :start], v], 1)
            new_keys.append(torch.cat([k, keys[index][:, end:]], 1))
            new_values.append(torch.cat([v, values[index][:, end:]], 1))
            result, _ = self.attention(q, k, v, mask)
            x = x + self.linear(result, layer + "/self_attention/linear_1")
            q = self.linear(self.norm(x, layer + "/attention/layer_norm"), layer + "/attention/linear_0")
            heard, shares = self.attention(q, cross_keys[index], cross_values[index])
            aligned.extend(shares[:, head : head + 1] for of, head in self.alignment_heads if of == index)
            x = self.feed_forward(x + self.linear(heard, layer + "/attention/linear_2"), layer)
        scores = functional.linear(self.norm(x, "layer_norm"), embeddings)
        return scores, torch.stack(new_keys), torch.stack(new_values), torch.cat(aligned, 1)


def export(module, arguments, path, inputs, outputs, axes):
    torch.onnx.export(
        module,
        arguments,
        path,
        input_names=inputs,
        output_names=outputs,
        dynamic_axes=axes,
        opset_version=OPSET,
        dynamo=False,
    )


def export_graphs(encoder, decoder, folder):
    cross = ["n_layer_cross_k", "n_layer_cross_v"]
    cached = ["n_layer_self_k_cache", "n_layer_self_v_cache"]
    read, written = [["in_" + name for name in cached], ["out_" + name for name in cached]]
    heard = {name: {1: "batch", 2: "heard"} for name in cross}
    mel = torch.randn(1, MELS, FRAMES)
    export(encoder, (mel,), folder / "encoder.onnx", ["mel"], cross, {"mel": {0: "batch", 2: "frames"}, **heard})
    size = decoder.weights["embeddings/weight"].shape[1]
    empty = torch.zeros(len(decoder.layers), 1, TEXT_CONTEXT, size)
    arguments = (torch.tensor([[1, 2, 3]]), empty, empty, *encoder(mel), torch.zeros(1, dtype=torch.int64))
    axes = {"tokens": {0: "batch", 1: "length"}, "logits": {0: "batch", 1: "length"}, **heard}
    axes.update({name: {1: "batch"} for name in read + written})
    axes["cross_attention_weights"] = {0: "batch", 2: "length", 3: "heard"}
    results = ["logits", *written, "cross_attention_weights"]
    # A trace has the lengths as values of the graph, not as numbers of this example.
    traced = torch.jit.trace(decoder, arguments)
    export(traced, arguments, folder / "decoder.onnx", ["tokens", *read, *cross, "offset"], results, axes)


def byte_of_letter():
    """The letters by which a byte-level vocabulary writes bytes."""
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in plain]
    letters = {chr(byte): byte for byte in plain}
    return {**letters, **{chr(256 + index): byte for index, byte in enumerate(others)}}


def metadata_of(encoder, decoder, special, vocabulary, config):
    """What sherpa-onnx reads from the encoder."""
    total, size = decoder.weights["embeddings/weight"].shape
    is_multilingual = total >= FIRST_MULTILINGUAL_VOCABULARY
    first = special["<|startoftranscript|>"]
    between = range(first + 1, special["<|translate|>"])
    languages = sorted((token, name[2:-2]) for name, token in special.items() if token in between and name[2:-2].isalpha())
    start = [first, special["<|en|>"], special["<|transcribe|>"]] if is_multilingual else [first]
    silence = next(special[name] for name in ("<|nospeech|>", "<|nocaptions|>") if name in special)
    return {
        "model_type": "whisper",
        "version": 2,
        "n_mels": MELS,
        "n_audio_ctx": AUDIO_CONTEXT,
        "n_audio_state": size,
        "n_audio_head": encoder.heads,
        "n_audio_layer": len(encoder.layers),
        "n_vocab": total,
        "n_text_ctx": TEXT_CONTEXT,
        "n_text_state": size,
        "n_text_head": decoder.heads,
        "n_text_layer": len(decoder.layers),
        "sot_sequence": ",".join(map(str, start)),
        "all_language_tokens": ",".join(str(token) for token, _ in languages),
        "all_language_codes": ",".join(code for _, code in languages),
        "sot": first,
        "sot_index": 0,
        "eot": special["<|endoftext|>"],
        "blank_id": vocabulary["Ġ"],
        "is_multilingual": int(is_multilingual),
        "no_speech": silence,
        "non_speech_tokens": ",".join(str(token) for token in config["suppress_ids"] if token >= 0),
        "transcribe": special["<|transcribe|>"],
        "translate": special["<|translate|>"],
        "sot_prev": special["<|startofprev|>"],
        "sot_lm": special["<|startoflm|>"],
        "no_timestamps": special["<|notimestamps|>"],
        "n_alignment_heads": len(decoder.alignment_heads),
        "alignment_heads": ",".join(f"{layer}:{head}" for layer, head in decoder.alignment_heads),
    }


def write_metadata(path, values):
    model = onnx.load(path)
    del model.metadata_props[:]
    for key, value in values.items():
        model.metadata_props.add(key=key, value=str(value))
    onnx.save(model, path)


def write_tokens(path, vocabulary, special):
    bytes_of = byte_of_letter()
    with open(path, "w", encoding="ascii") as file:
        for piece, token in sorted(vocabulary.items(), key=lambda item: item[1]):
            if piece not in special:
                encoded = base64.b64encode(bytes(bytes_of[letter] for letter in piece)).decode()
                file.write(f"{encoded} {token}\n")


def main(source, folder):
    folder.mkdir(parents=True, exist_ok=True)
    weights = read_weights(source / "model.bin")
    tokenizer = json.loads((source / "tokenizer.json").read_text(encoding="utf-8"))
    config = json.loads((source / "config.json").read_text(encoding="utf-8"))
    special = {token["content"]: token["id"] for token in tokenizer["added_tokens"]}
    vocabulary = tokenizer["model"]["vocab"]
    decoder = Decoder(weights, config["alignment_heads"]).eval()
    encoder = Encoder(weights, decoder).eval()
    with torch.no_grad():
        export_graphs(encoder, decoder, folder)
    write_metadata(folder / "encoder.onnx", metadata_of(encoder, decoder, special, vocabulary, config))
    write_tokens(folder / "tokens.txt", vocabulary, special)


main(*map(Path, sys.argv[1:3]))
