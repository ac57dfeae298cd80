import type { IncomingHttpHeaders } from 'node:http';
import type { AddressClass, CallerInfo } from '../contract/caller-info.ts';
import { isLoopback, isPrivate } from '../lib/net/addresses.ts';
import { truncate } from '../lib/text/truncate.ts';

const MAX_AGENT_LENGTH = 256;
const MAX_APP_LENGTH = 64;
const CONTROLS = /[\0-\x1f\x7f-\x9f]+/g;

/** Returns the start of a header as clean text; null when it is missing or blank. */
function textOf(value: string | string[] | undefined, maxLength: number): string | null {
  if (typeof value !== 'string') return null;
  const text = truncate(value, maxLength).replace(CONTROLS, ' ').trim();
  return text === '' ? null : text;
}

function classOf(address: string): AddressClass | null {
  if (address === '') return null;
  if (isLoopback(address)) return 'loopback';
  return isPrivate(address) ? 'private' : 'public';
}

/** Reads what a caller says about itself. Only the class of `address` is kept. */
export const readCallerInfo = (headers: IncomingHttpHeaders, address: string): CallerInfo => ({
  app: textOf(headers['x-title'], MAX_APP_LENGTH),
  user_agent: textOf(headers['user-agent'], MAX_AGENT_LENGTH),
  address: classOf(address),
});
