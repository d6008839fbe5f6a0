# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Takes the pictures of docs/viewer.md, and says how long pages take to open.

Wants a build and the development requirements:

    PYTHONPATH=python .venv/bin/python scripts/screenshots.py [FOLDER]
"""

from __future__ import annotations

import asyncio
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import torch

from coreai_torch import TorchConverter
from coreai_torch.debugging import view
from coreai_torch.debugging.benchmarker import benchmark_coreai_program

REPOSITORY = Path(__file__).resolve().parent.parent


class Encoder(torch.nn.Module):
    """BERT-base with random weights."""

    def __init__(self) -> None:
        super().__init__()
        from transformers import BertConfig, BertModel

        torch.manual_seed(0)
        self.bert = BertModel(BertConfig(), add_pooling_layer=False)

    def forward(self, ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """Return the last hidden state."""
        states: torch.Tensor = self.bert(ids, mask)[0]
        return states


class Decoder(torch.nn.Module):
    """24 layers of a small decoder with random weights."""

    def __init__(self) -> None:
        super().__init__()
        from transformers import Qwen2Config, Qwen2ForCausalLM

        torch.manual_seed(0)
        self.decoder = Qwen2ForCausalLM(
            Qwen2Config(
                vocab_size=1024,
                hidden_size=256,
                intermediate_size=704,
                num_hidden_layers=24,
                num_attention_heads=8,
                num_key_value_heads=2,
            )
        )

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        """Return the logits."""
        logits: torch.Tensor = self.decoder(ids, use_cache=False)[0]
        return logits


def convert(module: torch.nn.Module, *args: torch.Tensor) -> Any:
    """Convert a module in evaluation mode."""
    exported = torch.export.export(module.eval(), args).run_decompositions()
    return TorchConverter().add_exported_program(exported).to_coreai()


def main() -> None:
    """Write the pictures into the folder that was given, else into docs."""
    from playwright.sync_api import sync_playwright

    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else REPOSITORY / "docs/images"
    folder.mkdir(parents=True, exist_ok=True)
    ids = torch.randint(0, 1000, (1, 128))
    encoder = convert(Encoder(), ids, torch.ones(1, 128, dtype=torch.int64))
    decoder = convert(Decoder(), ids)
    profile = asyncio.run(
        benchmark_coreai_program(decoder, {"ids": ids.int().numpy()}, num_runs=3)
    )
    with tempfile.TemporaryDirectory() as temporary, sync_playwright() as playwright:
        pages = {
            "bert": view(encoder, Path(temporary, "bert.html"), title="BERT-base"),
            "decoder": view(
                decoder,
                Path(temporary, "decoder.html"),
                profile=profile,
                title="Decoder, 24 layers",
            ),
        }
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )

        def opened(name: str, scheme: str) -> Any:
            page = browser.new_page(
                viewport={"width": 1280, "height": 800}, color_scheme=scheme
            )
            start = time.perf_counter()
            page.goto(pages[name].as_uri())
            page.wait_for_selector("#world .node")
            seconds = time.perf_counter() - start
            operations = page.inner_text("#stats").split(" ·")[0]
            print(f"{name}: {operations}, open after {seconds:.2f} s")
            return page

        page = opened("bert", "light")
        page.click('[data-part="BertEncoder 1"] .twist')
        page.click('[data-part="BertLayer 1"]')
        page.click('[data-node="op:batch_matmul"] >> nth=0')
        page.screenshot(path=folder / "view-bert.png")
        page = opened("decoder", "dark")
        page.click('[data-part="Qwen2Model 1"] .twist')
        page.click('[data-part="Qwen2DecoderLayer 1"]')
        page.keyboard.press("u")
        page.screenshot(path=folder / "view-decoder.png")
        browser.close()


if __name__ == "__main__":
    main()
