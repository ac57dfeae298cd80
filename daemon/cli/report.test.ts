import { describe, expect, it } from 'vitest';
import { CliError, EXIT } from './exit-codes.ts';
import { report } from './report.ts';

const credential = { key: 'the-key-itself', from: 'SVC_ADMIN_KEY in /etc/svc/api.env' };
const refused = new CliError('A key is required.', EXIT.refused, 'auth.required');

describe('report', () => {
  it('is one line for people, without control characters', () => {
    expect(report(new CliError('bad\u001b[2J', EXIT.usage), { json: false, credential: null })).toEqual({
      text: 'svcctl: bad[2J\n',
      exitCode: EXIT.usage,
    });
  });

  it('is one JSON object with --json', () => {
    const { text, exitCode } = report(refused, { json: true, credential: null });
    expect(JSON.parse(text)).toEqual({
      error: {
        code: 'auth.required',
        message: 'A key is required. No key was found.',
        exit: 4,
      },
    });
    expect(exitCode).toBe(EXIT.refused);
  });

  it('names the source of the refused key, and never the key', () => {
    const { text } = report(refused, { json: false, credential });
    expect(text).toMatch(/^svcctl: A key is required\. \(auth\.required\) The key came/);
    expect(text).toContain('The key came from SVC_ADMIN_KEY in /etc/svc/api.env.');
    expect(text).not.toContain(credential.key);
    const origin = new CliError('x', EXIT.refused, 'auth.origin_forbidden');
    expect(report(origin, { json: false, credential }).text).toBe('svcctl: x (auth.origin_forbidden)\n');
  });

  it('ends with the advice', () => {
    const gated = new CliError('Gated.', EXIT.failed, 'pull.gated', 'Accept its terms.');
    expect(report(gated, { json: false, credential: null }).text).toBe(
      'svcctl: Gated. (pull.gated) Accept its terms.\n',
    );
    expect(JSON.parse(report(gated, { json: true, credential: null }).text).error.advice).toBe(
      'Accept its terms.',
    );
  });

  it('reports any other error with its message and code 1', () => {
    expect(report(new TypeError('odd'), { json: false, credential: null })).toEqual({
      text: 'svcctl: TypeError: odd\n',
      exitCode: EXIT.failed,
    });
  });
});
