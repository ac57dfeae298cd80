import { randomBytes } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import type { Gateway } from './gateway.ts';
import { handshake } from './socket.ts';

/** Fields of a client frame (RFC 6455 section 5.2), valid or not. */
export interface FrameShape {
  /** Default 1, text. */
  opcode?: number;
  /** Last frame of its message; default true. */
  fin?: boolean;
  /** The three reserved bits. */
  rsv?: number;
  /** Default true, which RFC 6455 requires of clients. */
  mask?: boolean;
  /** The declared length, when it differs from that of the payload. */
  declaredLength?: bigint;
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
  const length = lengthOf(shape.declaredLength ?? BigInt(bytes.length), mask ? 0x80 : 0);
  if (!mask) return Buffer.concat([head, length, bytes]);
  const key = randomBytes(4);
  const masked = bytes.map((byte, i) => byte ^ (key[i % 4] as number));
  return Buffer.concat([head, length, key, masked]);
}

/** Returns the code of the first close frame in the bytes of a server, or null. */
export function closeCode(bytes: Buffer): number | null {
  let at = bytes.indexOf('\r\n\r\n') + 4;
  while (at + 2 <= bytes.length) {
    const opcode = (bytes[at] as number) & 0x0f;
    const shortLength = (bytes[at + 1] as number) & 0x7f;
    const wide = shortLength === 127 ? 8 : shortLength === 126 ? 2 : 0;
    if (at + 2 + wide > bytes.length) return null;
    const length =
      wide === 0
        ? shortLength
        : Number(bytes.readUIntBE(at + 2 + wide - Math.min(wide, 6), Math.min(wide, 6)));
    const start = at + 2 + wide;
    if (opcode === 8) return length >= 2 ? bytes.readUInt16BE(start) : 0;
    at = start + length;
  }
  return null;
}

/** A raw socket after the handshake. */
export interface RawSocket {
  readonly socket: Socket;
  /** All bytes received so far, including the handshake response. */
  bytes(): Buffer;
  readonly closed: Promise<void>;
}

/** Upgrades a plain connection. Resolves after the 101 response. */
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
