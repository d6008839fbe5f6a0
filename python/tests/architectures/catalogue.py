# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The architectures, as data."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch

from architectures.build import Architecture

DECODER = "text decoder"
EXPERTS = "mixture of experts"
STATE_SPACE = "state space"
ENCODER = "text encoder"
ENCODER_DECODER = "encoder-decoder"
VISION = "vision"
AUDIO = "audio"
MULTIMODAL = "multimodal"
SERIES = "time series"

BATCH, LENGTH = 2, 12


def tokens(length: int = LENGTH, batch: int = BATCH) -> torch.Tensor:
    generator = torch.Generator().manual_seed(length)
    return torch.randint(3, 99, (batch, length), generator=generator)


def mask(length: int = LENGTH, batch: int = BATCH) -> torch.Tensor:
    """The last row ends three tokens early."""
    values = torch.ones(batch, length, dtype=torch.int64)
    values[-1, length - 3 :] = 0
    return values


def normal(*shape: int) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(0))


def text() -> dict[str, torch.Tensor]:
    return {"input_ids": tokens(), "attention_mask": mask()}


def text_pair() -> dict[str, torch.Tensor]:
    return {**text(), "decoder_input_ids": tokens(7)}


def image(size: int = 32, channels: int = 3) -> Any:
    return lambda: {"pixel_values": normal(BATCH, channels, size, size)}


def text_and_image() -> dict[str, torch.Tensor]:
    return {**text(), **image()()}


def wave(samples: int = 400) -> Any:
    return lambda: {"input_values": normal(BATCH, samples)}


def decoder(name: str, model: str, **options: Any) -> Architecture:
    return Architecture(name, DECODER, model, options, text)


def experts(name: str, model: str, **options: Any) -> Architecture:
    return Architecture(name, EXPERTS, model, options, text)


def state_space(name: str, model: str, **options: Any) -> Architecture:
    return Architecture(name, STATE_SPACE, model, options, text)


def encoder(name: str, model: str, **options: Any) -> Architecture:
    return Architecture(name, ENCODER, model, options, text)


def encoder_decoder(name: str, model: str, **options: Any) -> Architecture:
    return Architecture(name, ENCODER_DECODER, model, options, text_pair)


def vision(name: str, model: str, size: int = 32, **options: Any) -> Architecture:
    return Architecture(name, VISION, model, options, image(size))


def audio(name: str, model: str, inputs: Any = None, **options: Any) -> Architecture:
    return Architecture(name, AUDIO, model, options, inputs or wave())


def multimodal(name: str, model: str, inputs: Any, **options: Any) -> Architecture:
    return Architecture(name, MULTIMODAL, model, options, inputs)


#: Convolutions that shorten a wave by eight.
_SPEECH = {
    "conv_dim": (32, 32),
    "conv_kernel": (4, 2),
    "conv_stride": (4, 2),
    "num_conv_pos_embeddings": 16,
    "num_conv_pos_embedding_groups": 2,
    "num_feat_extract_layers": 2,
}
_STAGES = {"depths": [1, 1, 1, 1], "hidden_sizes": [16, 32, 32, 32]}
_PYRAMID = {
    "depths": [1, 1, 1, 1],
    "hidden_sizes": [8, 16, 16, 32],
    "num_attention_heads": [1, 2, 2, 4],
}
_LATENT = {
    "kv_lora_rank": 16,
    "q_lora_rank": 16,
    "qk_nope_head_dim": 8,
    "qk_rope_head_dim": 8,
    "v_head_dim": 8,
    "num_key_value_heads": 4,
}
_MAMBA2 = {
    "mamba_n_heads": 8,
    "mamba_d_head": 8,
    "mamba_d_state": 8,
    "mamba_chunk_size": 8,
}

