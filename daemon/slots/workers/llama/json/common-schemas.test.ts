import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { seededRandom } from '../../../../lib/seeded-random.ts';
import { gbnfSampler } from '../../testing/gbnf-sampler.ts';
import { grammarJudge } from '../../testing/grammar-judge.ts';
import { schemaGrammar } from './schema-grammar.ts';

const judge = grammarJudge();
// Patterns with needless escapes are valid only without the Unicode flag.
const ajv = new Ajv2020({ strict: false, unicodeRegExp: false });
addFormats.default(ajv);

/** Returns grammar and relaxed keywords, which are the same with and without `strict`. */
function converted(schema: unknown) {
  const [strict, lenient] = [true, false].map((strict) => {
    const names = new Set<string>();
    return {
      grammar: schemaGrammar(schema, { strict, relax: (name) => names.add(name) }),
      names: [...names],
    };
  });
  expect(lenient).toEqual(strict);
  return strict as { grammar: string; names: string[] };
}

/** Draws texts that the grammar accepts, as values. */
async function drawn(grammar: string, count: number): Promise<unknown[]> {
  const takes = await judge(grammar);
  const sample = gbnfSampler(grammar);
  const random = seededRandom(7);
  return Array.from({ length: count }, () => {
    const text = sample((choices) => Math.floor(random() * choices));
    expect(takes(text), text).toBe(true);
    return JSON.parse(text) as unknown;
  });
}

const Tree = z.object({
  value: z.string(),
  get children() {
    return z.array(Tree).max(2);
  },
});

/** Schemas of zod 4, and the keywords that only the client checks. */
const ZOD: Record<string, [z.ZodType, string[]?]> = {
  email: [z.email(), ['format:email']],
  url: [z.url()],
  uuid: [z.uuid(), ['format:uuid']],
  guid: [z.guid(), ['format:uuid']],
  ipv4: [z.ipv4(), ['format:ipv4']],
  ipv6: [z.ipv6(), ['format:ipv6']],
  cidr: [z.cidrv4(), ['format:cidrv4']],
  mac: [z.mac(), ['format:mac']],
  base64: [z.base64url(), ['format:base64url']],
  hash: [z.hash('sha256'), ['format:sha256_hex']],
  e164: [z.e164(), ['format:e164']],
  nanoid: [z.nanoid(), ['format:nanoid']],
  cuid: [z.cuid2(), ['format:cuid2']],
  ulid: [z.ulid(), ['format:ulid']],
  date: [z.iso.date(), ['format:date']],
  time: [z.iso.time()],
  datetime: [z.iso.datetime(), ['format:date-time']],
  hostname: [z.hostname(), ['pattern']],
  duration: [z.iso.duration(), ['pattern']],
  emoji: [z.emoji(), ['pattern', 'format:emoji']],
  jwt: [z.jwt(), ['format:jwt']],
  'template literal': [z.templateLiteral(['a-', z.number()])],
  lowercase: [z.string().lowercase(), ['format:lowercase']],
  'three patterns': [z.string().startsWith('a').endsWith('b').includes('c'), ['pattern', 'format:includes']],
  'a long text': [z.string().min(1).max(5_000), ['maxLength']],
  int: [z.int()],
  int32: [z.int32()],
  float32: [z.float32(), ['minimum', 'maximum']],
  'multiple of': [z.number().multipleOf(5), ['multipleOf']],
  record: [z.record(z.string(), z.number())],
  'record of an enum': [z.record(z.enum(['a', 'b']), z.number())],
  'partial record': [z.partialRecord(z.enum(['a', 'b']), z.boolean())],
  'record with a pattern': [z.record(z.string().regex(/^x/), z.null())],
  tuple: [z.tuple([z.string(), z.int()])],
  'open tuple': [z.tuple([z.string()], z.int())],
  literals: [z.literal(['a', 1])],
  union: [
    z.discriminatedUnion('k', [z.object({ k: z.literal('a') }), z.object({ k: z.literal('b'), n: z.int() })]),
  ],
  intersection: [z.intersection(z.object({ a: z.string() }), z.object({ b: z.int() }))],
  'loose object': [z.looseObject({ a: z.string() })],
  'optional, nullable, default': [
    z.object({ a: z.string().nullable(), b: z.int().optional(), c: z.string().default('x') }),
  ],
  never: [z.object({ a: z.never().optional(), b: z.string() })],
  recursion: [Tree],
};

