import type { IncomingMessage } from 'node:http';
import { newRequestId } from '../lib/request-id.ts';

const IDS = new WeakMap<IncomingMessage, string>();

/** The id of an upgrade: the same in the answer to its handshake, whatever that is, and for the socket that comes of it. */
export function upgradeId(req: IncomingMessage): string {
  const known = IDS.get(req);
  if (known !== undefined) return known;
  const id = newRequestId();
  IDS.set(req, id);
  return id;
}
