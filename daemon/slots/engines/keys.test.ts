import { describe, expect, it } from 'vitest';
import { configOf } from '../testing/plans.ts';
import { slotObjection } from './table.ts';

const ATTACH = 'engine = "custom"\nrunner = "attach"\n';
const COMFY = 'type = "image"\nengine = "comfyui"\nrunner = "attach"\nurl = "http://h:1"\n';
const objection = (text: string) => slotObjection(configOf(text));

describe('an address', () => {
  it.each([
    ['http://127.0.0.1:9000', null],
    ['http://127.0.0.1:9000/', null],
    ['https://models.example', null],
    ['http://[::1]:9000', null],
    ['127.0.0.1:9000', 'url: must be an address such as "http://127.0.0.1:9000"'],
    ['file:///etc/passwd', 'url: must be an address such as "http://127.0.0.1:9000"'],
    ['http://u:p@h:1', 'url: must not contain a credential; use key_env'],
    ['http://h:1/v1', 'url: must be scheme, host and port only'],
    ['http://h:1?x', 'url: must be scheme, host and port only'],
    ['http://169.254.169.254', 'url: link-local and unspecified addresses are never connected to'],
    ['http://0xa9fea9fe', 'url: link-local and unspecified addresses are never connected to'],
    ['http://[fe80::1]:9000', 'url: link-local and unspecified addresses are never connected to'],
    ['http://0.0.0.0:9000', 'url: link-local and unspecified addresses are never connected to'],
  ])('%s: %s', (url, expected) => expect(objection(`${ATTACH}url = "${url}"`)).toBe(expected));
});

it.each([
  [ATTACH, 'url: runner attach needs the address of the server'],
  ['url = "http://h:1"', 'url: is used by runner attach only'],
  ['command = ["x"]', 'command: is used by runner process only'],
  ['image = "x"', 'image: is used by runner container only'],
  [
    'engine = "llama-server"\nport = 1',
    'port: is used by runner container only: other runners use a port that the gateway chooses',
  ],
  ['health = "/x"', 'health: is not used by workers: they report when they are ready'],
  [
    `${ATTACH}url = "http://h:1"\nextra_args = ["x"]`,
    'extra_args: is not used by runner attach: the server is already running',
  ],
  [
    `${ATTACH}url = "http://h:1"\nenv = { X = "1" }`,
    'env: is not used by runner attach: the server is already running',
  ],
  [
    `${ATTACH}url = "http://127.0.0.1:1"\nmemory = "1 GB"`,
    'memory: is used by runner attach only for a ComfyUI on this machine: other servers have their memory already',
  ],
  [
    'engine = "comfyui"\ntype = "image"\nurl = "http://10.0.0.1:8188"\nmemory = "1 GB"',
    'memory: is used by runner attach only for a ComfyUI on this machine: other servers have their memory already',
  ],
  ['engine = "comfyui"\ntype = "image"\nurl = "http://[::1]:8188"\nmemory = "1 GB"', null],
  ['engine = "comfyui"\ntype = "image"\nurl = "http://localhost:8188"\nmemory = "1 GB"', null],
  ['memory = "1 GB"', null],
  ['key_env = "K"', 'key_env: engine embedded under worker gets its key automatically'],
  [
    'engine = "llama-server"\nkey_env = "K"',
    'key_env: engine llama-server under process gets its key automatically',
  ],
  ['engine = "vllm"', 'model: engine vllm needs the name or the folder of a model'],
  [
    'engine = "vllm"\nmodel = "x"\ndevice = "vulkan"',
    'device: engine vllm runs on auto, cpu, cuda:N or rocm:N, not on vulkan',
  ],
  ['engine = "flm"\nmodel = "x"\ndevice = "cpu"', 'device: engine flm runs on npu, not on cpu'],
  [
    'engine = "whisper-server"\ntype = "stt"',
    'model: engine whisper-server needs the path of a ggml whisper model',
  ],
  ['engine = "sd-server"\ntype = "image"', 'model: engine sd-server needs the path of an image model'],
  ['vae = "x"', 'vae: is used by image slots only'],
  [
    'engine = "sd-server"\ntype = "image"\nmodel = "/x"\nloras = ["x"]',
    'loras: is not used by engine sd-server',
  ],
  ['engine = "sd-server"\ntype = "image"\nmodel = "/x"\nfamily = "sdxl"', null],
  [`${COMFY}model = "sdxl"\nvae = "x"`, null],
  [`${COMFY}model = "anime/mine.safetensors"`, null],
  [`${COMFY}checkpoint = "mine.safetensors"\nmodel = "mine"`, null],
  [
    `${COMFY}model = "mine"`,
    'model: is neither a built-in image model (sd15, sdxl, sdxl-turbo, sd35, flux-schnell, flux-dev, flux2-dev, qwen-image, z-image-turbo) nor a file name; set checkpoint = "FILE.safetensors"',
  ],
  [`${COMFY}family = "sdxl"`, 'checkpoint: set it, or model; the other keys of images apply to it'],
  ['engine = "custom"\nrunner = "container"', 'image: engine custom needs an image'],
  [
    'engine = "custom"\nrunner = "container"\nimage = "-v"',
    'image: must be the name of an image, such as ghcr.io/owner/name:tag',
  ],
  [
    'engine = "comfyui"\ntype = "image"\nrunner = "container"',
    'image: engine comfyui has no default image; set one',
  ],
])('%j: %s', (text, expected) => expect(objection(text)).toBe(expected));

