import { bytes, integer } from './protobuf.ts';

const ELEMENT = { f32: 1, i64: 7 } as const;
const ATTRIBUTE = { int: 2, ints: 7 } as const;
const IR_VERSION = 8;
const OPSET = 13;

type Element = keyof typeof ELEMENT;

/** An input or output of the graph. A string is the name of a variable size. */
export interface OnnxValue {
  name: string;
  type: Element;
  shape: readonly (number | string)[];
}

/** A constant of the graph. */
export interface OnnxTensor {
  name: string;
  shape: readonly number[];
  data: Float32Array | BigInt64Array;
}

/** One operation. Its first output is its name. */
export interface OnnxNode {
  op: string;
  inputs: readonly string[];
  outputs: readonly string[];
  attributes?: Readonly<Record<string, number | readonly number[]>>;
}

export interface OnnxModel {
  nodes: readonly OnnxNode[];
  constants: readonly OnnxTensor[];
  inputs: readonly OnnxValue[];
  outputs: readonly OnnxValue[];
  /** Metadata that an engine reads before it runs the graph. */
  metadata: Readonly<Record<string, string>>;
}

function encodeValue({ name, type, shape }: OnnxValue): Buffer {
  const sizes = shape.map((size) => bytes(1, typeof size === 'number' ? integer(1, size) : bytes(2, size)));
  const tensor = Buffer.concat([integer(1, ELEMENT[type]), bytes(2, Buffer.concat(sizes))]);
  return Buffer.concat([bytes(1, name), bytes(2, bytes(1, tensor))]);
}

function encodeTensor({ name, shape, data }: OnnxTensor): Buffer {
  const type = ELEMENT[data instanceof Float32Array ? 'f32' : 'i64'];
  const raw = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  const sizes = shape.map((size) => integer(1, size));
  return Buffer.concat([...sizes, integer(2, type), bytes(8, name), bytes(9, raw)]);
}

function encodeAttribute([name, value]: [string, number | readonly number[]]): Buffer {
  if (typeof value === 'number') {
    return Buffer.concat([bytes(1, name), integer(3, value), integer(20, ATTRIBUTE.int)]);
  }
  const each = value.map((one) => integer(8, one));
  return Buffer.concat([bytes(1, name), ...each, integer(20, ATTRIBUTE.ints)]);
}

function encodeNode({ op, inputs, outputs, attributes = {} }: OnnxNode): Buffer {
  return Buffer.concat([
    ...inputs.map((name) => bytes(1, name)),
    ...outputs.map((name) => bytes(2, name)),
    bytes(3, `${op}_${outputs[0]}`),
    bytes(4, op),
    ...Object.entries(attributes).map((entry) => bytes(5, encodeAttribute(entry))),
  ]);
}

/** Returns the bytes of an ONNX file (opset 13). The same model gives the same bytes. */
export function encodeOnnx({ nodes, constants, inputs, outputs, metadata }: OnnxModel): Buffer {
  const graph = Buffer.concat([
    ...nodes.map((node) => bytes(1, encodeNode(node))),
    bytes(2, 'g'),
    ...constants.map((tensor) => bytes(5, encodeTensor(tensor))),
    ...inputs.map((value) => bytes(11, encodeValue(value))),
    ...outputs.map((value) => bytes(12, encodeValue(value))),
  ]);
  const facts = Object.entries(metadata).map(([key, value]) =>
    bytes(14, Buffer.concat([bytes(1, key), bytes(2, value)])),
  );
  return Buffer.concat([
    integer(1, IR_VERSION),
    bytes(2, 'svc-gateway'),
    bytes(7, graph),
    bytes(8, Buffer.concat([bytes(1, ''), integer(2, OPSET)])),
    ...facts,
  ]);
}

/** Returns integers as a constant stores them. */
export const whole = (...values: number[]): BigInt64Array => BigInt64Array.from(values.map(BigInt));
