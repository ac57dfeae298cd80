import { join } from 'node:path';
import { expect } from 'vitest';
import { tinyChat } from '../../models/testing/gguf/tiny-chat.ts';
import { writeOtherProgram } from '../../slots/testing/other-program.ts';
import { newHome } from './home.ts';
import { OneGateway } from './one-gateway.ts';
import { envFor, type RunOptions, svcctl } from './svcctl.ts';
import { startGuarded } from './tiny-gateway.ts';

export const LONG = 'a-model-whose-id-is-much-longer-than-any-terminal-would-like-it-to-be-in-a-table';

const loadedFileOf = (home: string) => join(home, 'loaded');

/** A gateway that requires keys for one test file, and svcctl that uses it with the admin key for it. */
export class SvcctlGateway extends OneGateway {
  constructor() {
    super(() => {
      const home = newHome();
      const slowEngine = [
        process.execPath,
        writeOtherProgram(home),
        '--port',
        '{port}',
        '--until',
        loadedFileOf(home),
      ];
      return startGuarded({
        home,
        models: { second: tinyChat({ context: 4096 }), [LONG]: tinyChat({ context: 4096 }) },
        files: {
          'config/slots/utility.toml': '# mine\nmodel = "tiny"\nparallel = 1\n',
          'config/slots/hollow.toml': 'model = "not-here"\n',
          'config/slots/lasting.toml': `engine = "custom"\nautoload = false\ncommand = ${JSON.stringify(slowEngine)}\n`,
        },
      });
    });
  }

  /** Slot `lasting`, a custom engine, stays in its loading until this file exists. */
  get loadedFile(): string {
    return loadedFileOf(this.home);
  }

  run = (args: string[], options: RunOptions = {}): ReturnType<typeof svcctl> =>
    svcctl(args, { ...options, env: { ...envFor(this), COLUMNS: '80', ...options.env } });

  /** Runs a command that must succeed and returns its output. */
  runOk = async (...args: string[]): Promise<string> => {
    const result = await this.run(args);
    expect(result, args.join(' ')).toMatchObject({ code: 0, err: '' });
    return result.out;
  };

  /** Runs a command that must succeed with `--json` and returns the parsed output. */
  runJson = async <T>(...args: string[]): Promise<T> => JSON.parse(await this.runOk(...args, '--json')) as T;
}
