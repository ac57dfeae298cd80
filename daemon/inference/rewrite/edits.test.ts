import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Field, fieldOf, scanBody, type WantedField } from './body-index.ts';
import { insert, insertField, remove, render, replace } from './edits.ts';

const NAMES: WantedField[] = ['model', 'stream', 'omni', 'enable_thinking', 'chat_template_kwargs'];

test('without edits the same Buffer is returned', () => {
  const bytes = Buffer.from('{"a":1e400}');
  expect(render(scanBody(bytes), [])).toBe(bytes);
});

test('any set of removed and inserted fields leaves the expected JSON', () => {
  const body = fc.uniqueArray(fc.constantFrom<string>(...NAMES, 'x', 'y'), { maxLength: 7 });
  fc.assert(
    fc.property(
      body,
      fc.subarray(NAMES),
      fc.nat(2),
      fc.constantFrom('', ' ', '\n'),
      (keys, removed, inserts, space) => {
        const members = keys.map((key, index) => `${space}"${key}"${space}:${space}${index}${space}`);
        const index = scanBody(Buffer.from(`${space}{${members.join(',') || space}}${space}`));
        const edits = removed.flatMap((name) => {
          const field = fieldOf(index, name);
          return field ? [remove('fields', field)] : [];
        });
        for (let index = 0; index < inserts; index++) edits.push(insertField(`new${index}`, index));
        const expected = Object.fromEntries([
          ...Array.from({ length: inserts }, (_, index) => [`new${index}`, index]),
          ...keys.map((key, index) => [key, index]).filter(([key]) => !removed.includes(key as WantedField)),
        ]);
        expect(JSON.parse(render(index, edits).toString())).toEqual(expected);
      },
    ),
    { numRuns: 2000 },
  );
});

test('any set of removed and inserted messages leaves the others in order', () => {
  fc.assert(
    fc.property(fc.nat(6), fc.array(fc.nat(5)), fc.boolean(), (count, removed, front) => {
      const list = Array.from({ length: count }, (_, index) => ` ${index} `);
      const index = scanBody(Buffer.from(`{"messages":[${list.join(',')}],"z":1}`));
      const edits = index.messages
        .filter(({ index }) => removed.includes(index))
        .map((each) => remove('messages', each));
      if (front) edits.push(insert('messages', '99'));
      const remaining = list.map((_, index) => index).filter((index) => !removed.includes(index));
      expect(JSON.parse(render(index, edits).toString())).toEqual({
        messages: front ? [99, ...remaining] : remaining,
        z: 1,
      });
    }),
    { numRuns: 1000 },
  );
});

test('bytes outside the edit stay unchanged', () => {
  const text = '{ "seed" : 9223372036854775808, "model" : "old" ,"t":-0, "big":1e400,"s":"\\u00e9\\/"}';
  const index = scanBody(Buffer.from(text));
  const model = fieldOf(index, 'model');
  if (!model) throw new Error('no model');
  expect(render(index, [replace(model.value, '"new"')]).toString()).toBe(text.replace('"old"', '"new"'));
});

test('overlapping edits throw', () => {
  const index = scanBody(Buffer.from('{"model":"a"}'));
  const model = fieldOf(index, 'model');
  if (!model) throw new Error('no model');
  expect(() => render(index, [remove('fields', model), replace(model.value, '"b"')])).toThrow('overlap');
});

test('a long body is sent in parts that share the original bytes', () => {
  const bytes = Buffer.from(`{"model":"old","input":"${'x'.repeat(100_000)}"}`);
  const index = scanBody(bytes);
  const pieces = render(index, [replace((fieldOf(index, 'model') as Field).value, '"new"')]);
  if (Buffer.isBuffer(pieces)) throw new Error('it was joined');
  expect(Buffer.concat(pieces).toString()).toBe(bytes.toString().replace('"old"', '"new"'));
  expect(pieces.at(-1)?.buffer).toBe(bytes.buffer);
});
