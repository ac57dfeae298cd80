/** Field writers of the protocol-buffers wire format, for the subset that ONNX files need. */

/** Encodes an integer as a varint. */
export function varint(value: number | bigint): Buffer {
  const bytes: number[] = [];
  let rest = BigInt.asUintN(64, BigInt(value));
  do {
    const low = Number(rest & 127n);
    rest >>= 7n;
    bytes.push(rest > 0n ? low | 128 : low);
  } while (rest > 0n);
  return Buffer.from(bytes);
}

/** Encodes a number field. */
export const integer = (field: number, value: number): Buffer =>
  Buffer.concat([varint(field << 3), varint(value)]);

/** Encodes a field of bytes, a string, or an encoded message. */
export function bytes(field: number, value: Buffer | string): Buffer {
  const content = Buffer.isBuffer(value) ? value : Buffer.from(value, 'utf8');
  return Buffer.concat([varint((field << 3) | 2), varint(content.length), content]);
}
