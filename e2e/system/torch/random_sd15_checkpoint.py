"""Writes a checkpoint in the layout of Stable Diffusion 1.5 with random weights and one block on two levels: 0.5 GB.

usage: python random_sd15_checkpoint.py COMFYUI_FOLDER FILE
"""

import sys

comfyui, file = sys.argv[1:3]
# ComfyUI reads its own options from the command line.
sys.argv = ["main.py", "--cpu"]
sys.path.insert(0, comfyui)

import torch
import comfy.options

comfy.options.enable_args_parsing()
import comfy.ops
from comfy.ldm.models.autoencoder import AutoencoderKL
from comfy.ldm.modules.diffusionmodules.openaimodel import UNetModel
from comfy.sd1_clip import SDClipModel
from safetensors.torch import save_file

torch.manual_seed(1)
unet = UNetModel(
    image_size=32,
    in_channels=4,
    out_channels=4,
    # ComfyUI recognises SD 1.5 by these two sizes.
    model_channels=320,
    context_dim=768,
    num_heads=8,
    num_head_channels=-1,
    num_res_blocks=[1, 1],
    channel_mult=[1, 1],
    transformer_depth=[0, 1],
    transformer_depth_output=[0, 0, 1, 1],
    transformer_depth_middle=1,
    use_spatial_transformer=True,
    use_linear_in_transformer=False,
    legacy=False,
    dtype=torch.float16,
    device="meta",
    operations=comfy.ops.disable_weight_init,
)
vae = AutoencoderKL(
    embed_dim=4,
    ddconfig={
        "double_z": True,
        "z_channels": 4,
        "resolution": 256,
        "in_channels": 3,
        "out_ch": 3,
        "ch": 128,
        "ch_mult": [1, 2, 4, 4],
        "num_res_blocks": 2,
        "attn_resolutions": [],
        "dropout": 0.0,
    },
)
clip = SDClipModel(device="cpu", dtype=torch.float16)


def random_like(name, shape):
    """Norms scale by one, biases are zero, and matrices preserve the size of their input."""
    if name.endswith("weight") and ("norm" in name or len(shape) == 1):
        return torch.ones(shape)
    if len(shape) == 1:
        return torch.zeros(shape)
    return torch.randn(shape) / max(1, torch.Size(shape[1:]).numel()) ** 0.5


def tensors(prefix, module):
    for name, value in module.state_dict().items():
        if "logit_scale" in name or "text_projection" in name:
            continue
        if value.dtype.is_floating_point:
            yield prefix + name, random_like(name, tuple(value.shape)).half().contiguous()
        else:
            yield prefix + name, torch.zeros(value.shape, dtype=value.dtype)


save_file(
    {
        **dict(tensors("model.diffusion_model.", unet)),
        **dict(tensors("first_stage_model.", vae)),
        **dict(tensors("cond_stage_model.", clip)),
    },
    file,
)
