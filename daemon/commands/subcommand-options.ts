import type { DaemonArguments } from '../lib/arguments.ts';

export interface SubcommandOptions {
  env: Readonly<Record<string, string | undefined>>;
  args: DaemonArguments;
  out(text: string): void;
}