ARCHITECTURES = [
    decoder("apertus", "ApertusForCausalLM"),
    decoder("biogpt", "BioGptForCausalLM"),
    decoder("bitnet", "BitNetForCausalLM"),
    decoder("bloom", "BloomForCausalLM"),
    decoder("codegen", "CodeGenForCausalLM", rotary_dim=4),
    decoder("cohere", "CohereForCausalLM"),
    decoder("cohere2", "Cohere2ForCausalLM", sliding_window=4),
    decoder("ctrl", "CTRLLMHeadModel", dff=64),
    decoder("diffllama", "DiffLlamaForCausalLM"),
    decoder("exaone4", "Exaone4ForCausalLM", sliding_window=4),
    decoder("falcon", "FalconForCausalLM"),
    decoder("falcon_alibi", "FalconForCausalLM", alibi=True),
    decoder("gemma", "GemmaForCausalLM"),
    decoder("gemma2", "Gemma2ForCausalLM", sliding_window=4),
    decoder("gemma3", "Gemma3ForCausalLM", sliding_window=4),
    decoder("glm", "GlmForCausalLM"),
    decoder("glm4", "Glm4ForCausalLM"),
    decoder("gpt2", "GPT2LMHeadModel"),
    decoder("gpt_bigcode", "GPTBigCodeForCausalLM"),
    decoder(
        "gpt_neo",
        "GPTNeoForCausalLM",
        attention_types=[[["global", "local"], 1]],
        window_size=4,
    ),
    decoder("gpt_neox", "GPTNeoXForCausalLM"),
    decoder("gptj", "GPTJForCausalLM", rotary_dim=4),
    decoder("granite", "GraniteForCausalLM"),
    decoder("helium", "HeliumForCausalLM"),
    decoder("lfm2", "Lfm2ForCausalLM", layer_types=["conv", "full_attention"]),
    decoder("llama", "LlamaForCausalLM"),
    decoder("mistral", "MistralForCausalLM", sliding_window=4),
    decoder("modernbert_decoder", "ModernBertDecoderForCausalLM", local_attention=4),
    decoder("mpt", "MptForCausalLM", max_seq_len=64),
    decoder("nemotron", "NemotronForCausalLM"),
    decoder("olmo", "OlmoForCausalLM", clip_qkv=2.0),
    decoder("olmo2", "Olmo2ForCausalLM"),
    decoder("opt", "OPTForCausalLM", word_embed_proj_dim=32),
    decoder("persimmon", "PersimmonForCausalLM"),
    decoder("phi", "PhiForCausalLM"),
    decoder("phi3", "Phi3ForCausalLM"),
    decoder("qwen2", "Qwen2ForCausalLM"),
    decoder("qwen3", "Qwen3ForCausalLM"),
    decoder("smollm3", "SmolLM3ForCausalLM", no_rope_layer_interval=2),
    decoder("stablelm", "StableLmForCausalLM", qk_layernorm=True),
    decoder("starcoder2", "Starcoder2ForCausalLM"),
    decoder("xglm", "XGLMForCausalLM", attention_heads=4),
    experts(
        "dbrx",
        "DbrxForCausalLM",
        attn_config={"rope_theta": 10000.0, "kv_n_heads": 2, "clip_qkv": 8.0},
        ffn_config={"ffn_hidden_size": 32, "moe_num_experts": 4, "moe_top_k": 2},
    ),
    experts("deepseek_v2", "DeepseekV2ForCausalLM", **_LATENT),
    experts("deepseek_v3", "DeepseekV3ForCausalLM", **_LATENT),
    experts("ernie4_5_moe", "Ernie4_5_MoeForCausalLM", moe_k=2, moe_num_experts=4),
    experts("gpt_oss", "GptOssForCausalLM", sliding_window=4),
    experts("granitemoe", "GraniteMoeForCausalLM"),
    experts("jetmoe", "JetMoeForCausalLM", kv_channels=8),
    experts("mixtral", "MixtralForCausalLM"),
    experts("olmoe", "OlmoeForCausalLM"),
    experts("phimoe", "PhimoeForCausalLM"),
    experts("qwen2_moe", "Qwen2MoeForCausalLM"),
    experts("qwen3_moe", "Qwen3MoeForCausalLM"),
    Architecture(
        "switch_transformers",
        EXPERTS,
        "SwitchTransformersForConditionalGeneration",
        {"num_sparse_encoder_layers": 1, "num_sparse_decoder_layers": 1},
        text_pair,
    ),
    state_space("bamba", "BambaForCausalLM", attn_layer_indices=[1], **_MAMBA2),
    state_space("falcon_mamba", "FalconMambaForCausalLM"),
    state_space(
        "jamba",
        "JambaForCausalLM",
        attn_layer_period=2,
        attn_layer_offset=1,
        mamba_d_state=8,
        use_mamba_kernels=False,
    ),
    state_space("mamba", "MambaForCausalLM"),
    state_space("mamba2", "Mamba2ForCausalLM", num_heads=8, n_groups=2, chunk_size=8),
    state_space(
        "qwen3_next",
        "Qwen3NextForCausalLM",
        layer_types=["linear_attention", "full_attention"],
        linear_key_head_dim=8,
        linear_value_head_dim=8,
        linear_num_key_heads=2,
        linear_num_value_heads=4,
    ),
    state_space(
        "recurrent_gemma",
        "RecurrentGemmaForCausalLM",
        block_types=("recurrent", "attention"),
        attention_window_size=8,
        lru_width=32,
    ),
    state_space("rwkv", "RwkvForCausalLM", context_length=64, rescale_every=0),
    state_space("xlstm", "xLSTMForCausalLM", num_blocks=2, chunk_size=4),
    state_space(
        "zamba2",
        "Zamba2ForCausalLM",
        layers_block_type=["mamba", "hybrid"],
        mamba_d_state=8,
        n_mamba_heads=8,
        mamba_headdim=8,
        chunk_size=8,
    ),
    encoder("albert", "AlbertModel"),
    encoder("bert", "BertModel"),
    encoder("big_bird", "BigBirdModel", attention_type="original_full"),
    encoder("camembert", "CamembertModel"),
    encoder("canine", "CanineModel", local_transformer_stride=8),
    encoder("convbert", "ConvBertModel"),
    encoder(
        "deberta",
        "DebertaModel",
        relative_attention=True,
        pos_att_type=["c2p", "p2c"],
    ),
    encoder(
        "deberta_v2",
        "DebertaV2Model",
        relative_attention=True,
        pos_att_type=["c2p", "p2c"],
    ),
    encoder("distilbert", "DistilBertModel", dim=32, hidden_dim=64),
    encoder("electra", "ElectraModel", embedding_size=16),
    encoder("ernie", "ErnieModel"),
    encoder("esm", "EsmModel", position_embedding_type="rotary"),
    encoder("eurobert", "EuroBertModel"),
    Architecture("fnet", ENCODER, "FNetModel", {}, lambda: {"input_ids": tokens()}),
    encoder("funnel", "FunnelModel", block_sizes=(1, 1), d_head=8, d_inner=64),
    encoder("layoutlm", "LayoutLMModel"),
    encoder("longformer", "LongformerModel", attention_window=4),
    encoder("megatron_bert", "MegatronBertModel"),
    encoder("mobilebert", "MobileBertModel", intra_bottleneck_size=16),
    encoder("modernbert", "ModernBertModel", local_attention=4),
    encoder("mpnet", "MPNetModel"),
    Architecture(
        "nystromformer",
        ENCODER,
        "NystromformerModel",
        {"num_landmarks": 4, "segment_means_seq_len": 12, "conv_kernel_size": 5},
        lambda: {"inputs_embeds": normal(BATCH, 12, 32)},
    ),
    encoder("rembert", "RemBertModel", input_embedding_size=16),
    encoder("roberta", "RobertaModel"),
    encoder("roformer", "RoFormerModel"),
    encoder("squeezebert", "SqueezeBertModel"),
    encoder("xlm", "XLMModel", emb_dim=32),
    encoder("xlm_roberta", "XLMRobertaModel"),
    encoder("xlnet", "XLNetModel", d_inner=64),
    encoder("xmod", "XmodModel", languages=("en",), default_language="en"),
    encoder_decoder("bart", "BartModel"),
    encoder_decoder(
        "bigbird_pegasus", "BigBirdPegasusModel", attention_type="original_full"
    ),
    encoder_decoder("blenderbot", "BlenderbotModel"),
    encoder_decoder(
        "led",
        "LEDModel",
        attention_window=4,
        max_encoder_position_embeddings=64,
        max_decoder_position_embeddings=64,
    ),
    encoder_decoder("longt5", "LongT5Model", local_radius=3, global_block_size=4),
    encoder_decoder("m2m_100", "M2M100Model"),
    encoder_decoder("marian", "MarianModel"),
    encoder_decoder("mbart", "MBartModel"),
    encoder_decoder("mt5", "MT5Model"),
    encoder_decoder("pegasus", "PegasusModel"),
    encoder_decoder("plbart", "PLBartModel"),
    encoder_decoder(
        "prophetnet",
        "ProphetNetModel",
        num_encoder_layers=2,
        num_encoder_attention_heads=4,
        num_decoder_attention_heads=4,
    ),
    encoder_decoder("t5", "T5ForConditionalGeneration"),
    encoder_decoder("umt5", "UMT5Model"),
    vision("beit", "BeitModel", use_relative_position_bias=True),
    vision("bit", "BitModel", num_groups=2, **_STAGES),
    vision("convnext", "ConvNextModel", patch_size=4, **_STAGES),
    vision("convnextv2", "ConvNextV2Model", patch_size=4, **_STAGES),
    vision(
        "cvt", "CvtModel", embed_dim=[8, 16, 32], num_heads=[1, 2, 4], depth=[1, 2, 3]
    ),
    vision("deit", "DeiTModel"),
    vision("dinov2", "Dinov2Model"),
    vision("dinov3_vit", "DINOv3ViTModel", num_register_tokens=2),
    vision(
        "dpt",
        "DPTForDepthEstimation",
        num_hidden_layers=4,
        backbone_out_indices=[0, 1, 2, 3],
        neck_hidden_sizes=[8, 16, 16, 32],
        fusion_hidden_size=16,
        is_hybrid=False,
    ),
    vision(
        "efficientnet",
        "EfficientNetModel",
        width_coefficient=1.0,
        depth_coefficient=1.0,
        in_channels=[32, 16, 24],
        out_channels=[16, 24, 24],
        kernel_sizes=[3, 3, 5],
        strides=[1, 2, 2],
        num_block_repeats=[1, 1, 1],
        expand_ratios=[1, 6, 6],
        hidden_dim=1280,
    ),
    vision("focalnet", "FocalNetModel", patch_size=4, **_STAGES),
    vision("glpn", "GLPNForDepthEstimation", decoder_hidden_size=16, **_PYRAMID),
    vision(
        "hiera",
        "HieraModel",
        image_size=[32, 32],
        depths=[1, 1],
        patch_size=[7, 7],
        num_heads=[1, 2],
        num_query_pool=1,
        masked_unit_size=[4, 4],
        masked_unit_attention=[True, False],
    ),
    vision(
        "levit",
        "LevitModel",
        size=64,
        image_size=64,
        patch_size=16,
        hidden_sizes=[16, 32, 32],
        num_attention_heads=[2, 2, 2],
        depths=[1, 1, 1],
        key_dim=[8, 8, 8],
    ),
    vision("mobilenet_v1", "MobileNetV1Model", depth_multiplier=0.25),
    vision("mobilenet_v2", "MobileNetV2Model", depth_multiplier=0.25),
    vision(
        "mobilevit",
        "MobileViTModel",
        patch_size=2,
        hidden_sizes=[16, 24, 32],
        neck_hidden_sizes=[8, 8, 16, 16, 24, 24, 32],
    ),
    vision(
        "mobilevitv2",
        "MobileViTV2Model",
        size=64,
        patch_size=2,
        n_attn_blocks=[1, 1, 1],
        base_attn_unit_dims=[16, 16, 16],
        width_multiplier=0.25,
    ),
    vision("poolformer", "PoolFormerModel", **_STAGES),
    vision("pvt_v2", "PvtV2Model", **_PYRAMID),
    vision("regnet", "RegNetModel", groups_width=8, **_STAGES),
    vision("resnet", "ResNetModel", embedding_size=16, **_STAGES),
    vision(
        "segformer",
        "SegformerForSemanticSegmentation",
        size=64,
        decoder_hidden_size=16,
        **_PYRAMID,
    ),
    vision(
        "swiftformer",
        "SwiftFormerModel",
        size=64,
        depths=[1, 1, 1, 1],
        embed_dims=[8, 16, 16, 32],
    ),
    vision(
        "swin",
        "SwinModel",
        patch_size=4,
        embed_dim=8,
        depths=[2, 2],
        num_heads=[2, 2],
        window_size=2,
    ),
    vision(
        "swinv2",
        "Swinv2Model",
        patch_size=4,
        embed_dim=8,
        depths=[2, 2],
        num_heads=[2, 2],
        window_size=4,
    ),
    vision("vit", "ViTModel"),
    vision("vit_msn", "ViTMSNModel"),
    vision(
        "yolos", "YolosForObjectDetection", image_size=[32, 32], num_detection_tokens=5
    ),
    Architecture(
        "timesformer",
        VISION,
        "TimesformerModel",
        {"num_frames": 2},
        lambda: {"pixel_values": normal(BATCH, 2, 3, 32, 32)},
    ),
    Architecture(
        "videomae",
        VISION,
        "VideoMAEModel",
        {"num_frames": 2},
        lambda: {"pixel_values": normal(BATCH, 2, 3, 32, 32)},
    ),
    vision(
        "detr",
        "DetrForObjectDetection",
        size=64,
        num_queries=5,
        backbone_config={
            "model_type": "resnet",
            "embedding_size": 16,
            "out_features": ["stage4"],
            **_STAGES,
        },
    ),
    vision(
        "conditional_detr",
        "ConditionalDetrForObjectDetection",
        size=64,
        num_queries=5,
        backbone_config={
            "model_type": "resnet",
            "embedding_size": 16,
            "out_features": ["stage4"],
            **_STAGES,
        },
    ),
    vision(
        "depth_anything",
        "DepthAnythingForDepthEstimation",
        backbone_config={
            "model_type": "dinov2",
            "num_hidden_layers": 4,
            "out_indices": [1, 2, 3, 4],
            "reshape_hidden_states": False,
            "apply_layernorm": True,
        },
        reassemble_hidden_size=32,
        neck_hidden_sizes=[8, 16, 16, 32],
        fusion_hidden_size=16,
        head_hidden_size=8,
    ),
    vision(
        "upernet",
        "UperNetForSemanticSegmentation",
        size=64,
        pool_scales=[1, 2],
        auxiliary_in_channels=32,
        auxiliary_channels=8,
        backbone_config={
            "model_type": "convnext",
            "patch_size": 4,
            "out_features": ["stage1", "stage2", "stage3", "stage4"],
            **_STAGES,
        },
    ),
    audio(
        "audio_spectrogram_transformer",
        "ASTModel",
        lambda: {"input_values": normal(BATCH, 32, 16)},
        max_length=32,
        num_mel_bins=16,
        time_stride=8,
        frequency_stride=8,
    ),
    audio(
        "dac",
        "DacModel",
        lambda: {"input_values": normal(1, 1, 256)},
        encoder_hidden_size=8,
        decoder_hidden_size=32,
        n_codebooks=2,
        downsampling_ratios=[2, 4],
        upsampling_ratios=[4, 2],
        codebook_size=16,
        hidden_size=16,
    ),
    audio(
        "data2vec_audio",
        "Data2VecAudioModel",
        **_SPEECH,
        conv_pos_kernel_size=3,
    ),
    audio(
        "encodec",
        "EncodecModel",
        lambda: {"input_values": normal(1, 1, 256)},
        num_filters=4,
        hidden_size=16,
        codebook_size=16,
        upsampling_ratios=[4, 2],
    ),
    audio("hubert", "HubertModel", **_SPEECH),
    audio(
        "mimi",
        "MimiModel",
        lambda: {"input_values": normal(1, 1, 512)},
        num_filters=4,
        hidden_size=32,
        codebook_size=16,
        codebook_dim=16,
        upsampling_ratios=[4, 2],
        num_quantizers=4,
        vector_quantization_hidden_dimension=16,
        upsample_groups=32,
        num_semantic_quantizers=1,
    ),
    audio(
        "moonshine",
        "MoonshineModel",
        lambda: {"input_values": normal(BATCH, 4096), "decoder_input_ids": tokens(5)},
        encoder_num_hidden_layers=2,
        decoder_num_hidden_layers=2,
        encoder_num_attention_heads=4,
        decoder_num_attention_heads=4,
    ),
    audio("sew", "SEWModel", **_SPEECH),
    audio(
        "speech_to_text",
        "Speech2TextModel",
        lambda: {
            "input_features": normal(BATCH, 40, 16),
            "decoder_input_ids": tokens(5),
        },
        input_feat_per_channel=16,
        conv_channels=32,
    ),
    audio(
        "speecht5",
        "SpeechT5ForSpeechToText",
        lambda: {"input_values": normal(BATCH, 400), "decoder_input_ids": tokens(5)},
        **_SPEECH,
    ),
    audio("unispeech", "UniSpeechModel", **_SPEECH),
    audio("wav2vec2", "Wav2Vec2Model", **_SPEECH),
    audio(
        "wav2vec2_bert",
        "Wav2Vec2BertModel",
        lambda: {"input_features": normal(BATCH, 20, 16)},
        feature_projection_input_dim=16,
        conv_depthwise_kernel_size=7,
    ),
    audio(
        "wav2vec2_conformer",
        "Wav2Vec2ConformerModel",
        conv_depthwise_kernel_size=7,
        **_SPEECH,
    ),
    audio("wavlm", "WavLMModel", num_buckets=32, max_bucket_distance=64, **_SPEECH),
    audio(
        "whisper",
        "WhisperForConditionalGeneration",
        lambda: {
            "input_features": normal(BATCH, 16, 32),
            "decoder_input_ids": tokens(5),
        },
        num_mel_bins=16,
        max_source_positions=16,
    ),
    multimodal(
        "align",
        "AlignModel",
        text_and_image,
        vision_config={
            "width_coefficient": 1.0,
            "depth_coefficient": 1.0,
            "in_channels": [32, 16],
            "out_channels": [16, 16],
            "kernel_sizes": [3, 3],
            "strides": [1, 2],
            "num_block_repeats": [1, 1],
            "expand_ratios": [1, 6],
            "hidden_dim": 16,
        },
    ),
    multimodal(
        "altclip",
        "AltCLIPModel",
        text_and_image,
        text_config={"project_dim": 16},
    ),
    multimodal(
        "blip",
        "BlipModel",
        text_and_image,
    ),
    multimodal(
        "chinese_clip",
        "ChineseCLIPModel",
        text_and_image,
    ),
    multimodal(
        "clip",
        "CLIPModel",
        text_and_image,
    ),
    multimodal(
        "clipseg",
        "CLIPSegModel",
        text_and_image,
    ),
    multimodal(
        "git",
        "GitForCausalLM",
        text_and_image,
    ),
    multimodal(
        "groupvit",
        "GroupViTModel",
        text_and_image,
        vision_config={
            "depths": [1, 1, 1],
            "num_group_tokens": [4, 2, 0],
            "num_output_groups": [4, 2, 1],
        },
        projection_intermediate_dim=16,
    ),
    multimodal(
        "owlvit",
        "OwlViTModel",
        text_and_image,
    ),
    multimodal(
        "siglip",
        "SiglipModel",
        text_and_image,
    ),
    multimodal(
        "vilt",
        "ViltModel",
        text_and_image,
    ),
    multimodal(
        "visual_bert",
        "VisualBertModel",
        lambda: {**text(), "visual_embeds": normal(BATCH, 3, 16)},
        visual_embedding_dim=16,
    ),
    multimodal(
        "layoutlmv3",
        "LayoutLMv3Model",
        lambda: {
            **text_and_image(),
            "bbox": torch.arange(BATCH * LENGTH).reshape(BATCH, LENGTH, 1)
            + torch.arange(4),
        },
        input_size=32,
        coordinate_size=6,
        shape_size=4,
        max_2d_position_embeddings=64,
    ),
    multimodal(
        "llava",
        "LlavaForConditionalGeneration",
        lambda: {
            "input_ids": torch.cat([torch.full((BATCH, 16), 98), tokens(6)], 1),
            "pixel_values": normal(BATCH, 3, 32, 32),
        },
        image_token_index=98,
        image_seq_length=16,
        vision_config={"model_type": "clip_vision_model"},
        text_config={"model_type": "llama"},
    ),
    multimodal(
        "lxmert",
        "LxmertModel",
        lambda: {
            **text(),
            "visual_feats": normal(BATCH, 5, 16),
            "visual_pos": normal(BATCH, 5, 4),
        },
        l_layers=1,
        x_layers=1,
        r_layers=1,
        visual_feat_dim=16,
    ),
    multimodal(
        "paligemma",
        "PaliGemmaForConditionalGeneration",
        lambda: {
            "input_ids": torch.cat([torch.full((BATCH, 16), 98), tokens(6)], 1),
            "attention_mask": torch.ones(BATCH, 22, dtype=torch.int64),
            "pixel_values": normal(BATCH, 3, 32, 32),
        },
        image_token_index=98,
        projection_dim=32,
        vision_config={"model_type": "siglip_vision_model"},
        text_config={"model_type": "gemma"},
    ),
    Architecture(
        "patchtst",
        SERIES,
        "PatchTSTForPrediction",
        {
            "num_input_channels": 2,
            "context_length": 16,
            "patch_length": 4,
            "patch_stride": 4,
            "prediction_length": 4,
        },
        lambda: {"past_values": normal(BATCH, 16, 2)},
    ),
    Architecture(
        "patchtsmixer",
        SERIES,
        "PatchTSMixerForPrediction",
        {
            "num_input_channels": 2,
            "context_length": 16,
            "patch_length": 4,
            "patch_stride": 4,
            "prediction_length": 4,
        },
        lambda: {"past_values": normal(BATCH, 16, 2)},
    ),
    Architecture(
        "decision_transformer",
        SERIES,
        "DecisionTransformerModel",
        {"state_dim": 5, "act_dim": 3, "max_ep_len": 20},
        lambda: {
            "states": normal(BATCH, 6, 5),
            "actions": normal(BATCH, 6, 3),
            "rewards": normal(BATCH, 6, 1),
            "returns_to_go": normal(BATCH, 6, 1),
            "timesteps": torch.arange(6).repeat(BATCH, 1),
            "attention_mask": torch.ones(BATCH, 6, dtype=torch.int64),
        },
    ),
]

