import WebSocket from 'ws';
import type { Gateway } from './gateway.ts';

export interface SocketResult {
  /** Status of a refused upgrade, else null. */
  refused: number | null;
  opened: boolean;
  protocol: string;
  messages: string[];
  code: number | null;
  reason: string;
}

/** Opens a WebSocket and waits until it is rejected or closed. Closes it after the first message. */
export function socketResult(
  gateway: Pick<Gateway, 'port'>,
  path: string,
  options: { headers?: Record<string, string>; protocols?: string[] } = {},
): Promise<SocketResult> {
  return new Promise((resolve) => {
    const result: SocketResult = {
      refused: null,
      opened: false,
      protocol: '',
      messages: [],
      code: null,
      reason: '',
    };
    const socket = new WebSocket(`ws://127.0.0.1:${gateway.port}${path}`, options.protocols ?? [], {
      headers: options.headers ?? {},
      handshakeTimeout: 10_000,
    });
    socket.on('open', () => {
      result.opened = true;
      result.protocol = socket.protocol;
    });
    socket.on('message', (data) => {
      result.messages.push(data.toString());
      socket.close(1000);
    });
    socket.on('unexpected-response', (_request, response) => {
      result.refused = response.statusCode ?? 0;
      socket.terminate();
      resolve(result);
    });
    socket.on('error', () => {});
    socket.on('close', (code, reason) => resolve({ ...result, code, reason: reason.toString() }));
  });
}

/** Returns the bytes of a WebSocket handshake. `headers` replace the usual ones; an empty value removes one. */
export function handshake(path: string, headers: Record<string, string> = {}, method = 'GET'): string {
  const usual = {
    host: '127.0.0.1',
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
  };
  const lines = Object.entries({ ...usual, ...headers }).filter(([, value]) => value !== '');
  return `${method} ${path} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`;
}
