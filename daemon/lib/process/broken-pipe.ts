/**
 * Ends the process when standard output can no longer be written: silently with code 0 when the reader has
 * closed the pipe (`| head`), otherwise with one line on stderr and exit code 1, because the output is lost.
 */
export function exitOnBrokenPipe(program: string): void {
  process.stdout.on('error', ({ code, message }: NodeJS.ErrnoException) => {
    if (code === 'EPIPE') process.exit(0);
    process.stderr.write(`${program}: cannot write to standard output (${code ?? message})\n`);
    process.exit(1);
  });
}
