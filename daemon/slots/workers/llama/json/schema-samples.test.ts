import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { seededRandom } from '../../../../lib/seeded-random.ts';
import { gbnfSampler } from '../../testing/gbnf-sampler.ts';
import { grammarJudge } from '../../testing/grammar-judge.ts';
import { SchemaFault } from './schema-error.ts';
import { schemaGrammar } from './schema-grammar.ts';

const judge = grammarJudge();

const ajv = new Ajv2020({ strict: false, allErrors: false });
addFormats.default(ajv);

const PATTERNS = [
  ...[
    '^[a-z]{2,5}$',
    '^\\d{3}-\\d{4}$',
    'x+y?z',
    '^(?:foo|bar(?<n>\\d))*$',
    '^[^"\\\\a-y]+$',
    '^\\w+@\\w+\\.(com|org)$',
  ],
  ...[
    '^.$',
    '^\\s\\S\\D\\W$',
    '^\\x41\\u00e9[\\u{1F300}-\\u{1F310}]$',
    '^$',
    'end$',
    '^"\\\\\\n\\t\\/$',
    '^[\\d\\-_]+?$',
    '^(a|b|)c$',
    '^a[bc]+$|^\\d|xyz$|^$',
    '^1|-',
  ],
];
/** Needless escapes, which are valid only without the Unicode flag. */
const ESCAPED = ['^\\d{3}\\-\\d{4}$', '^[\\w-.]\\ ?$'];
const bound = fc.oneof(
  fc.integer({ min: -1000, max: 1000 }),
  fc.integer({ min: -9999, max: 9999 }).map((n) => n / 100),
);
const bounds = fc
  .tuple(
    bound,
    bound,
    fc.constantFrom('minimum', 'exclusiveMinimum'),
    fc.constantFrom('maximum', 'exclusiveMaximum'),
    fc.nat(3),
  )
  .map(([a, b, minKey, maxKey, ends]) => ({
    ...(ends & 1 ? { [minKey]: Math.min(a, b) } : {}),
    // With 17 digits, a text below an exclusive bound can parse to the bound itself.
    ...(ends & 2 ? { [maxKey]: Math.round(Math.max(a, b) * 100 + 100) / 100 } : {}),
  }));
const text = fc.oneof(
  fc.constantFrom(...PATTERNS).map((pattern) => ({ type: 'string', pattern })),
  fc
    .constantFrom('date', 'time', 'date-time', 'duration', 'uuid', 'email', 'hostname', 'ipv4', 'ipv6', 'uri')
    .map((format) => ({ type: 'string', format })),
  fc.record({ type: fc.constant('string'), minLength: fc.nat(4), maxLength: fc.integer({ min: 4, max: 9 }) }),
  fc.record({
    pattern: fc.constant('^[a-f]*$'),
    minLength: fc.nat(3),
    maxLength: fc.integer({ min: 3, max: 6 }),
  }),
);
const leaf: fc.Arbitrary<object> = fc.oneof(
  text,
  bounds.chain((limits) => fc.constantFrom('number', 'integer').map((type) => ({ type, ...limits }))),
  fc.constantFrom(
    { type: 'boolean' },
    { type: ['string', 'null'] },
    { enum: ['a', 5, null] },
    { enum: ['a', '2024-02-30', 'https://host.example', '::1'] },
    { const: { k: [1] } },
  ),
);
const { schema } = fc.letrec<{ schema: object; object: object; all: object }>((tie) => ({
  schema: fc.oneof(
    { maxDepth: 3 },
    leaf,
    tie('object'),
    tie('all'),
    list(tie('schema')),
    either(tie('schema')),
  ),
  object: fc
    .record({ a: tie('schema'), b: tie('schema'), c: tie('schema') }, { requiredKeys: [] })
    .chain((properties) =>
      fc.record({
        type: fc.constant('object'),
        properties: fc.constant(properties),
        required: fc.subarray(Object.keys(properties)),
        additionalProperties: fc.constantFrom(false, false, { type: 'integer' }),
      }),
    ),
  all: fc.oneof(
    fc.tuple(tie('object'), tie('object')).map((allOf) => ({ allOf })),
    fc.tuple(tie('schema'), tie('schema')).map(([a, b]) => ({ allOf: [{ anyOf: [a, b] }, b] })),
    fc
      .tuple(bounds, bounds)
      .map(([a, b]) => ({ type: 'number', ...a, allOf: [b, { type: ['number', 'string'] }] })),
    tie('object').map((object) => ({ ...object, anyOf: [{ required: ['a'] }, { required: ['b'] }] })),
  ),
}));

function list(items: fc.Arbitrary<object>): fc.Arbitrary<object> {
  return fc.record({
    type: fc.constant('array'),
    items,
    minItems: fc.nat(2),
    maxItems: fc.integer({ min: 2, max: 4 }),
  });
}

function either(one: fc.Arbitrary<object>): fc.Arbitrary<object> {
  return fc.array(one, { minLength: 1, maxLength: 3 }).map((anyOf) => ({ anyOf }));
}

test("every text that a schema's grammar matches is JSON and fits the schema", async () => {
  let [accepted, refused] = [0, 0];
  await fc.assert(
    fc.asyncProperty(schema, fc.nat(0x7fff_ffff), async (candidate, seed) => {
      let grammar: string;
      let isRelaxed = false;
      const relax = (): void => {
        isRelaxed = true;
      };
      try {
        grammar = schemaGrammar(candidate, { strict: true, relax });
      } catch (error) {
        if (!(error instanceof SchemaFault)) throw error;
        refused += 1;
        return;
      }
      accepted += 1;
      if (isRelaxed) return;
      const takes = await judge(grammar);
      const validate = ajv.compile(candidate);
      const sample = gbnfSampler(grammar);
      const random = seededRandom(seed);
      for (let i = 0; i < 10; i++) {
        const text = sample((count) => Math.floor(random() * count));
        expect(
          validate(JSON.parse(text)),
          `${text} for ${JSON.stringify(candidate)}: ${ajv.errorsText(validate.errors)}`,
        ).toBe(true);
        expect(takes(text), `llama.cpp takes ${text}`).toBe(true);
      }
    }),
    { numRuns: 150 },
  );
  expect(accepted).toBeGreaterThan(refused);
}, 120_000);

test.each([...PATTERNS, ...ESCAPED])('matches exactly the texts of the pattern %s', async (pattern) => {
  const takes = await judge(schemaGrammar({ type: 'string', pattern }, { strict: true }));
  const fits = regex(pattern);
  const words = [
    '',
    'abc',
    '123-4567',
    'xyz',
    'xxz-',
    'foobar1foo',
    'zzz',
    'me@site.org',
    'é',
    'Aé🌀',
    'the end',
    '"\\\n\t/',
    '1-_',
    'ac',
    'c',
    ' xA!',
    'a\nb',
  ];
  for (const word of words) {
    expect(takes(JSON.stringify(word)), JSON.stringify(word)).toBe(fits.test(word));
  }
});

/** Compiles a pattern; one with needless escapes is valid only without the Unicode flag. */
function regex(pattern: string): RegExp {
  try {
    return new RegExp(pattern, 'u');
  } catch {
    return new RegExp(pattern);
  }
}
