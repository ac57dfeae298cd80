import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Gateway } from '../../../../daemon/test/harness/gateway.ts';
import { envFor, svcctl } from '../../../../daemon/test/harness/svcctl.ts';
import { type IsolatedProgram, startIsolated } from '../../harness/isolated.ts';
import type { Relay } from '../../harness/relay.ts';
import { SCRIPTED_MODEL, type ScriptStep } from '../scripted-model.ts';
import type { Agent, Place } from './agent.ts';
import { onePagePdf } from './pdf.ts';

/** A session that takes longer is killed. */
const SESSION_LIMIT_MS = 90_000;
export const FINISHED = 'The file says green now.';

/** Starts agents against one gateway, each in separate folders. */
export class Sessions {
  readonly #gateway: Gateway;
  readonly #relay: Relay;
  readonly #limitMs: number;
  readonly #folder = mkdtempSync(join(tmpdir(), 'svc-agents-'));

  constructor(gateway: Gateway, relay: Relay, limitMs = SESSION_LIMIT_MS) {
    this.#gateway = gateway;
    this.#relay = relay;
    this.#limitMs = limitMs;
  }

  /** Folders with the files of the task, for an agent that is installed in `packages`. */
  place(packages: string, model = SCRIPTED_MODEL): Place {
    const folder = mkdtempSync(join(this.#folder, 'session-'));
    const [home, work] = [join(folder, 'home'), join(folder, 'work')];
    for (const each of [home, work, temporaryOf(home)]) mkdirSync(each);
    writeFileSync(join(work, 'note.txt'), 'colour = red\n');
    writeFileSync(join(work, 'report.pdf'), onePagePdf('Quarterly report'));
    return { packages, home, work, model };
  }

  /** Starts an agent with the configuration that `svcctl agents` prints. */
  async start(agent: Agent, place: Place, prompt: string, key: string): Promise<IsolatedProgram> {
    const printed = await svcctl(['agents', agent.configuration, '--model', place.model], {
      env: { ...envFor(this.#gateway), SVC_URL: this.#relay.url },
    });
    if (printed.code !== 0) throw new Error(`svcctl agents ended with ${printed.code}: ${printed.err}`);
    const configured = agent.configure(printed.out, place);
    const variables = Object.entries({
      ...agent.env,
      ...configured,
      TMPDIR: temporaryOf(place.home),
      SVC_CLIENT_KEY: key,
    });
    return startIsolated(agent.command(prompt, place), {
      ports: [this.#relay.port],
      // As a shell does with the printed lines.
      env: Object.fromEntries(
        variables.map(([name, value]) => [name, value.replace('$SVC_CLIENT_KEY', key)]),
      ),
      home: place.home,
      cwd: place.work,
      limitMs: this.#limitMs,
    });
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** Codex refuses to put helpers below the folder for temporary files, so each has a separate one. */
const temporaryOf = (home: string): string => join(home, 'tmp');

/** The task: read, edit, two commands at once, a PDF, an answer. */
export const taskOf = (agent: Agent, { work }: Place): ScriptStep[] => {
  const note = join(work, 'note.txt');
  return [
    { calls: [agent.read(note)] },
    { calls: [agent.edit(note, 'colour = red', 'colour = green')] },
    { calls: [agent.run('echo first; echo 1 > one.txt'), agent.run('echo second; echo 2 > two.txt')] },
    { calls: [agent.readPdf(join(work, 'report.pdf'))] },
    { text: FINISHED },
  ];
};

/** The files that the task leaves. */
export const filesOf = ({ work }: Place): string[] =>
  ['note.txt', 'one.txt', 'two.txt'].map((name) => readFileSync(join(work, name), 'utf8'));
