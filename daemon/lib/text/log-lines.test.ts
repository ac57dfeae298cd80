import { describe, expect, it } from 'vitest';
import { createLog } from '../log.ts';
import { atLeast, LogLines } from './log-lines.ts';

const lastOf = (lines: LogLines) => lines.bus.last(1)[0]?.payload as { level: string; text: string };

describe('LogLines', () => {
  it('stores what a real log writes: redacted, with its level, in order', () => {
    const lines = new LogLines();
    const secrets = () => ['s3cret-value'];
    const log = createLog({ level: 'debug', secrets, write: () => {}, tap: (line) => lines.push(line) });
    log.info({ slot: 'agent' }, 'loaded');
    log.warn('the key is s3cret-value');
    const [first, second] = lines.bus
      .last(9)
      .map(({ payload }) => payload as { level: string; text: string });
    expect(first?.level).toBe('info');
    expect(JSON.parse(first?.text ?? '')).toMatchObject({ level: 'info', slot: 'agent', msg: 'loaded' });
    expect(second?.level).toBe('warn');
    expect(second?.text).not.toContain('s3cret');
  });

  it('limits number and length, and every line stays JSON', () => {
    const lines = new LogLines(3);
    for (let i = 0; i < 9; i++) lines.push(`{"level":"info","n":${i}}\n`);
    expect(lines.bus.last(9)).toHaveLength(3);
    lines.push(`{"level":"error","time":"2030-01-01T00:00:00.000Z","msg":"${'x'.repeat(1 << 20)}"}`);
    expect(lastOf(lines).text.length).toBeLessThan(9_000);
    expect(JSON.parse(lastOf(lines).text)).toMatchObject({
      level: 'error',
      time: '2030-01-01T00:00:00.000Z',
      cut: true,
    });
  });

  it('treats foreign lines as info and ignores empty ones', () => {
    const lines = new LogLines();
    lines.push('\n');
    expect(lines.bus.last(9)).toEqual([]);
    lines.push('{"level":"loud","msg":"x"}');
    expect(lastOf(lines).level).toBe('info');
  });
});

describe('atLeast', () => {
  it.each([
    ['warn', 'warn', true],
    ['error', 'warn', true],
    ['info', 'warn', false],
    ['fatal', 'trace', true],
  ] as const)('%s is at least %s: %s', (level, min, expected) => expect(atLeast(level, min)).toBe(expected));
});
