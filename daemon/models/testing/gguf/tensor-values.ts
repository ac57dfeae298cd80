/** Returns `count` small numbers around zero, spread over `width`. */
export function noise(random: () => number, count: number, width: number): Float32Array {
  return Float32Array.from({ length: count }, () => (random() - 0.5) * width);
}

export const zeros = (count: number): Float32Array => new Float32Array(count);
export const ones = (count: number): Float32Array => new Float32Array(count).fill(1);