_BY_NAME = {architecture.name: architecture for architecture in ARCHITECTURES}


def dynamic_text(name: str, pair: bool = False) -> Architecture:
    """Any batch and any length; run at two of each."""
    sizes = {0: "batch", 1: "length"}
    axes = {"input_ids": sizes, "attention_mask": sizes}

    def grown() -> dict[str, torch.Tensor]:
        return {"input_ids": tokens(17, 3), "attention_mask": mask(17, 3)}

    if not pair:
        return replace(
            _BY_NAME[name], name=f"{name}, dynamic", dynamic=axes, grown=grown
        )
    return replace(
        _BY_NAME[name],
        name=f"{name}, dynamic",
        dynamic={**axes, "decoder_input_ids": {0: "batch", 1: "decoder_length"}},
        grown=lambda: {**grown(), "decoder_input_ids": tokens(9, 3)},
    )


def dynamic_batch(name: str) -> Architecture:
    """A vision model for any number of images."""
    return replace(
        _BY_NAME[name],
        name=f"{name}, dynamic",
        dynamic={"pixel_values": {0: "batch"}},
        grown=lambda: {"pixel_values": normal(5, 3, 32, 32)},
    )


def in_type(name: str, dtype: torch.dtype) -> Architecture:
    label = str(dtype).removeprefix("torch.")
    return replace(_BY_NAME[name], name=f"{name}, {label}", dtype=dtype)


ARCHITECTURES += [
    *(dynamic_text(name) for name in ("bert", "gemma3", "llama", "mixtral")),
    dynamic_text("t5", pair=True),
    *(dynamic_batch(name) for name in ("convnext", "resnet", "vit")),
    *(in_type(name, torch.float16) for name in ("bert", "llama", "vit", "whisper")),
    *(
        in_type(name, torch.bfloat16)
        for name in ("llama", "mixtral", "qwen3", "resnet", "t5")
    ),
]
