import { describe, expect, it } from 'vitest';
import { parseCommandLine } from './arguments.ts';
import { CliError, EXIT } from './exit-codes.ts';

function refusal(...argv: string[]): CliError {
  try {
    parseCommandLine(argv);
  } catch (error) {
    return error as CliError;
  }
  throw new Error('it was taken');
}

describe('parseCommandLine', () => {
  it('reads words and options in any order', () => {
    const { values, positionals } = parseCommandLine(['auth', '--json', 'rotate', 'admin', '--force']);
    expect(positionals).toEqual(['auth', 'rotate', 'admin']);
    expect(values).toMatchObject({ json: true, force: true, help: false });
  });

  it.each([
    ['--key', 's3cret-value'],
    ['--key=s3cret-value'],
    ['--api-key', 's3cret-value'],
    ['--admin-key=s3cret-value'],
    ['--token=s3cret-value'],
    ['--password', 's3cret-value'],
    ['-key', 's3cret-value'],
    ['--with-keys=s3cret-value'],
  ])('X04 a key as an argument is refused and not repeated: %s', (...words) => {
    const error = refusal(...words, 'auth', 'status');
    expect(error).toBeInstanceOf(CliError);
    expect(error.exitCode).toBe(EXIT.usage);
    expect(error.message).toMatch(/never accepted as an argument.*SVC_ADMIN_KEY/);
    expect(error.message).not.toContain('s3cret');
  });

  it('a known option that looks like one for a key is accepted', () => {
    expect(parseCommandLine(['backup', '--with-keys', 'file']).values['with-keys']).toBe(true);
  });

  it.each([
    ['--state', 'foo', '--state takes running, done'],
    ['--level', 'foo', '--level takes debug, info, warn, error'],
  ])('%s with an invalid word is refused and not repeated', (option, word, message) => {
    expect(refusal('logs', option, word)).toMatchObject({ exitCode: EXIT.usage, message });
  });

  it('after -- everything is text', () => {
    expect(parseCommandLine(['chat', '--', '--key', 'x']).positionals).toEqual(['chat', '--key', 'x']);
  });

  it('an unknown option is one sentence', () => {
    expect(refusal('--nope', 'status').message).toBe("Unknown option '--nope'. See svcctl --help.");
    expect(refusal('--model').exitCode).toBe(EXIT.usage);
  });
});
