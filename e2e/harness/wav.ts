/** Adds seconds of silence before and after the sound of a WAV file with 16 bits and one channel. */
export function withQuiet(wav: Buffer, beforeS: number, afterS: number): Buffer {
  const head = Buffer.from(wav.subarray(0, 44));
  const bytesPerSecond = 2 * head.readUInt32LE(24);
  const sound = Buffer.concat([
    Buffer.alloc(bytesPerSecond * beforeS),
    wav.subarray(44),
    Buffer.alloc(bytesPerSecond * afterS),
  ]);
  head.writeUInt32LE(36 + sound.length, 4);
  head.writeUInt32LE(sound.length, 40);
  return Buffer.concat([head, sound]);
}
