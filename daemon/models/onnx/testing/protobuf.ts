/** Field writers of the protocol-buffers wire format, as far as ONNX files need it. */

/** A whole number in base 128, least significant group first. */
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

/** A field that holds a number. */
export const integer = (field: number, value: number): Buffer =>
  Buffer.concat([varint(field << 3), varint(value)]);

/** A field that holds bytes, a text, or a message that was encoded before. */
export function bytes(field: number, value: Buffer | string): Buffer {
  const content = Buffer.isBuffer(value) ? value : Buffer.from(value, 'utf8');
  return Buffer.concat([varint((field << 3) | 2), varint(content.length), content]);
}
