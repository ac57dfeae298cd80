import { expect, test } from 'vitest';
import { cuts } from '../../testing/cuts.ts';
import { jsonValue } from './json-value.ts';

function read(pieces: readonly string[]): { out: string; rest: string } {
  const value = jsonValue();
  let out = '';
  for (const [i, piece] of pieces.entries()) {
    const { out: more, end } = value.push(piece, 0);
    out += more;
    if (end >= 0) return { out, rest: [piece.slice(end), ...pieces.slice(i + 1)].join('') };
  }
  return { out, rest: '' };
}

test.each([
  ['{"a": [1, -2.5e3, true, null], "b": {}} x', '{"a":[1,-2.5e3,true,null],"b":{}}', ' x'],
  ["{'a b': 'it\\'s', 'c': \"d's\"}", '{"a b":"it\'s","c":"d\'s"}', ''],
  ["{'a': 'say \"x\"'}", '{"a":"say \\"x\\""}', ''],
  ["{'a': True, 'b': [False, None]}", '{"a":true,"b":[false,null]}', ''],
  ['{"a": [1, 2,], "b": 3,}', '{"a":[1,2],"b":3}', ''],
  ['{"a": "one\ntwo\tthree\u0001"}', '{"a":"one\\ntwo\\tthree\\u0001"}', ''],
  ['{"a": "\\d+ \\n \\u00e9 \\\\"}', '{"a":"\\\\d+ \\n \\u00e9 \\\\"}', ''],
  ['{"a": 3.14 / 4, "b": soon}', '{"a":"3.14 / 4","b":"soon"}', ''],
  ['{a: 1}', '{"a":1}', ''],
  ['{"a": 007, "b": NaN}', '{"a":"007","b":"NaN"}', ''],
  ['"text", more', '"text"', ', more'],
  ['12, 13', '12', ', 13'],
  ['None]', 'null', ']'],
])('%s', (text, out, rest) => {
  for (const pieces of cuts(text)) {
    expect(read(pieces), JSON.stringify(pieces)).toEqual({ out, rest });
    JSON.parse(out);
  }
});
