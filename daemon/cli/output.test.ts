import { describe, expect, it } from 'vitest';
import { json, plain } from './output.ts';

describe('json', () => {
  it('is one value and a newline', () => {
    const text = json({ a: [1, 'é'] });
    expect(text.endsWith('}\n')).toBe(true);
    expect(JSON.parse(text)).toEqual({ a: [1, 'é'] });
  });
});

describe('plain', () => {
  it.each([
    ['\u001b[31mred\u001b[0m', '[31mred[0m'],
    ['bell\u0007 back\b \u009b2J', 'bell back 2J'],
    ['two\r\nlines\tand a tab', 'two\nlines\tand a tab'],
    ['ünï 漢字 🙂', 'ünï 漢字 🙂'],
  ])('%j', (text, expected) => expect(plain(text)).toBe(expected));
});
