import { spawnSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { scratch } from '../testing/scratch.ts';
import { BLOCK_BYTES, paddingOf, type TarMember, tarHeader } from './tar-header.ts';
import { readTar } from './tar-reader.ts';

interface TestArchive {
  name: string;
  bytes: Buffer;
}

const member = (name: string, size: number, type = '0'): TarMember => ({
  name,
  size,
  type,
  mode: 0o600,
  mtime: 1_700_000_000,
});
const packed = (files: readonly TestArchive[]): Buffer =>
  Buffer.concat([
    ...files.flatMap(({ name, bytes }) => [
      tarHeader(member(name, bytes.length)),
      bytes,
      Buffer.alloc(paddingOf(bytes.length)),
    ]),
    Buffer.alloc(2 * BLOCK_BYTES),
  ]);

async function* cutBy(bytes: Buffer, sizes: readonly number[]): AsyncGenerator<Buffer> {
  for (let at = 0, n = 0; at < bytes.length; n++) {
    const size = sizes[n % sizes.length] ?? 1;
    yield bytes.subarray(at, at + size);
    at += size;
  }
}

async function read(bytes: Buffer, sizes: readonly number[] = [4096]): Promise<(TestArchive & TarMember)[]> {
  const found: (TestArchive & TarMember)[] = [];
  await readTar(cutBy(bytes, sizes), async (one) => {
    const parts: Buffer[] = [];
    return {
      write: async (piece) => void parts.push(Buffer.from(piece)),
      end: async () => void found.push({ ...one, bytes: Buffer.concat(parts) }),
    };
  });
  return found;
}

describe('readTar', () => {
  it('returns what was packed, for any chunk boundaries', async () => {
    const file = fc.record({
      name: fc.stringMatching(/^[a-z/]{1,100}$/),
      bytes: fc.uint8Array({ maxLength: 1500 }).map((bytes) => Buffer.from(bytes)),
    });
    const sizes = fc.array(fc.integer({ min: 1, max: 1000 }), { minLength: 1, maxLength: 5 });
    await fc.assert(
      fc.asyncProperty(fc.array(file, { maxLength: 4 }), sizes, async (files, cuts) => {
        const found = await read(packed(files), cuts);
        expect(found.map(({ name, bytes }) => ({ name, bytes }))).toEqual(files);
      }),
      { numRuns: 60 },
    );
  });

  it("reads archives of the system's tar, and reports the type of other members", async () => {
    const folder = scratch();
    mkdirSync(join(folder, 'sub'));
    writeFileSync(join(folder, 'sub/a.txt'), 'one');
    symlinkSync('/etc/passwd', join(folder, 'link'));
    const { stdout } = spawnSync('tar', ['-C', folder, '--sort=name', '-cf', '-', 'link', 'sub']);
    const found = await read(stdout);
    expect(found.map(({ name, type, size }) => [name, type, size])).toEqual([
      ['link', '2', 0],
      ['sub/', '5', 0],
      ['sub/a.txt', '0', 3],
    ]);
  });

  const whole = packed([{ name: 'a', bytes: Buffer.from('hello') }]);
  it.each([
    ['truncated in a header', whole.subarray(0, 300), 'is cut short'],
    ['truncated in the content of a file', whole.subarray(0, 514), 'is cut short'],
    ['without its end', whole.subarray(0, 1024), 'is cut short'],
    [
      'with a flipped bit in a header',
      Buffer.concat([Buffer.from('b'), whole.subarray(1)]),
      'sum of a header',
    ],
    ['that continues after its end', Buffer.concat([whole, Buffer.from('x')]), 'after its end'],
    ['that is followed by too many zeros', Buffer.concat([whole, Buffer.alloc(70_000)]), 'after its end'],
    ['that is not an archive', Buffer.alloc(2048, 'x'), 'is damaged'],
  ])('refuses an archive %s', async (_, bytes, message) => {
    await expect(read(bytes)).rejects.toThrow(message);
  });

  it('closes its source when a member is refused', async () => {
    let closed = false;
    async function* source() {
      try {
        yield whole;
      } finally {
        closed = true;
      }
    }
    const refusing = readTar(source(), async () => {
      throw new Error('not this one');
    });
    await expect(refusing).rejects.toThrow('not this one');
    expect(closed).toBe(true);
  });
});
