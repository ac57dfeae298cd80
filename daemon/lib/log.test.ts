import { describe, expect, it } from 'vitest';
import { createLog } from './log.ts';
import { cpuTimer } from './testing/cpu-time.ts';

const CANARY = 'canary-"quoted"\\and-long-Zq81xV7m';
const NAMED = 'only-the-name-tells-Rf5nQc2J';

function setUp(secrets: string[] = []) {
  const written: string[] = [];
  const observed: string[] = [];
  const log = createLog({
    level: 'debug',
    secrets: () => secrets,
    write: (line) => void written.push(line),
    tap: (line) => void observed.push(line),
  });
  return { log, written, observed };
}

/** Every way in which a value gets into a line. */
const CASES: Record<string, (log: ReturnType<typeof setUp>['log'], name: string, value: string) => void> = {
  'a field': (log, name, value) => log.info({ [name]: value }, 'x'),
  'a field inside others': (log, name, value) => log.info({ a: { b: [{ c: { [name]: value } }] } }, 'x'),
  'a list': (log, name, value) => log.info({ a: { [name]: [value, value] } }, 'x'),
  'a binding of a child': (log, name, value) => log.child({ [name]: value }).info('x'),
  'an error with details': (log, name, value) =>
    log.error({ err: Object.assign(new Error('x'), { details: { [name]: value } }) }, 'x'),
};

describe.each(Object.entries(CASES))('%s', (_, logValue) => {
  it.each([
    'authorization',
    'Proxy-Authorization',
    'cookie',
    'set-cookie',
    'api_key',
    'x-api-key',
    'apiKey',
    'SVC_ADMIN_KEY',
    'client_secret',
    'hf_token',
    'password',
  ])('is redacted under the name %s', (name) => {
    const { log, written, observed } = setUp();
    logValue(log, name, NAMED);
    expect(written).toHaveLength(1);
    expect(written[0]).not.toContain(NAMED);
    expect(written[0]).toContain(`"${name}":"[hidden]"`);
    expect(JSON.parse(written[0] ?? '')).toMatchObject({ msg: 'x' });
    expect(observed).toEqual(written);
  });

  it('is redacted by value, under any name', () => {
    const { log, written } = setUp([CANARY]);
    logValue(log, 'harmless', CANARY);
    expect(written[0]).not.toContain('Zq81xV7m');
    expect(() => JSON.parse(written[0] ?? '')).not.toThrow();
  });
});

it('redacts a value in the message and stack of an error', () => {
  const { log, written } = setUp([CANARY]);
  log.warn(`no: ${CANARY}`);
  log.error({ err: new Error(`no: ${CANARY}`, { cause: new Error(CANARY) }) }, 'x');
  expect(written).toHaveLength(2);
  expect(written.join('')).not.toContain('Zq81xV7m');
});

it('keeps values whose names only resemble those of secrets', () => {
  const { log, written } = setUp();
  const fields = { max_tokens: 5, tokens: '7', key: 'models.folders', monkey: 'x', cookies: 'none' };
  log.info(fields, 'token');
  expect(JSON.parse(written[0] ?? '')).toMatchObject({ ...fields, msg: 'token' });
});

it('a long line is redacted in linear time', () => {
  const { log, written } = setUp([CANARY]);
  const cpuMs = cpuTimer();
  log.info({ text: `${'"token'.repeat(50_000)}${'-'.repeat(200_000)}` }, 'x');
  expect(written).toHaveLength(1);
  expect(cpuMs()).toBeLessThan(5_000);
});
