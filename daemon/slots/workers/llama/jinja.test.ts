import { expect, test } from 'vitest';
import { Template } from './jinja.ts';

test.each([
  ["{{ '<{}|{}>'.format('a', 1) }}", '<a|1>'],
  ["{{ '{1}{0}'.format('a', 'b') }}", 'ba'],
  ["{{ '{} {}'.format('a') }}", 'a '],
  [
    '{% set n = namespace(ids=[]) %}{% set _ = n.ids.append(1) %}{% set _ = n.ids.append(2) %}{{ n.ids.pop(0) }}{{ n.ids }}',
    '1[2]',
  ],
  ['{% set l = [1, 2] %}{{ l.pop() }}{{ l | length }}', '21'],
  ['{% set l = [] %}{{ l.pop() is none }}', 'true'],
  ['{{ [3, 1, 2] | min }}{{ [3, 1, 2] | max }}{{ [] | min is none }}', '13true'],
  ["{{ {'a': [1, true]} | string }}", '{"a": [1, true]}'],
  ["{% for a, b in [('x', 1), ('y', 2)] %}{{ a }}{{ b }}{% endfor %}", 'x1y2'],
  ["{{ ('a', 1) | tojson }}", '["a", 1]'],
  [
    '{% set t = {10: 1, 9: 2} %}{% for k, v in t | dictsort %}{{ k + 1 }}{{ v }},{% endfor %}{{ t[10] }}{{ t[7] is none }}',
    '102,111,1true',
  ],
  // Unchanged.
  ['{% set l = [5, 6] %}{{ l[0] }}{{ l[-1] }}{{ [1] | length }}', '561'],
  ["{{ 'a b'.split(' ')[1].upper() }}{{ {'k': 1}['k'] }}{{ {} }}", 'B1{}'],
])('%s', (source, expected) => {
  expect(new Template(source).render({})).toBe(expected);
});

test.each(['{{ x.format(1) }}', '{{ [1] | nothing }}', '{{ {1: 2, "a": 3} }}'])(
  '%s still fails',
  (source) => {
    expect(() => new Template(source).render({})).toThrow();
  },
);