it.each(['custom', 'kokoro', 'comfyui'])('%s as a process needs its program', (engine) => {
  const type = { custom: 'llm', kokoro: 'tts', comfyui: 'image' }[engine];
  expect(objection(`engine = "${engine}"\nrunner = "process"\ntype = "${type}"`)).toMatch(/^command: engine/);
});

describe('experts on the CPU', () => {
  it.each([
    ['engine = "llama-server"\nn_cpu_moe = 8', null],
    ['engine = "llama-server"\ncpu_moe = true', null],
    ['cpu_moe = true', 'cpu_moe: only engine llama-server, started by the gateway, keeps experts on the CPU'],
    [
      'n_cpu_moe = 1',
      'n_cpu_moe: only engine llama-server, started by the gateway, keeps experts on the CPU',
    ],
    [
      'engine = "llama-server"\nrunner = "attach"\nurl = "http://h:1"\ncpu_moe = true',
      'cpu_moe: only engine llama-server, started by the gateway, keeps experts on the CPU',
    ],
    ['engine = "llama-server"\nn_cpu_moe = 1\ncpu_moe = true', 'cpu_moe: n_cpu_moe is set, which decides'],
  ])('%j: %s', (text, expected) => {
    expect(objection(text)).toBe(expected);
  });
});

describe('speculation', () => {
  it.each([
    ['speculation = "ngram"', null],
    ['speculation = "ngram"\ndraft_tokens = 6', null],
    ['speculation = "mtp"', 'speculation: engine embedded supports ngram only'],
    ['draft_model = "m"', 'draft_model: is used with speculation only'],
    ['draft_tokens = 2', 'draft_tokens: is used with speculation only'],
    [
      'type = "embedding"\nspeculation = "ngram"',
      'speculation: only chat slots of embedded and llama-server support it',
    ],
    ['engine = "llama-server"\nspeculation = "mtp"', null],
    ['engine = "llama-server"\nspeculation = "draft"\ndraft_model = "m"', null],
    ['engine = "llama-server"\nspeculation = "draft"', 'draft_model: speculation "draft" needs a model'],
    [
      'engine = "llama-server"\nspeculation = "ngram"\ndraft_model = "m"',
      'draft_model: speculation "ngram" uses no model',
    ],
    [
      'engine = "llama-server"\nrunner = "attach"\nurl = "http://h:1"\nspeculation = "ngram"',
      'speculation: only chat slots of embedded and llama-server support it',
    ],
  ])('%j: %s', (text, expected) => {
    expect(objection(text)).toBe(expected);
  });
});
