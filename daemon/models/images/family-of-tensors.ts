import { constants } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { readHeader } from '../gguf-header.ts';
import type { ImageFamily } from './families.ts';

/** Names and shapes of the tensors of a file, without the prefix of its diffusion model. */
export type TensorShapes = ReadonlyMap<string, readonly number[]>;

/** Headers of image models have some thousand tensors: below 1 MiB. */
const MAX_HEADER_BYTES = 16 << 20;
/** The prefix of the diffusion model in a complete checkpoint. */
const PREFIX = /^model\.diffusion_model\./;
/** Width of the text that Stable Diffusion 1.x reads; 2.x has 1024. */
const SD15_CONTEXT = 768;
const Z_IMAGE_WIDTH = 3840;

type Rule = (tensors: TensorShapes) => ImageFamily | null;

/** Returns a rule for a family that one tensor identifies. */
const has =
  (name: string, family: ImageFamily): Rule =>
  (tensors) =>
    tensors.has(name) ? family : null;

/**
 * The tensors that identify a family, in the order of the rules: the same that ComfyUI
 * (`comfy/model_detection.py`) and stable-diffusion.cpp compare.
 */
const RULES: readonly Rule[] = [
  has('joint_blocks.0.context_block.attn.qkv.weight', 'sd35'),
  has('double_stream_modulation_img.lin.weight', 'flux2'),
  (tensors) => {
    if (!tensors.has('double_blocks.0.img_attn.qkv.weight')) return null;
    return tensors.has('guidance_in.in_layer.weight') ? 'flux-dev' : 'flux-schnell';
  },
  (tensors) =>
    tensors.get('cap_embedder.1.weight')?.includes(Z_IMAGE_WIDTH) &&
    tensors.has('noise_refiner.0.attention.k_norm.weight')
      ? 'z-image'
      : null,
  (tensors) =>
    tensors.has('transformer_blocks.0.attn.add_q_proj.weight') && tensors.has('txt_norm.weight')
      ? 'qwen-image'
      : null,
  has('label_emb.0.0.weight', 'sdxl'),
  (tensors) => {
    const text = 'input_blocks.1.1.transformer_blocks.0.attn2.to_k.weight';
    const deeper = 'input_blocks.4.1.transformer_blocks.0.attn2.to_k.weight';
    return (tensors.get(text) ?? tensors.get(deeper))?.includes(SD15_CONTEXT) ? 'sd15' : null;
  },
];

/** Returns the family that the tensors of a file identify; null for any other model. Pure. */
export function familyOfTensors(all: Iterable<readonly [string, readonly number[]]>): ImageFamily | null {
  const tensors = new Map([...all].map(([name, shape]) => [name.replace(PREFIX, ''), shape] as const));
  for (const rule of RULES) {
    const family = rule(tensors);
    if (family !== null) return family;
  }
  return null;
}

/** Returns the family that the header of a safetensors or GGUF file identifies; null for any other or unreadable file. */
export function familyOfFile(path: string): Promise<ImageFamily | null> {
  return /\.gguf$/i.test(path) ? familyOfGguf(path) : familyOfSafetensors(path);
}

async function familyOfGguf(path: string): Promise<ImageFamily | null> {
  const isFile = await stat(path).then(
    (found) => found.isFile(),
    () => false,
  );
  const header = isFile ? await readHeader(path, Number.POSITIVE_INFINITY).catch(() => null) : null;
  if (header === null) return null;
  const shapes = header.tensors.map(({ name = '', shape }) => [name, shape.map(Number)] as const);
  return familyOfTensors(shapes) ?? familyOfMetadata(header.metadata);
}

async function familyOfSafetensors(path: string): Promise<ImageFamily | null> {
  if (!/\.(safetensors|sft)$/i.test(path)) return null;
  // Without blocking: a FIFO would occupy a thread permanently.
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK).catch(() => null);
  if (file === null) return null;
  try {
    if (!(await file.stat()).isFile()) return null;
    const head = Buffer.alloc(8);
    await file.read(head, 0, 8, 0);
    const length = head.readBigUInt64LE();
    if (length > BigInt(MAX_HEADER_BYTES)) return null;
    const header = Buffer.alloc(Number(length));
    const { bytesRead } = await file.read(header, 0, header.length, 8);
    return familyOfTensors(shapesOf(JSON.parse(header.toString('utf8', 0, bytesRead))));
  } catch {
    return null;
  } finally {
    await file.close();
  }
}

function* shapesOf(header: unknown): Iterable<readonly [string, readonly number[]]> {
  for (const [name, entry] of Object.entries(header as object)) {
    const shape: unknown = (entry as { shape?: unknown } | null)?.shape;
    if (Array.isArray(shape)) yield [name, shape.map(Number)];
  }
}

/** Names of families in `modelspec.architecture`, `ss_base_model_version` and `general.architecture`. */
const ARCHITECTURES: readonly (readonly [RegExp, ImageFamily])[] = [
  [/^flux[-_.]?2/i, 'flux2'],
  [/^flux.*schnell/i, 'flux-schnell'],
  [/^flux/i, 'flux-dev'],
  [/^(stable-diffusion-v?3|sd3|mmdit)/i, 'sd35'],
  [/^(stable-diffusion-xl|sdxl)/i, 'sdxl'],
  [/^(stable-diffusion-v1|sd_?v?1)/i, 'sd15'],
  [/^qwen[-_]?image/i, 'qwen-image'],
  [/^z[-_]?image/i, 'z-image'],
];

/** Returns the family that the metadata of a file names; null when it names none. Pure. */
export function familyOfMetadata(metadata: Readonly<Record<string, unknown>>): ImageFamily | null {
  for (const key of ['modelspec.architecture', 'ss_base_model_version', 'general.architecture']) {
    const named = ARCHITECTURES.find(([pattern]) => pattern.test(String(metadata[key] ?? '')));
    if (named !== undefined) return named[1];
  }
  return null;
}
