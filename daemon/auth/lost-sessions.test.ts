import { readFileSync, symlinkSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { recordedLog } from '../lib/testing/recorded-log.ts';
import { scratch } from '../lib/testing/scratch.ts';
import { endAllSessions } from './lost-sessions.ts';
import { openSigningSecret } from './signing-secret.ts';

describe('lost sessions', () => {
  it('Q01 get a new secret, also in the file', async () => {
    const file = join(scratch(), 'secret.bin');
    const secret = await openSigningSecret(file);
    const old = secret.current();
    const { log, lines } = recordedLog();
    await endAllSessions(secret, log);
    expect(secret.current()).not.toEqual(old);
    expect(readFileSync(file)).toEqual(secret.current());
    expect(lines.map(({ level }) => level)).toEqual(['warn']);
  });

  it('Q02 get a new secret in memory when the file cannot be replaced', async () => {
    const file = join(scratch(), 'secret.bin');
    const secret = await openSigningSecret(file);
    const old = secret.current();
    unlinkSync(file);
    symlinkSync('/nowhere/at/all', file);
    const { log, lines } = recordedLog();
    await endAllSessions(secret, log);
    expect(secret.current()).not.toEqual(old);
    expect(lines.map(({ level }) => level)).toEqual(['warn', 'error']);
  });
});