test.each(
  Object.entries(ZOD).flatMap(([name, [schema, relaxed = []]]) =>
    (['draft-2020-12', 'draft-7'] as const).map((target) => ({ name, target, schema, relaxed })),
  ),
)('zod: $name in $target', async ({ schema, target, relaxed }) => {
  const json = z.toJSONSchema(schema, { target });
  const { grammar, names } = converted(json);
  expect(names).toEqual(relaxed);
  // The client reads the pattern, and the format is only its name.
  const isEnforced = relaxed.every((name) => 'pattern' in json && name.startsWith('format:'));
  for (const value of await drawn(grammar, 20))
    if (isEnforced) expect(schema.safeParse(value).error?.issues, JSON.stringify(value)).toBeUndefined();
});

const field = (schema: object) => ({
  type: 'object',
  title: 'Model',
  properties: { x: { title: 'X', ...schema } },
  required: ['x'],
});

/** The JSON schemas that pydantic 2 writes for a field, and the keywords that only the client checks. */
const PYDANTIC: Record<string, [object, string[]?]> = {
  AnyUrl: [{ type: 'string', format: 'uri', minLength: 1 }],
  HttpUrl: [{ type: 'string', format: 'uri', minLength: 1, maxLength: 2_083 }, ['maxLength']],
  'constr(max_length=5000)': [{ type: 'string', maxLength: 5_000 }, ['maxLength']],
  'conlist(max_length=5000)': [{ type: 'array', items: { type: 'string' }, maxItems: 5_000 }, ['maxItems']],
  timedelta: [{ type: 'string', format: 'duration' }],
  datetime: [{ type: 'string', format: 'date-time' }],
  time: [{ type: 'string', format: 'time' }],
  UUID: [{ type: 'string', format: 'uuid' }],
  EmailStr: [{ type: 'string', format: 'email' }],
  IPv4Address: [{ type: 'string', format: 'ipv4' }],
  IPv6Address: [{ type: 'string', format: 'ipv6' }],
  IPvAnyAddress: [{ type: 'string', format: 'ipvanyaddress' }, ['format:ipvanyaddress']],
  bytes: [{ type: 'string', format: 'binary' }, ['format:binary']],
  SecretStr: [{ type: 'string', format: 'password', writeOnly: true }, ['format:password']],
  Base64Str: [{ type: 'string', format: 'base64' }, ['format:base64']],
  Path: [{ type: 'string', format: 'path' }, ['format:path']],
  Json: [{ type: 'string', contentMediaType: 'application/json', contentSchema: { type: 'object' } }],
  'Field(multiple_of=5)': [{ type: 'integer', multipleOf: 5 }, ['multipleOf']],
  'Field(gt=0, le=1)': [{ type: 'number', exclusiveMinimum: 0, maximum: 1 }],
  'set[int]': [{ type: 'array', items: { type: 'integer' }, uniqueItems: true }, ['uniqueItems']],
  'dict[str, int], min_length=1': [
    { type: 'object', additionalProperties: { type: 'integer' }, minProperties: 1 },
  ],
  'dict[constr(pattern), int]': [
    { type: 'object', patternProperties: { '^[a-z]+$': { type: 'integer' } } },
    ['patternProperties'],
  ],
  'dict[Literal, int]': [
    { type: 'object', propertyNames: { enum: ['a', 'b'] }, additionalProperties: { type: 'integer' } },
  ],
  'dict[constr(min_length=2), int]': [
    { type: 'object', propertyNames: { minLength: 2 }, additionalProperties: { type: 'integer' } },
  ],
  'a word boundary': [{ type: 'string', pattern: '\\bfoo\\b' }, ['pattern']],
  'a property of Unicode': [{ type: 'string', pattern: '^\\p{L}+$' }, ['pattern']],
  'an inline flag': [{ type: 'string', pattern: '(?i)^abc$' }, ['pattern']],
  're.escape': [{ type: 'string', pattern: '^\\d{3}\\-\\d{4}$' }],
  Decimal: [{ anyOf: [{ type: 'number' }, { type: 'string', pattern: '^[+-]?\\d+(?:\\.\\d+)?$' }] }],
  Optional: [{ anyOf: [{ type: 'string', format: 'date' }, { type: 'null' }], default: null }],
  'tuple[int, str]': [
    { type: 'array', prefixItems: [{ type: 'integer' }, { type: 'string' }], minItems: 2, maxItems: 2 },
  ],
  'a discriminated union': [
    {
      discriminator: { propertyName: 'k', mapping: { a: '#/$defs/A' } },
      oneOf: [{ type: 'object', properties: { k: { const: 'a', type: 'string' } }, required: ['k'] }],
    },
  ],
};

