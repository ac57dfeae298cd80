const single = new Float32Array(1);
const singleBits = new Uint32Array(single.buffer);

/**
 * Returns the bits of the nearest half-precision float, ties to even. Values that are too large become
 * infinity.
 */
export function toHalf(value: number): number {
  single[0] = value;
  const bits = singleBits[0] as number;
  const sign = (bits >>> 16) & 0x8000;
  const exponent = ((bits >>> 23) & 0xff) - 112;
  const mantissa = bits & 0x7fffff;
  if (exponent === 143) return sign | 0x7c00 | (mantissa === 0 ? 0 : 0x200);
  if (exponent >= 31) return sign | 0x7c00;
  if (exponent < -10) return sign;
  if (exponent <= 0) return sign | roundShift(mantissa | 0x800000, 14 - exponent);
  return sign | ((exponent << 10) + roundShift(mantissa, 13));
}

/** Returns `value >>> shift`, rounded to nearest, ties to even. */
function roundShift(value: number, shift: number): number {
  const quotient = value >>> shift;
  const rest = value & ((1 << shift) - 1);
  const half = 1 << (shift - 1);
  return rest > half || (rest === half && (quotient & 1) === 1) ? quotient + 1 : quotient;
}
