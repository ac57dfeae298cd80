import { expect } from 'vitest';
import { tinyChat } from '../../models/gguf/tiny-chat.ts';
import { OneGateway } from './one-gateway.ts';
import { pointing, type RunOptions, svcctl } from './svcctl.ts';
import { startGuarded } from './tiny-gateway.ts';

export const LONG = 'a-model-whose-id-is-much-longer-than-any-terminal-would-like-it-to-be-in-a-table';

/** A guarded gateway for one test file, and svcctl with the admin key that points at it. */
export class SvcctlGateway extends OneGateway {
  constructor() {
    super(() =>
      startGuarded({
        models: { second: tinyChat({ context: 4096 }), [LONG]: tinyChat({ context: 4096 }) },
        files: {
          'config/slots/utility.toml': '# mine\nmodel = "tiny"\nparallel = 1\n',
          'config/slots/hollow.toml': 'model = "not-here"\n',
        },
      }),
    );
  }

  run = (args: string[], options: RunOptions = {}): ReturnType<typeof svcctl> =>
    svcctl(args, { ...options, env: { ...pointing(this), ...options.env } });

  /** Runs a command that must succeed, and answers its output. */
  said = async (...args: string[]): Promise<string> => {
    const ran = await this.run(args);
    expect(ran, args.join(' ')).toMatchObject({ code: 0, err: '' });
    return ran.out;
  };

  /** What a command tells as JSON. */
  told = async <T>(...args: string[]): Promise<T> => JSON.parse(await this.said(...args, '--json')) as T;
}
