import { closeSync, openSync, writeSync } from 'node:fs';
import { seededRandom } from '../../../daemon/lib/seeded-random.ts';
import { toHalf } from '../../../daemon/models/testing/gguf/half-float.ts';

/** Names and shapes of tensors. */
type Tensors = Map<string, readonly number[]>;

const UNET = 'model.diffusion_model';
const VAE = 'first_stage_model';
const CLIP = 'cond_stage_model.transformer.text_model';
const BASE = 320;
const TIME = 4 * BASE;
const CONTEXT = 768;
const CLIP_LAYERS = 12;
const HALF_BYTES = 2;
/** Values that are repeated through the file: writing 2 GB of distinct ones takes minutes. */
const BLOCK_VALUES = 1 << 20;
/** About the spread of real weights, so that no value overflows. */
const SPREAD = 0.02;

/** Collects tensors with the layers that Stable Diffusion consists of. */
class Layers {
  readonly tensors: Tensors = new Map();

  weight(name: string, ...shape: number[]): void {
    this.tensors.set(`${name}.weight`, shape);
  }

  /** A layer with weights and a bias. */
  full(name: string, ...shape: number[]): void {
    this.weight(name, ...shape);
    this.tensors.set(`${name}.bias`, shape.slice(0, 1));
  }

  norm(name: string, size: number): void {
    this.full(name, size);
  }

  conv(name: string, outputs: number, inputs: number, side = 3): void {
    this.full(name, outputs, inputs, side, side);
  }

  residual(name: string, inputs: number, outputs: number): void {
    this.norm(`${name}.in_layers.0`, inputs);
    this.conv(`${name}.in_layers.2`, outputs, inputs);
    this.full(`${name}.emb_layers.1`, outputs, TIME);
    this.norm(`${name}.out_layers.0`, outputs);
    this.conv(`${name}.out_layers.3`, outputs, outputs);
    if (inputs !== outputs) this.conv(`${name}.skip_connection`, outputs, inputs, 1);
  }

  attention(name: string, size: number, context: number): void {
    this.weight(`${name}.to_q`, size, size);
    this.weight(`${name}.to_k`, size, context);
    this.weight(`${name}.to_v`, size, context);
    this.full(`${name}.to_out.0`, size, size);
  }

  transformer(name: string, size: number): void {
    this.norm(`${name}.norm`, size);
    this.conv(`${name}.proj_in`, size, size, 1);
    const block = `${name}.transformer_blocks.0`;
    this.attention(`${block}.attn1`, size, size);
    this.attention(`${block}.attn2`, size, CONTEXT);
    this.full(`${block}.ff.net.0.proj`, 8 * size, size);
    this.full(`${block}.ff.net.2`, size, 4 * size);
    for (const each of ['norm1', 'norm2', 'norm3']) this.norm(`${block}.${each}`, size);
    this.conv(`${name}.proj_out`, size, size, 1);
  }

  vaeResidual(name: string, inputs: number, outputs: number): void {
    this.norm(`${name}.norm1`, inputs);
    this.conv(`${name}.conv1`, outputs, inputs);
    this.norm(`${name}.norm2`, outputs);
    this.conv(`${name}.conv2`, outputs, outputs);
    if (inputs !== outputs) this.conv(`${name}.nin_shortcut`, outputs, inputs, 1);
  }

  vaeMiddle(name: string, size: number): void {
    this.vaeResidual(`${name}.block_1`, size, size);
    this.norm(`${name}.attn_1.norm`, size);
    for (const each of ['q', 'k', 'v', 'proj_out']) this.conv(`${name}.attn_1.${each}`, size, size, 1);
    this.vaeResidual(`${name}.block_2`, size, size);
  }
}

/** Two residual blocks on each of four levels; the last level has no attention. */
function addUnet(layers: Layers): void {
  const levels = [1, 2, 4, 4].map((factor) => factor * BASE);
  layers.full(`${UNET}.time_embed.0`, TIME, BASE);
  layers.full(`${UNET}.time_embed.2`, TIME, TIME);
  layers.conv(`${UNET}.input_blocks.0.0`, BASE, 4);
  const skipped = [BASE];
  let width = BASE;
  let index = 1;
  for (const [level, size] of levels.entries()) {
    for (let block = 0; block < 2; block += 1, index += 1) {
      layers.residual(`${UNET}.input_blocks.${index}.0`, width, size);
      if (level < 3) layers.transformer(`${UNET}.input_blocks.${index}.1`, size);
      width = size;
      skipped.push(width);
    }
    if (level === 3) continue;
    layers.conv(`${UNET}.input_blocks.${index}.0.op`, width, width);
    skipped.push(width);
    index += 1;
  }
  layers.residual(`${UNET}.middle_block.0`, width, width);
  layers.transformer(`${UNET}.middle_block.1`, width);
  layers.residual(`${UNET}.middle_block.2`, width, width);
  index = 0;
  for (const [level, size] of [...levels.entries()].reverse()) {
    for (let block = 0; block < 3; block += 1, index += 1) {
      layers.residual(`${UNET}.output_blocks.${index}.0`, width + (skipped.pop() ?? 0), size);
      width = size;
      if (level < 3) layers.transformer(`${UNET}.output_blocks.${index}.1`, size);
      if (block === 2 && level > 0)
        layers.conv(`${UNET}.output_blocks.${index}.${level < 3 ? 2 : 1}.conv`, width, width);
    }
  }
  layers.norm(`${UNET}.out.0`, BASE);
  layers.conv(`${UNET}.out.2`, 4, BASE);
}

