# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""llama.cpp as a contender: decoders of Qwen2's shape in files of its own."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch

from benchmarks import zoo

PARTS = {
    "input_layernorm": "attn_norm",
    "post_attention_layernorm": "ffn_norm",
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
    "before": "attn_norm",
    "after": "ffn_norm",
    "query": "attn_q",
    "key": "attn_k",
    "value": "attn_v",
    "out": "attn_output",
    "gate": "ffn_gate",
    "up": "ffn_up",
    "down": "ffn_down",
    "embed_tokens": "token_embd",
    "embedding": "token_embd",
    "norm": "output_norm",
}
"""Layers of transformers' Qwen2 and of `zoo.Decode`, by their name in a GGUF."""


def tensors(module: torch.nn.Module) -> Iterator[tuple[str, torch.Tensor]]:
    """Weights by the names that llama.cpp looks for."""
    for name, tensor in module.state_dict().items():
        name = name.removeprefix("network.").removeprefix("model.")
        if name == "lm_head.weight":
            # The embedding, once more.
            continue
        found = re.fullmatch(r"(?:layers\.(\d+)\.)?(.+)\.(weight|bias)", name)
        if found is None or found[2] not in PARTS:
            raise ValueError(f"{name} is no weight of a decoder of Qwen2's shape")
        layer = "" if found[1] is None else f"blk.{found[1]}."
        yield f"{layer}{PARTS[found[2]]}.{found[3]}", tensor


def head_size(module: torch.nn.Module) -> int:
    if isinstance(module, zoo.Decode):
        first = module.layers[0]
        assert isinstance(first, zoo.DecodeLayer)
        return first.head
    assert isinstance(module, zoo.OneTensor)
    config = module.network.config
    size: int = config.hidden_size // config.num_attention_heads
    return size


def sizes(module: torch.nn.Module) -> dict[str, int]:
    """What llama.cpp wants to be told of a decoder."""
    shapes = {name: tensor.shape for name, tensor in tensors(module)}
    head = head_size(module)
    return {
        "words": shapes["token_embd.weight"][0],
        "width": shapes["token_embd.weight"][1],
        "layers": sum(name.endswith("attn_q.weight") for name in shapes),
        "inner": shapes["blk.0.ffn_gate.weight"][0],
        "heads": shapes["blk.0.attn_q.weight"][0] // head,
        "groups": shapes["blk.0.attn_k.weight"][0] // head,
    }


def write(module: torch.nn.Module, path: Path, kind: str) -> None:
    """A GGUF without words; `kind` is F32, BF16, Q8_0 or Q4_0."""
    import gguf  # type: ignore[import-not-found]

    form = gguf.GGMLQuantizationType[kind]
    plain = gguf.GGMLQuantizationType.F32
    about = sizes(module)
    writer = gguf.GGUFWriter(path, "qwen2")
    writer.add_file_type(gguf.LlamaFileType[f"MOSTLY_{kind}" if form else "ALL_F32"])
    writer.add_tokenizer_model("none")
    writer.add_vocab_size(about["words"])
    writer.add_context_length(32768)
    writer.add_embedding_length(about["width"])
    writer.add_block_count(about["layers"])
    writer.add_feed_forward_length(about["inner"])
    writer.add_head_count(about["heads"])
    writer.add_head_count_kv(about["groups"])
    writer.add_layer_norm_rms_eps(1e-6)
    writer.add_rope_freq_base(zoo.ROTARY_BASE)
    for name, tensor in tensors(module):
        # Biases and norms stay as they are, as in files that people use.
        used = form if tensor.dim() == 2 else plain
        data = gguf.quants.quantize(tensor.detach().float().numpy(), used)
        writer.add_tensor(name, data, raw_dtype=used)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


class Decoder:
    """A model of llama.cpp that is given tokens at places."""

    def __init__(
        self, path: Path, words: int, length: int, threads: int, exact: bool
    ) -> None:
        import llama_cpp  # type: ignore[import-not-found]

        self.api, self.words = llama_cpp, words
        llama_cpp.llama_backend_init()
        settings = llama_cpp.llama_model_default_params()
        self.model = llama_cpp.llama_model_load_from_file(str(path).encode(), settings)
        if not self.model:
            raise ValueError(f"llama.cpp cannot load {path}")
        options = llama_cpp.llama_context_default_params()
        options.n_ctx = length
        options.n_batch = options.n_ubatch = length
        options.n_threads = options.n_threads_batch = threads
        if exact:
            options.type_k = options.type_v = llama_cpp.GGML_TYPE_F32
        self.context = llama_cpp.llama_init_from_model(self.model, options)
        if not self.context:
            raise ValueError(f"llama.cpp cannot run {path}")
        self.batch = llama_cpp.llama_batch_init(length, 0, 1)

    def read(self, tokens: list[int], first: int) -> Any:
        """Logits of tokens, of which the first has that place."""
        memory = self.api.llama_get_memory(self.context)
        # What came here before goes.
        self.api.llama_memory_seq_rm(memory, 0, first, -1)
        batch = self.batch
        batch.n_tokens = len(tokens)
        for index, token in enumerate(tokens):
            batch.token[index] = token
            batch.pos[index] = first + index
            batch.n_seq_id[index] = 1
            batch.seq_id[index][0] = 0
            batch.logits[index] = 1
        code = self.api.llama_decode(self.context, batch)
        if code != 0:
            raise ValueError(f"llama_decode returned {code}")
        found = self.api.llama_get_logits(self.context)
        return np.ctypeslib.as_array(found, shape=(1, len(tokens), self.words))


def llama(task: Any, kind: str) -> Callable[[], Any]:
    """One token over its cache, or a whole prompt, as the model has it."""
    from benchmarks.engine.worker import is_made

    module, inputs = task.built.module, task.built.inputs
    path = task.folder / f"{task.name}-{kind}.gguf"
    if not is_made(path):
        write(module, path, kind)
    words = sizes(module)["words"]
    one = isinstance(module, zoo.Decode)
    tokens = inputs["token" if one else "input_ids"]
    if tokens.shape[0] != 1:
        raise ValueError("llama.cpp is given one sequence: use --batch 1")
    past = inputs["keys"].shape[3] if one else 0
    given = tokens[0].tolist()
    count = past + len(given)
    decoder = Decoder(path, words, count, task.threads, exact=kind == "F32")
    if past:
        decoder.read(zoo.prompt(words, past)[0].tolist(), 0)
    return lambda: decoder.read(given, past)
