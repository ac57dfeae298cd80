/** Returns a tone as PCM16 at 24,000 samples per second. */
export function tone(ms: number, level = 0.5, hertz = 440, rate = 24_000): Buffer {
  const bytes = Buffer.alloc(Math.floor((rate * ms) / 1000) * 2);
  for (let at = 0; at < bytes.length / 2; at++)
    bytes.writeInt16LE(Math.round(Math.sin((2 * Math.PI * hertz * at) / rate) * level * 32_767), at * 2);
  return bytes;
}

export const quiet = (ms: number): Buffer => tone(ms, 0);
