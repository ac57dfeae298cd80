import { type FileHandle, open } from 'node:fs/promises';

/** Maximum fields per file, entries per model and bytes per entry. Larger files are no models of ours. */
const MAX_FIELDS = 4_096;
const MAX_ENTRIES = 256;
const MAX_FACT_BYTES = 256 * 1024;
/** Maximum size of a field's header: its number and its length, each as a varint. */
const HEAD_BYTES = 20;
/** `ModelProto.metadata_props`. */
const METADATA_FIELD = 14;

interface Varint {
  value: number;
  next: number;
}

/** Reads the varint at `at`. Null when the bytes end before it does or it is no safe integer. */
function varintAt(bytes: Buffer, at: number): Varint | null {
  let value = 0;
  for (let index = 0; index < 10; index++) {
    const byte = bytes[at + index];
    if (byte === undefined) return null;
    value += (byte & 127) * 2 ** (7 * index);
    if (byte < 128) return Number.isSafeInteger(value) ? { value, next: at + index + 1 } : null;
  }
  return null;
}

interface Field {
  number: number;
  wire: number;
  /** Length of a bytes field, or the value of a number field. */
  length: number;
  head: number;
}

function fieldAt(bytes: Buffer): Field | null {
  const tag = varintAt(bytes, 0);
  if (tag === null) return null;
  const [number, wire] = [Math.floor(tag.value / 8), tag.value % 8];
  const fixed: Record<number, number> = { 1: 8, 5: 4 };
  if (wire in fixed) return { number, wire, length: fixed[wire] as number, head: tag.next };
  const next = varintAt(bytes, tag.next);
  if (next === null) return null;
  if (wire === 0) return { number, wire, length: 0, head: next.next };
  return wire === 2 ? { number, wire, length: next.value, head: next.next } : null;
}

/** Reads key and value of one entry. */
function factIn(bytes: Buffer): [string, string] | null {
  const texts: string[] = ['', ''];
  let at = 0;
  while (at < bytes.length) {
    const field = fieldAt(bytes.subarray(at));
    if (field === null) return null;
    const start = at + field.head;
    at = start + field.length;
    if (field.wire === 2 && (field.number === 1 || field.number === 2)) {
      texts[field.number - 1] = bytes.toString('utf8', start, at);
    }
  }
  return [texts[0] as string, texts[1] as string];
}

async function bytesAt(handle: FileHandle, at: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, at);
  return buffer.subarray(0, bytesRead);
}

/**
 * Reads the metadata of an ONNX file (`metadata_props`). Reads only the headers of the other fields, so that
 * a file of gigabytes needs few reads. Throws a one-line Error for a file that is no ONNX model.
 */
export async function onnxMetadata(path: string): Promise<Record<string, string>> {
  const handle = await open(path, 'r');
  try {
    const { size } = await handle.stat();
    const entries: [string, string][] = [];
    let at = 0;
    for (let fields = 0; at < size; fields++) {
      const field = fieldAt(await bytesAt(handle, at, HEAD_BYTES));
      if (field === null || fields >= MAX_FIELDS || at + field.head + field.length > size) throw noOnnx();
      const start = at + field.head;
      at = start + field.length;
      if (field.number !== METADATA_FIELD || field.wire !== 2 || field.length > MAX_FACT_BYTES) continue;
      const fact = factIn(await bytesAt(handle, start, field.length));
      if (fact !== null && entries.length < MAX_ENTRIES) entries.push(fact);
    }
    return Object.fromEntries(entries);
  } finally {
    await handle.close();
  }
}

/** Encodes an integer as a varint. */
function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest > 127; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 128);
  return Buffer.from([...bytes, rest]);
}

/** Encodes a field of bytes or text. */
function field(number: number, content: Buffer | string): Buffer {
  const bytes = Buffer.isBuffer(content) ? content : Buffer.from(content, 'utf8');
  return Buffer.concat([varint(number * 8 + 2), varint(bytes.length), bytes]);
}

/**
 * Returns bytes that add these entries to the metadata of an ONNX file when they are appended to it: the
 * parts of a repeated field may be anywhere in a message
 * (https://protobuf.dev/programming-guides/encoding/#last-one-wins).
 */
export const encodeMetadata = (entries: Readonly<Record<string, string>>): Buffer =>
  Buffer.concat(
    Object.entries(entries).map(([key, value]) =>
      field(METADATA_FIELD, Buffer.concat([field(1, key), field(2, value)])),
    ),
  );

const noOnnx = () => new Error('it is not a whole ONNX file');
