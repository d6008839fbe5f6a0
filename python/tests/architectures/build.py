# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models that are small but leave nothing out: every weight does something."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any

import torch

Inputs = Mapping[str, torch.Tensor]

#: What makes a configuration tiny, whatever the architecture. A name that a
#: configuration lacks, or has as a list, is left out.
_TINY = {
    "bos_token_id": 1,
    "d_ff": 64,
    "d_kv": 8,
    "d_model": 32,
    "decoder_attention_heads": 4,
    "decoder_ffn_dim": 64,
    "decoder_layers": 2,
    "decoder_start_token_id": 1,
    "embed_dim": 32,
    "embedding_size": 32,
    "encoder_attention_heads": 4,
    "encoder_ffn_dim": 64,
    "encoder_layers": 2,
    "eos_token_id": 2,
    "ffn_dim": 64,
    "first_k_dense_replace": 1,
    "head_dim": 8,
    "hidden_size": 32,
    "image_size": 32,
    # Large enough that attention is far from uniform.
    "initializer_range": 0.2,
    "intermediate_size": 64,
    "max_position_embeddings": 64,
    "max_source_positions": 64,
    "max_target_positions": 64,
    "moe_intermediate_size": 32,
    "n_embd": 32,
    "n_group": 1,
    "n_head": 4,
    "n_heads": 4,
    "n_layer": 2,
    "n_layers": 2,
    "n_positions": 64,
    "n_routed_experts": 4,
    "num_attention_heads": 4,
    "num_decoder_layers": 2,
    "num_experts": 4,
    "num_experts_per_tok": 2,
    "num_heads": 4,
    "num_hidden_layers": 2,
    "num_key_value_heads": 2,
    "num_layers": 2,
    "num_local_experts": 4,
    "pad_token_id": 0,
    "patch_size": 8,
    "projection_dim": 16,
    "shared_expert_intermediate_size": 32,
    "state_size": 8,
    "topk_group": 1,
    "use_cache": False,
    "vocab_size": 99,
}


@dataclass(frozen=True)
class Architecture:
    """One row of the table."""

    name: str
    family: str
    #: Name of a model class of transformers.
    model: str
    #: Options of its configuration; a dict stands for those of a part.
    options: Mapping[str, Any]
    inputs: Callable[[], dict[str, torch.Tensor]]
    dtype: torch.dtype = torch.float32
    #: Per input the axes that are dynamic, by name; one name is one size.
    dynamic: Mapping[str, Mapping[int, str]] = field(default_factory=dict)
    #: A second call of a dynamic program, at other sizes.
    grown: Callable[[], dict[str, torch.Tensor]] | None = None
    #: Slots of a static key-value cache that the model writes to; 0 = no cache.
    cache: int = 0


def _tiny_options(kind: type[Any]) -> dict[str, Any]:
    assert is_dataclass(kind)
    defaults = {option.name: option.default for option in fields(kind)}
    return {
        name: value
        for name, value in _TINY.items()
        if name in defaults and not isinstance(defaults[name], list | tuple)
    }


def tiny_config(kind: type[Any], overrides: Mapping[str, Any]) -> Any:
    """A tiny configuration of ``kind``; ``overrides`` win, also inside parts."""
    options = _tiny_options(kind)
    for name, value in overrides.items():
        part = kind.sub_configs.get(name)
        if part is None or not isinstance(value, dict):
            options[name] = value
        elif "model_type" in value:
            # A part of any kind: the option says which.
            from transformers import CONFIG_MAPPING

            rest = {key: v for key, v in value.items() if key != "model_type"}
            options[name] = tiny_config(CONFIG_MAPPING[value["model_type"]], rest)
        else:
            options[name] = tiny_config(part, value)
    for name, part in kind.sub_configs.items():
        if name not in overrides and is_dataclass(part):
            options[name] = tiny_config(part, {})
    return kind(**options)


def _enliven(model: torch.nn.Module) -> None:
    """Replaces what is the same everywhere (zero biases, unit scales)."""
    with torch.no_grad():
        for name, tensor in [*model.named_parameters(), *model.named_buffers()]:
            if not tensor.is_floating_point() or tensor.numel() < 2:
                continue
            if name.endswith("running_var"):
                tensor.uniform_(0.5, 1.5)
            elif (isinstance(tensor, torch.nn.Parameter) or "running" in name) and (
                torch.all(tensor == tensor.flatten()[0])
            ):
                tensor += 0.1 * torch.randn(tensor.shape)


class Outputs(torch.nn.Module):
    """Calls a model with named inputs; gives the tensors that it returns."""

    def __init__(self, model: torch.nn.Module, names: list[str]) -> None:
        super().__init__()
        self.model = model
        self.names = names

    def forward(self, *args: torch.Tensor) -> list[torch.Tensor]:
        outputs = self.model(**dict(zip(self.names, args, strict=True)))
        leaves = torch.utils._pytree.tree_leaves(tuple(outputs.values()))
        return [leaf for leaf in leaves if isinstance(leaf, torch.Tensor)]


def build(architecture: Architecture) -> tuple[torch.nn.Module, Inputs]:
    """The model in evaluation mode, and its inputs."""
    import transformers

    kind = getattr(transformers, architecture.model)
    torch.manual_seed(0)
    model = kind(tiny_config(kind.config_class, architecture.options)).eval()
    _enliven(model)
    model = model.to(architecture.dtype)
    inputs = cast(architecture.inputs(), architecture.dtype)
    return Outputs(model, list(inputs)), inputs


def cast(inputs: Inputs, dtype: torch.dtype) -> Inputs:
    """Inputs whose floats have the type of the model."""
    return {
        name: value.to(dtype) if value.is_floating_point() else value
        for name, value in inputs.items()
    }
