/**
 * Keys that can be set in the slot file only, because they name programs, addresses or the environment of an
 * engine.
 */
export const FILE_ONLY_KEYS: Readonly<Record<string, string>> = {
  runner: 'How the engine runs: as a worker, process or container, or attach to a running server',
  batch: 'Number of prompt tokens processed in one batch',
  cpu_moe: 'Whether the experts of a mixture of experts stay on the CPU (engine `llama-server`)',
  n_cpu_moe: 'Number of layers whose experts stay on the CPU (engine `llama-server`)',
  memory: 'Memory that the engine takes, such as `6 GiB`, instead of the estimate and the measurement',
  speculation:
    'How tokens are predicted: `off`, `ngram` (repeats of the text), `draft` (a small model) or `mtp` (layers of the model); `draft` and `mtp` need engine `llama-server`. `auto`: `ngram` where `svcctl bench` measured a gain with the embedded engine, otherwise `off`',
  draft_model: 'Model that predicts tokens, for `speculation` `draft` and `mtp`',
  draft_tokens: 'Maximum number of tokens predicted at once',
  extra_args: 'Additional command-line arguments for the engine',
  env: 'Environment variables for the engine',
  vision: 'Whether the model accepts images; true by default if the arguments name a projector',
  dimensions: 'Shorter vector lengths that the embedding model supports',
  family:
    'Family of the image model, when its file does not say: sd15, sdxl, sd35, flux, flux2, qwen-image or z-image',
  checkpoint: 'File of the image model, as ComfyUI lists it',
  workflow:
    'Workflow of ComfyUI, exported for the API, as a file beside the slot file; or a table with `file` and `inputs`',
  vae: 'Decoder to use instead of the one of the image model',
  loras: 'LoRA files, each a name or `{ name, strength }`',
  defaults:
    'Values for image requests that name none: steps, cfg, sampler, scheduler, clip_skip, negative_prompt',
  command: 'Program and first arguments to run instead of the default program',
  health: 'HTTP path of the health check, such as /health',
  image: 'Container image',
  pull: 'When to pull the container image',
  port: 'Port that the engine listens on inside the container',
  url: 'URL (scheme, host and port) of a running server, for the runner `attach`',
  key_env: 'Name of the environment variable that holds the API key of the server or program',
};

/** Descriptions of defaults that depend on the slot or engine. */
export const DEFAULTS_IN_WORDS: Readonly<Record<string, string>> = {
  type: 'from the name of the slot, else `llm`',
  engine: 'the embedded engine for the type',
  runner: 'the first runner that the engine supports',
  model: 'chosen by the gateway for `agent`, `embed`, `rerank`, `tts` and `stt`',
  context: 'chosen by the engine',
  batch: 'chosen by the engine',
  memory: 'estimated, and measured after the first run',
  cpu_moe: 'chosen when the model does not fit the card and the host has memory',
  n_cpu_moe: 'the smallest number with which the model fits the card',
  speculation: '`auto`',
  draft_model: 'none',
  draft_tokens: '4; 3 for `draft` and `mtp`',
  autoload: '`true` for `agent`, else `false`',
  idle_unload: '15 min; never for `agent`',
};
