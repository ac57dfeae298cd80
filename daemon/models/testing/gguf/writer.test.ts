import { expect, test } from 'vitest';
import { encodeGguf, f32, integers, str, strings, u32 } from './writer.ts';

const model = {
  keys: {
    'general.architecture': str('llama'),
    n: u32(7),
    e: f32(0.5),
    t: strings(['a', 'é']),
    i: integers([-1]),
  },
  tensors: [
    { name: 'one', shape: [2, 2], data: Float32Array.of(1, 2, 3, 4), storage: 'f16' as const },
    { name: 'two', shape: [3], data: Float32Array.of(1, -1, 0.5), storage: 'f32' as const },
  ],
};

test('the header contains the version, the tensors and the keys', () => {
  const bytes = encodeGguf(model);
  expect(bytes.subarray(0, 4).toString()).toBe('GGUF');
  expect(bytes.readUInt32LE(4)).toBe(3);
  expect(bytes.readBigUInt64LE(8)).toBe(2n);
  expect(bytes.readBigUInt64LE(16)).toBe(5n);
});

test('tensor data is aligned to 32 bytes and stored in the requested type', () => {
  const bytes = encodeGguf(model);
  expect(bytes.length % 32).toBe(0);
  const second = bytes.subarray(bytes.length - 32);
  expect([second.readFloatLE(0), second.readFloatLE(4), second.readFloatLE(8)]).toEqual([1, -1, 0.5]);
  const first = bytes.subarray(bytes.length - 64);
  expect(first.readUInt16LE(0)).toBe(0x3c00);
});

test('the same model gives the same bytes', () => {
  expect(encodeGguf(model).equals(encodeGguf(model))).toBe(true);
});

test('refuses a tensor whose data does not fit its shape, by name', () => {
  const tensors = [{ name: 'odd', shape: [2], data: Float32Array.of(1), storage: 'f32' as const }];
  expect(() => encodeGguf({ keys: {}, tensors })).toThrow('odd: 2 numbers expected, 1 given');
});
