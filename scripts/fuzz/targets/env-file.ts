import {
  describeEnvFile,
  EnvFileError,
  parseEnvFile,
  setInEnvFile,
} from '../../../daemon/settings/env-file.ts';
import { scanEnv } from '../../../daemon/settings/env-scan.ts';
import { assertProperty, assertSame, orNullIf } from '../assert.ts';

/** A comment that continues in older releases of systemd. Nothing else in a file may prevent a change. */
const UNDECIDED = /(^|^\xef\xbb\xbf|[\r\n])[ \t\r\n]*[#;][^\r\n]*\\[\r\n]/;

/** The text without the lines that assign K. */
function withoutK(text: string): string {
  const spans = scanEnv(text).assignments.filter(({ name }) => ASSIGNS_K.test(name));
  return spans.reduceRight((rest, { start, valueEnd }) => {
    const before = rest.slice(0, start).replace(/[ \t]*$/, '');
    return before + rest.slice(valueEnd).replace(/^(?:\r\n|\r|\n)/, '');
  }, text);
}

const ASSIGNS_K = /^(?:export[ \t]+)?K$/;

const sorted = (values: Map<string, string>) => [...values].sort(([a], [b]) => (a < b ? -1 : 1));

/**
 * Input: the length of a value, the value, then an environment file. Setting the value changes nothing else.
 */
export function fuzz(data: Buffer): void {
  const length = (data[0] ?? 0) % 32;
  const value = data.toString('latin1', 1, 1 + length);
  const before = data.subarray(1 + length);
  const { lines } = describeEnvFile(before);
  assertSame(
    [...lines.keys()].sort(),
    [...parseEnvFile(before).keys()].sort(),
    'the names that are described',
  );
  const refused = (error: unknown) => error instanceof EnvFileError;
  const after = orNullIf(() => setInEnvFile(before, 'K', value), refused);
  if (after === null) {
    const odd = /[\0-\x1f\x7f]/.test(value) || UNDECIDED.test(before.toString('latin1'));
    assertProperty(odd, 'a change that is refused without a reason');
    return;
  }
  assertSame(
    sorted(parseEnvFile(after)),
    sorted(parseEnvFile(before).set('K', value)),
    'what is read afterwards',
  );
  if (!UNDECIDED.test(before.toString('latin1')))
    assertSame(
      setInEnvFile(after, 'K', value).toString('latin1'),
      after.toString('latin1'),
      'the same change again',
    );
  const [old, now] = [before.toString('latin1'), after.toString('latin1')];
  const unchanged = now.startsWith(old) || withoutK(now) === withoutK(old);
  assertProperty(unchanged, 'a change of other bytes');
}
