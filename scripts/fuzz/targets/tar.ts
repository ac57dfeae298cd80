import { BLOCK_BYTES, paddingOf, TarError, type TarMember } from '../../../daemon/lib/fs/tar-header.ts';
import { readTar } from '../../../daemon/lib/fs/tar-reader.ts';
import { assertProperty, assertSame, chunked } from '../assert.ts';

async function* following(pieces: readonly Buffer[]): AsyncGenerator<Buffer> {
  for (const piece of pieces) if (piece.length > 0) yield piece;
}

/** Returns the members of an archive, and whether it is complete. */
async function read(pieces: readonly Buffer[]): Promise<{ whole: boolean; members: string[] }> {
  const members: string[] = [];
  const open = async (member: TarMember) => {
    let length = 0;
    return {
      write: async (bytes: Buffer) => {
        length += bytes.length;
      },
      end: async () => {
        assertProperty(length === member.size, 'a member of another length');
        members.push(`${JSON.stringify(member)} ${length}`);
      },
    };
  };
  try {
    await readTar(following(pieces), open);
    return { whole: true, members };
  } catch (error) {
    if (!(error instanceof TarError)) throw error;
    assertProperty(error.message.length < 400, 'a reason that is no sentence');
    return { whole: false, members };
  }
}

/** Corrects the checksum of every header, so that the code behind it is reached too. */
function withSums(archive: Buffer): Buffer {
  const out = Buffer.from(archive);
  for (let at = 0; at + BLOCK_BYTES <= out.length; ) {
    const header = out.subarray(at, at + BLOCK_BYTES);
    if (header.every((byte) => byte === 0)) break;
    header.fill(0x20, 148, 156);
    const sum = header.reduce((total, byte) => total + byte, 0);
    header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
    const size = Number.parseInt(header.toString('latin1', 124, 136), 8) || 0;
    at += BLOCK_BYTES + size + paddingOf(size);
  }
  return out;
}

/** Any archive is read the same however it is split, and no member exceeds the size in its header. */
export async function fuzz(data: Buffer): Promise<void> {
  const head = data.subarray(0, 1 + ((data[0] ?? 0) % 8));
  const archive = data.subarray(head.length);
  const repaired = (data[0] ?? 0) < 128 ? archive : withSums(archive);
  const { whole, chunks } = chunked(Buffer.concat([head, repaired]));
  assertSame(await read(chunks), await read([whole]), 'an archive that is cut');
}
