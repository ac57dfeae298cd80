import type { IncomingMessage } from 'node:http';
import { newRequestId } from '../lib/request-id.ts';

const IDS = new WeakMap<IncomingMessage, string>();

/** The id of an upgrade: the same in the handshake response and for the socket. */
export function upgradeId(req: IncomingMessage): string {
  const known = IDS.get(req);
  if (known !== undefined) return known;
  const id = newRequestId();
  IDS.set(req, id);
  return id;
}