function addVae(layers: Layers): void {
  const widths = [128, 256, 512, 512];
  const encoder = `${VAE}.encoder`;
  const decoder = `${VAE}.decoder`;
  layers.conv(`${encoder}.conv_in`, 128, 3);
  let width = 128;
  for (const [level, size] of widths.entries()) {
    for (let block = 0; block < 2; block += 1) {
      layers.vaeResidual(`${encoder}.down.${level}.block.${block}`, width, size);
      width = size;
    }
    if (level < 3) layers.conv(`${encoder}.down.${level}.downsample.conv`, size, size);
  }
  layers.vaeMiddle(`${encoder}.mid`, width);
  layers.norm(`${encoder}.norm_out`, width);
  layers.conv(`${encoder}.conv_out`, 8, width);
  layers.conv(`${VAE}.quant_conv`, 8, 8, 1);
  layers.conv(`${VAE}.post_quant_conv`, 4, 4, 1);
  layers.conv(`${decoder}.conv_in`, width, 4);
  layers.vaeMiddle(`${decoder}.mid`, width);
  for (const [level, size] of [...widths.entries()].reverse()) {
    for (let block = 0; block < 3; block += 1) {
      layers.vaeResidual(`${decoder}.up.${level}.block.${block}`, width, size);
      width = size;
    }
    if (level > 0) layers.conv(`${decoder}.up.${level}.upsample.conv`, size, size);
  }
  layers.norm(`${decoder}.norm_out`, width);
  layers.conv(`${decoder}.conv_out`, 3, width);
}

function addTextEncoder(layers: Layers): void {
  layers.weight(`${CLIP}.embeddings.token_embedding`, 49_408, CONTEXT);
  layers.weight(`${CLIP}.embeddings.position_embedding`, 77, CONTEXT);
  for (let at = 0; at < CLIP_LAYERS; at += 1) {
    const layer = `${CLIP}.encoder.layers.${at}`;
    for (const each of ['q_proj', 'k_proj', 'v_proj', 'out_proj'])
      layers.full(`${layer}.self_attn.${each}`, CONTEXT, CONTEXT);
    layers.norm(`${layer}.layer_norm1`, CONTEXT);
    layers.full(`${layer}.mlp.fc1`, 4 * CONTEXT, CONTEXT);
    layers.full(`${layer}.mlp.fc2`, CONTEXT, 4 * CONTEXT);
    layers.norm(`${layer}.layer_norm2`, CONTEXT);
  }
  layers.norm(`${CLIP}.final_layer_norm`, CONTEXT);
}

/** Returns names and shapes of all tensors of Stable Diffusion 1.5: 1,066 million values. */
export function sd15Tensors(): Tensors {
  const layers = new Layers();
  addUnet(layers);
  addVae(layers);
  addTextEncoder(layers);
  return layers.tensors;
}

const countOf = (shape: readonly number[]): number => shape.reduce((product, side) => product * side, 1);

/** Returns values of half precision between plus and minus the spread. */
function randomBlock(): Buffer {
  const random = seededRandom(1);
  const block = Buffer.alloc(BLOCK_VALUES * HALF_BYTES);
  for (let at = 0; at < BLOCK_VALUES; at += 1)
    block.writeUInt16LE(toHalf((2 * random() - 1) * SPREAD), at * HALF_BYTES);
  return block;
}

/**
 * Writes a safetensors file with the layout of Stable Diffusion 1.5 and random weights in half precision: 2.1 GB. An image
 * from it shows nothing.
 */
export function writeSd15Checkpoint(path: string, tensors = sd15Tensors()): void {
  let end = 0;
  const entries = [...tensors].map(([name, shape]) => {
    const start = end;
    end += countOf(shape) * HALF_BYTES;
    return [name, { dtype: 'F16', shape, data_offsets: [start, end] }] as const;
  });
  const header = Buffer.from(JSON.stringify(Object.fromEntries(entries)));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(header.length));
  const block = randomBlock();
  const file = openSync(path, 'wx');
  try {
    writeSync(file, Buffer.concat([length, header]));
    for (let left = end; left > 0; left -= block.length)
      writeSync(file, block, 0, Math.min(left, block.length));
  } finally {
    closeSync(file);
  }
}
