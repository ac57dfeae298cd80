import { join } from 'node:path';
import { expect } from 'vitest';
import { tinyChat } from '../../models/gguf/tiny-chat.ts';
import { writeOtherProgram } from '../../slots/testing/other-program.ts';
import { newHome } from './home.ts';
import { OneGateway } from './one-gateway.ts';
import { type RunOptions, svcctl, svcctlEnv } from './svcctl.ts';
import { startGuarded } from './tiny-gateway.ts';

export const LONG = 'a-model-whose-id-is-much-longer-than-any-terminal-would-like-it-to-be-in-a-table';

const loadedFile = (home: string) => join(home, 'loaded');

/** A gateway with keys for one test file, and svcctl that uses it with the admin key. */
export class SvcctlGateway extends OneGateway {
  constructor() {
    super(() => {
      const home = newHome();
      const lasting = [
        process.execPath,
        writeOtherProgram(home),
        '--port',
        '{port}',
        '--until',
        loadedFile(home),
      ];
      return startGuarded({
        home,
        models: { second: tinyChat({ context: 4096 }), [LONG]: tinyChat({ context: 4096 }) },
        files: {
          'config/slots/utility.toml': '# mine\nmodel = "tiny"\nparallel = 1\n',
          'config/slots/hollow.toml': 'model = "not-here"\n',
          'config/slots/lasting.toml': `engine = "custom"\nautoload = false\ncommand = ${JSON.stringify(lasting)}\n`,
        },
      });
    });
  }

  /** Slot `lasting` is loading until this file exists. */
  get loadedFile(): string {
    return loadedFile(this.home);
  }

  run = (args: string[], options: RunOptions = {}): ReturnType<typeof svcctl> =>
    svcctl(args, { ...options, env: { ...svcctlEnv(this), COLUMNS: '80', ...options.env } });

  /** Runs a command that must succeed. Returns its output. */
  stdout = async (...args: string[]): Promise<string> => {
    const ran = await this.run(args);
    expect(ran, args.join(' ')).toMatchObject({ code: 0, err: '' });
    return ran.out;
  };

  /** Runs a command with `--json`. Returns the parsed output. */
  parsed = async <T>(...args: string[]): Promise<T> => JSON.parse(await this.stdout(...args, '--json')) as T;
}