/** Tools of Home Assistant's language model API. */
const HOME_ASSISTANT: Record<string, [object, string[]?]> = {
  HassTurnOn: [
    {
      type: 'object',
      properties: {
        name: { type: 'string' },
        domain: { type: 'array', items: { type: 'string' } },
        device_class: { type: 'array', items: { type: 'string', enum: ['awning', 'blind'] } },
      },
      required: [],
    },
  ],
  HassLightSet: [
    {
      type: 'object',
      properties: {
        area: { type: 'string' },
        temperature: { type: 'integer', minimum: 0 },
        brightness: { type: 'integer', minimum: 0, maximum: 100, description: 'Percentage' },
      },
      required: ['area'],
    },
  ],
  HassStartTimer: [
    {
      type: 'object',
      properties: {
        hours: { type: 'integer', minimum: 0 },
        minutes: { type: 'integer', minimum: 0 },
        name: { type: 'string', format: 'lower' },
      },
      anyOf: [{ required: ['hours'] }, { required: ['minutes'] }],
    },
    ['format:lower'],
  ],
  HassSetVolumeRelative: [
    {
      type: 'object',
      properties: {
        volume_step: {
          anyOf: [
            { type: 'string', enum: ['up', 'down'] },
            { type: 'integer', minimum: -100, maximum: 100 },
          ],
        },
      },
      required: ['volume_step'],
    },
  ],
  'a script with a nullable field': [
    {
      type: 'object',
      properties: {
        at: { type: 'string', format: 'time' },
        note: { type: 'string', nullable: true, default: '' },
      },
      required: ['at'],
    },
  ],
};

/** Schemas of OpenAI's strict mode: every property is required, none is added. */
const OPENAI: Record<string, [object, string[]?]> = {
  steps: [
    {
      type: 'object',
      properties: {
        steps: { type: 'array', items: { $ref: '#/$defs/step' } },
        answer: { type: ['string', 'null'] },
        unit: { type: 'string', enum: ['C', 'F'] },
      },
      required: ['steps', 'answer', 'unit'],
      additionalProperties: false,
      $defs: {
        step: {
          type: 'object',
          properties: { explanation: { type: 'string' }, done: { type: 'boolean' } },
          required: ['explanation', 'done'],
          additionalProperties: false,
        },
      },
    },
  ],
  'a recursive schema': [
    {
      type: 'object',
      properties: { label: { type: 'string' }, next: { anyOf: [{ $ref: '#' }, { type: 'null' }] } },
      required: ['label', 'next'],
      additionalProperties: false,
    },
  ],
  'all documented keywords': [
    {
      type: 'object',
      properties: {
        when: { type: 'string', format: 'date-time' },
        length: { type: 'string', format: 'duration' },
        host: { type: 'string', format: 'hostname' },
        address: { type: 'string', format: 'ipv6' },
        handle: { type: 'string', pattern: '^@[a-zA-Z0-9_]+$' },
        amount: { type: 'number', minimum: -10, maximum: 130, multipleOf: 0.5 },
        tags: { type: 'array', items: { type: 'string' }, minItems: 1, maxItems: 3 },
      },
      required: ['when', 'length', 'host', 'address', 'handle', 'amount', 'tags'],
      additionalProperties: false,
    },
    ['multipleOf'],
  ],
};

const PRODUCERS: [string, Record<string, [object, string[]?]>, (schema: object) => object][] = [
  ['pydantic', PYDANTIC, field],
  ['Home Assistant', HOME_ASSISTANT, (schema) => schema],
  ['OpenAI', OPENAI, (schema) => schema],
];

test.each(
  PRODUCERS.flatMap(([producer, schemas, wrap]) =>
    Object.entries(schemas).map(([name, [schema, relaxed = []]]) => ({
      name: `${producer}: ${name}`,
      schema: wrap(schema),
      relaxed,
    })),
  ),
)('$name', async ({ schema, relaxed }) => {
  const { grammar, names } = converted(schema);
  expect(names).toEqual(relaxed);
  const values = await drawn(grammar, 20);
  if (relaxed.length > 0) return;
  const validate = ajv.compile(schema);
  for (const value of values)
    expect(validate(value), `${JSON.stringify(value)}: ${ajv.errorsText(validate.errors)}`).toBe(true);
});
