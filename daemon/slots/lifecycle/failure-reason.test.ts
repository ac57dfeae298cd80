import { describe, expect, it } from 'vitest';
import { decisiveLine, errorLines, exitReason, scrubPaths } from './failure-reason.ts';

describe('scrubPaths', () => {
  it.each([
    ['cannot open /home/ann/models/secret/a.gguf', 'cannot open a.gguf'],
    ["Error at '/opt/x y.gguf'", "Error at 'x y.gguf'"],
    ['file:///srv/app/llama.ts:3:1 broke', 'llama.ts:3:1 broke'],
    ['a/b and 1/2 stay', 'a/b and 1/2 stay'],
    ['two\nlines\t here', 'two lines here'],
  ])('%s', (text, expected) => {
    expect(scrubPaths(text)).toBe(expected);
  });

  it('is bounded', () => {
    expect(scrubPaths('x'.repeat(5_000))).toHaveLength(300);
  });
});

describe('decisiveLine', () => {
  it('prefers the last line that names a cause over later output', () => {
    const lines = ['load', 'error: no backends', 'fatal: unknown model architecture', 'bye'];
    expect(decisiveLine(lines)).toBe('fatal: unknown model architecture');
  });

  it('skips what Node.js adds to an uncaught error', () => {
    const lines = ['node:events:487', '      throw er;', 'Error: listen EADDRINUSE', '    at x (y:1:2)'];
    const noise = ["Emitted 'error' event on Server instance at:", '    at z (y:3:4)', '  port: 80', '}'];
    expect(decisiveLine([...lines, ...noise])).toBe('Error: listen EADDRINUSE');
  });

  it('skips stack frames', () => {
    expect(decisiveLine(['Oops: it went wrong', '    at x (y.ts:1:2)', '', 'Node.js v24.1.0'])).toBe(
      'Oops: it went wrong',
    );
  });

  it('is null without output', () => expect(decisiveLine([''])).toBeNull());
});

describe('errorLines', () => {
  it('are the last lines that name a cause, without paths', () => {
    const lines = ['error: one', 'loading', 'RuntimeError: no kernel in /opt/x/y.so', '    at x (y.ts:1:2)'];
    expect(errorLines(lines, 5)).toEqual(['error: one', 'RuntimeError: no kernel in y.so']);
    expect(errorLines(lines, 1)).toEqual(['RuntimeError: no kernel in y.so']);
    expect(errorLines([], 5)).toEqual([]);
  });
});

describe('exitReason', () => {
  it.each([
    [
      { code: 134, signal: null },
      ['GGML_ASSERT failed'],
      'The engine ended with code 134: GGML_ASSERT failed',
    ],
    [{ code: null, signal: 'SIGKILL' }, [], 'The engine was killed (SIGKILL), perhaps for lack of memory.'],
    [
      { code: null, signal: 'SIGKILL' },
      ['safetensors: header too large', 'error: an older job failed'],
      'The engine was killed (SIGKILL), perhaps for lack of memory.',
    ],
    [{ code: null, signal: 'SIGUSR2' }, [], 'The engine was ended by SIGUSR2.'],
    [
      { code: null, signal: 'SIGILL' },
      [
        '#',
        '# Fatal process out of memory: Worklist::Segment::Create',
        '#',
        '----- Native stack trace -----',
        ' 2: 0x27ab085 v8::base::FatalOOM(v8::base::OOMType, char const*) [/opt/node]',
      ],
      'The engine ran out of memory: Fatal process out of memory: Worklist::Segment::Create',
    ],
    [
      { code: null, signal: 'SIGABRT' },
      ["terminate called after throwing an instance of 'std::bad_alloc'", '  what():  std::bad_alloc'],
      'The engine ran out of memory: what(): std::bad_alloc',
    ],
    [{ code: 1, signal: null }, ['no /a/b/c'], 'The engine ended with code 1: no c'],
  ])('%o', (exit, lines, expected) => {
    expect(exitReason(exit, lines)).toBe(expected);
  });
});
