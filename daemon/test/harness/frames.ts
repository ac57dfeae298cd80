import { randomBytes } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import type { Gateway } from './gateway.ts';
import { handshake } from './socket.ts';

/** A frame of a client as RFC 6455 section 5.2 has it, and as it must not be. */
export interface FrameShape {
  /** Default 1, text. */
  opcode?: number;
  /** The last one of its message; default true. */
  fin?: boolean;
  /** The three reserved bits. */
  rsv?: number;
  /** Default true; a client that does not mask is none. */
  mask?: boolean;
  /** The length that is said, where it is not that of the payload. */
  says?: bigint;
}

function lengthOf(length: bigint, mask: number): Buffer {
  if (length < 126n) return Buffer.from([mask | Number(length)]);
  const wide = length > 0xffffn;
  const bytes = Buffer.alloc(wide ? 9 : 3);
  bytes[0] = mask | (wide ? 127 : 126);
  if (wide) bytes.writeBigUInt64BE(length, 1);
  else bytes.writeUInt16BE(Number(length), 1);
  return bytes;
}

export function frame(payload: string | Buffer, shape: FrameShape = {}): Buffer {
  const { opcode = 1, fin = true, rsv = 0, mask = true } = shape;
  const bytes = Buffer.from(payload);
  const head = Buffer.from([(fin ? 0x80 : 0) | (rsv << 4) | opcode]);
  const length = lengthOf(shape.says ?? BigInt(bytes.length), mask ? 0x80 : 0);
  if (!mask) return Buffer.concat([head, length, bytes]);
  const key = randomBytes(4);
  const masked = bytes.map((byte, i) => byte ^ (key[i % 4] as number));
  return Buffer.concat([head, length, key, masked]);
}

/** The code of the first close frame among the frames of a server; null = there is none. */
export function closeCode(bytes: Buffer): number | null {
  let at = bytes.indexOf('\r\n\r\n') + 4;
  while (at + 2 <= bytes.length) {
    const opcode = (bytes[at] as number) & 0x0f;
    const said = (bytes[at + 1] as number) & 0x7f;
    const wide = said === 127 ? 8 : said === 126 ? 2 : 0;
    if (at + 2 + wide > bytes.length) return null;
    const length =
      wide === 0 ? said : Number(bytes.readUIntBE(at + 2 + wide - Math.min(wide, 6), Math.min(wide, 6)));
    const start = at + 2 + wide;
    if (opcode === 8) return length >= 2 ? bytes.readUInt16BE(start) : 0;
    at = start + length;
  }
  return null;
}

/** A socket of its own after the handshake. */
export interface RawSocket {
  readonly socket: Socket;
  /** What has come so far, the answer to the handshake included. */
  bytes(): Buffer;
  readonly closed: Promise<void>;
}

/** Upgrades a plain connection; resolves once the gateway has said 101. */
export function rawSocket(gateway: Pick<Gateway, 'port'>, path: string): Promise<RawSocket> {
  return new Promise((resolve, reject) => {
    const socket = connect(gateway.port, '127.0.0.1');
    const chunks: Buffer[] = [];
    const bytes = () => Buffer.concat(chunks);
    const closed = new Promise<void>((done) => socket.once('close', () => done()));
    const onData = () => {
      if (!bytes().includes('\r\n\r\n')) return;
      socket.off('data', onData);
      if (bytes().toString('latin1').startsWith('HTTP/1.1 101 ')) resolve({ socket, bytes, closed });
      else reject(new Error(bytes().toString('latin1')));
    };
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    socket.on('data', onData);
    socket.on('error', reject);
    socket.write(handshake(path));
  });
}
