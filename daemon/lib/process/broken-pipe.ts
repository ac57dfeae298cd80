/**
 * Ends a command whose standard output takes no more: without a word when its reader has what it wanted and is gone
 * (`| head`), otherwise with one line and exit code 1, since what it was asked for is nowhere.
 */
export function exitOnBrokenPipe(program: string): void {
  process.stdout.on('error', ({ code, message }: NodeJS.ErrnoException) => {
    if (code === 'EPIPE') process.exit(0);
    process.stderr.write(`${program}: standard output takes no more (${code ?? message})\n`);
    process.exit(1);
  });
}
