import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { claimText, holderOf } from '../lib/process/process-claim.ts';

/** Name of the file in the state folder that has the address of the running gateway. */
const NAME = 'gateway.address';

export interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

export const addressFile = (folder: string): string => join(folder, NAME);

/** Returns the content of the file for a listener of this process. */
export const addressText = ({ host, port }: ListenAddress): string => `${claimText()}${host} ${port}\n`;

/**
 * Returns the address of the gateway that uses a state folder. Returns null when it does not run in this
 * process namespace, and when this user may not read the file.
 */
export function runningAddress(folder: string): ListenAddress | null {
  try {
    const text = readFileSync(addressFile(folder), 'utf8');
    const [, claim = '', host = '', port = ''] = /^(\d+ \d+\n)(\S{1,255}) (\d{1,5})\n$/.exec(text) ?? [];
    return holderOf(claim) === null ? null : { host, port: Number(port) };
  } catch {
    return null;
  }
}
