import { toHalf } from './half-float.ts';

const MAGIC = 'GGUF';
const VERSION = 3;
const ALIGNMENT = 32;
const VALUE_TYPE = { u32: 4, i32: 5, f32: 6, bool: 7, str: 8 } as const;
const ARRAY_TYPE = 9;
const TENSOR_TYPE = { f32: 0, f16: 1 } as const;

export type GgufValue =
  | { type: 'u32' | 'i32' | 'f32'; value: number }
  | { type: 'bool'; value: boolean }
  | { type: 'str'; value: string }
  | { type: 'i32[]'; value: readonly number[] }
  | { type: 'str[]'; value: readonly string[] };

export const u32 = (value: number): GgufValue => ({ type: 'u32', value });
export const f32 = (value: number): GgufValue => ({ type: 'f32', value });
export const bool = (value: boolean): GgufValue => ({ type: 'bool', value });
export const str = (value: string): GgufValue => ({ type: 'str', value });
export const strings = (value: readonly string[]): GgufValue => ({ type: 'str[]', value });
export const integers = (value: readonly number[]): GgufValue => ({ type: 'i32[]', value });

export interface GgufTensor {
  name: string;
  /** Sizes, fastest dimension first. */
  shape: readonly number[];
  data: Float32Array;
  /** Storage type. llama.cpp needs norm weights and biases in `f32`. */
  storage: 'f32' | 'f16';
}

export interface GgufModel {
  keys: Readonly<Record<string, GgufValue>>;
  tensors: readonly GgufTensor[];
}

/** Collects little-endian parts and tracks their total length. */
class ByteChunks {
  readonly list: Buffer[] = [];
  length = 0;

  push(part: Buffer): void {
    this.list.push(part);
    this.length += part.length;
  }

  u32(value: number): void {
    const part = Buffer.alloc(4);
    part.writeUInt32LE(value);
    this.push(part);
  }

  u64(value: number): void {
    const part = Buffer.alloc(8);
    part.writeBigUInt64LE(BigInt(value));
    this.push(part);
  }

  scalar(type: 'u32' | 'i32' | 'f32', value: number): void {
    const part = Buffer.alloc(4);
    if (type === 'u32') part.writeUInt32LE(value);
    else if (type === 'i32') part.writeInt32LE(value);
    else part.writeFloatLE(value);
    this.push(part);
  }

  text(value: string): void {
    const part = Buffer.from(value, 'utf8');
    this.u64(part.length);
    this.push(part);
  }

  pad(): void {
    this.push(Buffer.alloc(padding(this.length)));
  }
}

const padding = (length: number): number => (ALIGNMENT - (length % ALIGNMENT)) % ALIGNMENT;

/**
 * Returns the bytes of a GGUF file (version 3). The same model gives the same bytes. Throws on a tensor whose
 * shape and data differ.
 */
export function encodeGguf(model: GgufModel): Buffer {
  const out = startHeader(model.keys, model.tensors.length);
  const blobs = putTensorTable(out, model.tensors);
  out.pad();
  for (const blob of blobs) {
    out.push(blob);
    out.pad();
  }
  return Buffer.concat(out.list, out.length);
}

/** A tensor of a header without data. */
export interface GgufTensorHead {
  readonly name: string;
  /** Sizes, fastest dimension first. */
  readonly shape: readonly number[];
  /** Storage type of ggml, and its bytes. */
  readonly type: number;
  readonly bytes: number;
}

/**
 * Returns the header of a GGUF file whose tensors have no data, and the size that the whole file would have. The size
 * can be given to a sparse file.
 */
export function encodeGgufHeader(
  keys: Readonly<Record<string, GgufValue>>,
  tensors: readonly GgufTensorHead[],
): { bytes: Buffer; fileBytes: number } {
  const out = startHeader(keys, tensors.length);
  let offset = 0;
  for (const { name, shape, type, bytes } of tensors) {
    putTensorHead(out, name, shape, type, offset);
    offset += bytes + padding(bytes);
  }
  out.pad();
  return { bytes: Buffer.concat(out.list, out.length), fileBytes: out.length + offset };
}

function startHeader(keys: Readonly<Record<string, GgufValue>>, tensors: number): ByteChunks {
  const out = new ByteChunks();
  const entries = Object.entries(keys);
  out.push(Buffer.from(MAGIC));
  out.u32(VERSION);
  out.u64(tensors);
  out.u64(entries.length);
  for (const [name, value] of entries) {
    out.text(name);
    putValue(out, value);
  }
  return out;
}

function putTensorHead(
  out: ByteChunks,
  name: string,
  shape: readonly number[],
  type: number,
  offset: number,
): void {
  out.text(name);
  out.u32(shape.length);
  for (const size of shape) out.u64(size);
  out.u32(type);
  out.u64(offset);
}

function putValue(out: ByteChunks, value: GgufValue): void {
  switch (value.type) {
    case 'str[]':
      putArrayHead(out, VALUE_TYPE.str, value.value.length);
      for (const item of value.value) out.text(item);
      return;
    case 'i32[]':
      putArrayHead(out, VALUE_TYPE.i32, value.value.length);
      for (const item of value.value) out.scalar('i32', item);
      return;
    case 'str':
      out.u32(VALUE_TYPE.str);
      out.text(value.value);
      return;
    case 'bool':
      out.u32(VALUE_TYPE.bool);
      out.push(Buffer.from([value.value ? 1 : 0]));
      return;
    default:
      out.u32(VALUE_TYPE[value.type]);
      out.scalar(value.type, value.value);
  }
}

function putArrayHead(out: ByteChunks, type: number, length: number): void {
  out.u32(ARRAY_TYPE);
  out.u32(type);
  out.u64(length);
}

function putTensorTable(out: ByteChunks, tensors: readonly GgufTensor[]): Buffer[] {
  let offset = 0;
  return tensors.map((tensor) => {
    const blob = tensorBytes(tensor);
    putTensorHead(out, tensor.name, tensor.shape, TENSOR_TYPE[tensor.storage], offset);
    offset += blob.length + padding(blob.length);
    return blob;
  });
}

function tensorBytes({ name, shape, data, storage }: GgufTensor): Buffer {
  const count = shape.reduce((product, size) => product * size, 1);
  if (count !== data.length) throw new Error(`${name}: ${count} numbers expected, ${data.length} given`);
  if (storage === 'f32') return Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  const bytes = Buffer.alloc(count * 2);
  for (let i = 0; i < count; i++) {
    const value = data[i] as number;
    if (value !== 0) bytes.writeUInt16LE(toHalf(value), i * 2);
  }
  return bytes;
}
