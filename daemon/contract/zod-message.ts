import type { z } from 'zod';

type Issue = z.core.$ZodIssue;

/** How the default messages of the validator start. All other messages come from a schema. */
const VALIDATOR_MESSAGE = /^(Invalid |Too (small|big): )/;

const KINDS: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  bigint: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
  null: 'null',
};
const kind = (expected: string): string => KINDS[expected] ?? expected;

/** Units of the size of a string or list. */
const SIZE_UNITS: Readonly<Record<string, readonly [one: string, many: string]>> = {
  string: ['character', 'characters'],
  array: ['entry', 'entries'],
};

function sizeReason(
  origin: string,
  bound: number | bigint,
  side: 'least' | 'most',
  inclusive = true,
): string {
  const units = SIZE_UNITS[origin];
  if (units === undefined) {
    if (!inclusive) return `must be ${side === 'least' ? 'more' : 'less'} than ${bound}`;
    return `must be ${bound} or ${side === 'least' ? 'more' : 'less'}`;
  }
  if (side === 'least' && Number(bound) === 1) return 'must not be empty';
  return `must have at ${side} ${bound} ${units[Number(bound) === 1 ? 0 : 1]}`;
}

/**
 * Returns the types that a value may have if it has none of them. Returns null if the type is right and the
 * value is wrong in another way.
 */
function kindsOf(branches: readonly (readonly Issue[])[]): string[] | null {
  const kinds = branches.map(([first]) =>
    first?.code === 'invalid_type' && first.path.length === 0 ? kind(first.expected) : null,
  );
  return kinds.length === 0 || kinds.includes(null) ? null : [...new Set(kinds as string[])];
}

function unionReason(branches: readonly (readonly Issue[])[]): string {
  const kinds = kindsOf(branches);
  return kinds === null ? 'is not in any of the accepted forms' : `must be ${kinds.join(' or ')}`;
}

/**
 * Describes what is wrong with a value, as the end of a sentence that starts with its name: `must be a whole
 * number`. Messages from a schema stay unchanged. The value itself is never included.
 */
export function zodMessage(issue: Issue): string {
  if (issue.code === 'custom' || !VALIDATOR_MESSAGE.test(issue.message)) return issue.message;
  switch (issue.code) {
    case 'invalid_type':
      return issue.message.endsWith('received undefined') ? 'is required' : `must be ${kind(issue.expected)}`;
    case 'too_small':
      return sizeReason(issue.origin, issue.minimum, 'least', issue.inclusive);
    case 'too_big':
      return sizeReason(issue.origin, issue.maximum, 'most', issue.inclusive);
    case 'invalid_value':
      return `must be ${issue.values.length === 1 ? '' : 'one of '}${issue.values.join(', ')}`;
    case 'not_multiple_of':
      return `must be a multiple of ${issue.divisor}`;
    case 'invalid_format':
      return issue.format === 'regex' ? `must match ${issue.pattern}` : `must be a valid ${issue.format}`;
    case 'invalid_union':
      return 'options' in issue && Array.isArray(issue.options)
        ? `must be one of ${issue.options.join(', ')}`
        : unionReason(issue.errors);
    default:
      return 'is not valid';
  }
}
