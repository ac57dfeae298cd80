/** svcctl speak, transcribe and embed: the real program against a real daemon with a tone voice, a tone recogniser and a tiny embedding model. */
import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { tinyEmbed } from '../models/testing/gguf/tiny-embed.ts';
import { CLIENT_KEY, KEYS_FILE, REQUIRE_AUTH } from './harness/gateway.ts';
import { OneGateway } from './harness/one-gateway.ts';
import { envFor, type RunOptions, svcctl } from './harness/svcctl.ts';
import { startTones, TONE_TEXT } from './harness/tone-gateway.ts';

let folder: string;

const gateway = new OneGateway(() =>
  startTones({
    models: { vectors: tinyEmbed({ size: 16 }) },
    files: { ...KEYS_FILE, 'config/config.toml': REQUIRE_AUTH },
  }),
);
beforeAll(() => {
  folder = mkdtempSync(join(gateway.home, 'work-'));
});

const run = (args: string[], options: RunOptions = {}) =>
  svcctl(args, { ...options, env: { ...envFor(gateway), ...options.env } });
const at = (name: string) => join(folder, name);

describe('speak and transcribe', () => {
  it('transcribes a spoken file exactly', async () => {
    const spoken = await run(['speak', ...TONE_TEXT.split(' '), '-o', at('a.wav')]);
    expect(spoken).toMatchObject({ code: 0, out: `${at('a.wav')}\n`, err: '' });
    expect(readFileSync(at('a.wav')).toString('latin1', 0, 4)).toBe('RIFF');
    expect(await run(['transcribe', at('a.wav')])).toMatchObject({ code: 0, out: `${TONE_TEXT}\n`, err: '' });
    const json = (await run(['transcribe', at('a.wav'), '--json'])).json();
    expect(json).toMatchObject({ text: TONE_TEXT });
    const srt = await run(['transcribe', at('a.wav'), '--format', 'srt', '-o', at('a.srt')]);
    expect(srt).toMatchObject({ code: 0, out: '' });
    expect(readFileSync(at('a.srt'), 'utf8')).toMatch(/^1\n00:00:00,000 --> /);
  });

  it('text can be piped in, and audio out', async () => {
    const facts = await run(['speak', '-', '--format', 'pcm', '--json', '-o', at('b.raw')], {
      input: 'hello\n',
    });
    const size = readFileSync(at('b.raw')).length;
    expect(facts.json()).toEqual({ file: at('b.raw'), bytes: size, type: 'audio/pcm' });
    const piped = await run(['speak', '--format', 'wav', '--voice', '1'], { input: 'hello' });
    expect(piped).toMatchObject({ code: 0, err: '' });
    expect(piped.out.startsWith('RIFF')).toBe(true);
  });

  it('an existing file is overwritten only with --force', async () => {
    writeFileSync(at('mine.wav'), 'mine');
    const refused = await run(['speak', 'hello', '-o', at('mine.wav')]);
    expect(refused).toMatchObject({ code: 5, out: '' });
    expect(refused.err).toMatch(/already exists; pass --force/);
    expect(readFileSync(at('mine.wav'), 'utf8')).toBe('mine');
    expect(await run(['speak', 'hello', '-o', at('mine.wav'), '--force'])).toMatchObject({ code: 0 });
    expect(readFileSync(at('mine.wav')).toString('latin1', 0, 4)).toBe('RIFF');
  });

  it('a failure leaves no file behind', async () => {
    const before = readdirSync(folder).sort();
    const unknown = await run(['speak', 'hello', '--voice', 'absent', '-o', at('never.wav')]);
    expect(unknown).toMatchObject({ code: 1, out: '' });
    expect(unknown.err).toMatch(/request\.invalid/);
    expect((await run(['transcribe', at('nothing.wav'), '-o', at('never.txt')])).code).toBe(2);
    expect(readdirSync(folder).sort()).toEqual(before);
  });

  it.each([
    [['speak', 'hello'], { terminal: true }, 2, /name the file with -o FILE, or pipe the output/],
    [['speak', 'hello', '--json'], {}, 2, /name the file with -o FILE/],
    [['speak', '-', '-o', 'x.wav'], { input: ' \n' }, 2, /the text is missing/],
    [['speak', 'hello', '--format', 'tape', '-o', '/dev/shm/never.tape'], {}, 1, /response_format/],
    [['transcribe'], {}, 2, /svcctl transcribe \[options\] <file>/],
    [['transcribe', '/'], {}, 2, /is not a file/],
    [['transcribe', '/nowhere.wav'], {}, 2, /cannot be read \(ENOENT\)/],
    [['transcribe', import.meta.filename], {}, 1, /\(audio\.unsupported_format\)/],
    [['transcribe', import.meta.filename, '--voice', 'x'], {}, 2, /transcribe has no option --voice/],
    [['transcribe', import.meta.filename], { env: { SVC_CLIENT_KEY: 'wrong' } }, 4, /auth\.required/],
    [['transcribe', import.meta.filename], { env: { SVC_URL: 'http://127.0.0.1:1' } }, 3, /cannot reach/],
  ] as const)('%j exits with its code and one line', async (args, options, code, message) => {
    const ran = await run([...args], options);
    expect(ran.code).toBe(code);
    expect(`${ran.out}${ran.err}`).toMatch(message);
    expect(`${ran.out}${ran.err}`.trimEnd().split('\n')).toHaveLength(1);
  });
});

describe('embed', () => {
  it('prints one vector per line for each text', async () => {
    const ran = await run(['embed', 'a cat', 'quantum flux'], { env: { SVC_CLIENT_KEY: CLIENT_KEY } });
    const vectors = ran.out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as number[]);
    expect(vectors.map(({ length }) => length)).toEqual([16, 16]);
    const piped = await run(['embed', '-'], { input: 'a cat\n\nquantum flux\n' });
    expect(piped.out).toBe(ran.out);
  });

  it('prints the response of the gateway with --json, and its errors', async () => {
    expect((await run(['embed', 'a cat', '--json'])).json()).toMatchObject({
      object: 'list',
      model: 'vectors',
    });
    expect(await run(['embed'])).toMatchObject({ code: 2, out: '' });
    const other = await run(['embed', 'a cat', '--model', 'tone-ear']);
    expect(other).toMatchObject({ code: 1, out: '' });
    expect(other.err).toMatch(/dispatch\.capability_mismatch/);
  });
});
