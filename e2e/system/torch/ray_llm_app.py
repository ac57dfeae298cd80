"""Ray Serve LLM with one replica of vLLM on the CPU.

usage: python ray_llm_app.py PORT MODEL_FOLDER MODEL_ID MAX_MODEL_LEN TEMP_FOLDER

Everything listens on the loopback address. The server ends with SIGTERM.
"""

import os
import sys

import ray
from ray import serve
from ray.serve.llm import LLMConfig, build_openai_app

PORT, FOLDER, MODEL, CONTEXT, TEMP_FOLDER = int(sys.argv[1]), sys.argv[2], sys.argv[3], int(sys.argv[4]), sys.argv[5]

variables = {name: value for name, value in os.environ.items() if name == "PYTHONPATH" or name.startswith(("VLLM_", "HF_"))}
ray.init(
    num_cpus=4,
    include_dashboard=False,
    object_store_memory=100_000_000,
    runtime_env={"env_vars": variables},
    _temp_dir=TEMP_FOLDER,
)
serve.start(http_options={"host": "127.0.0.1", "port": PORT})
config = LLMConfig(
    model_loading_config={"model_id": MODEL, "model_source": FOLDER},
    accelerator_type=None,
    placement_group_config={"bundles": [{"CPU": 1}]},
    deployment_config={"num_replicas": 1, "max_ongoing_requests": 16},
    engine_kwargs={"max_model_len": CONTEXT, "max_num_seqs": 4, "enforce_eager": True, "dtype": "float32"},
    runtime_env={"env_vars": variables},
)
serve.run(build_openai_app({"llm_configs": [config]}), name="llm", blocking=True)
