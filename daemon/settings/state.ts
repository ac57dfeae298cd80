import type { SettingRow } from '../contract/system.ts';
import type { Log } from '../lib/log.ts';
import { type SettingName, type SettingValue, settingRows } from './catalogue.ts';
import { type ConfigReading, evaluateConfig, retainedValues } from './config-layer.ts';
import type { ConfigMemory } from './config-values.ts';
import { ENV_FILE, type EnvReading, enforcesByEnv, evaluateEnv } from './env-layer.ts';
import type { Folders } from './folders.ts';
import { LastGood, type SavedState } from './last-good.ts';
import { environmentValue, type Resolved, resolve, type Sources } from './precedence.ts';
import { NewProblems, type Problem, textOf } from './problem.ts';
import type { FileRead } from './read-file.ts';
import { SecretList } from './secrets.ts';
import { viewSetting } from './views.ts';

type Env = Readonly<Record<string, string | undefined>>;
const ENFORCEMENT = 'security.require_auth';
const ROWS = settingRows();
const EQUAL_KEYS =
  'SVC_CLIENT_KEY equals SVC_ADMIN_KEY, so every app with this key has admin access; run svcctl auth rotate client';

/** The effective settings, rebuilt from each reading of the two files. Does not read or edit files itself. */
export class SettingsState {
  readonly #inherited: Env;
  readonly #log: Log;
  readonly #memory: LastGood;
  readonly #secrets = new SecretList();
  readonly #everInFile = new Set<string>();
  #saved: SavedState = { lastGood: null, config: false, apiEnv: false };
  #env: EnvReading = {
    state: 'missing',
    values: new Map(),
    lines: new Map(),
    unread: new Set(),
    problems: [],
  };
  #lastEnv: EnvReading | null = null;
  #config: ConfigReading = { state: 'missing', values: new Map(), problems: [], wrong: new Map() };
  #resolved = new Map<SettingName, Resolved<unknown>>();
  #problems: readonly Problem[] = [];
  readonly #newProblems = new NewProblems();

  constructor(folders: Folders, inherited: Env, log: Log) {
    this.#inherited = { ...inherited };
    this.#log = log;
    this.#memory = new LastGood(folders.state, log);
  }

  async start(): Promise<void> {
    this.#saved = await this.#memory.load();
  }

  get problems(): readonly Problem[] {
    if (!this.#memory.failed) return this.#problems;
    const message =
      'the last good configuration could not be saved in the state folder; free disk space or correct its permissions';
    return [...this.#problems, { file: 'last-good.json', line: null, message }];
  }

  get secrets(): readonly string[] {
    return this.#secrets.values;
  }

  /** Whether one of the files is currently unusable. */
  get broken(): boolean {
    return this.#env.state === 'broken' || this.#config.state === 'broken';
  }

  get fatalConfigError(): Problem | null {
    return this.#config.fatalError ?? null;
  }

  resolved<N extends SettingName>(name: N): Resolved<SettingValue<N>> {
    return this.#resolved.get(name) as Resolved<SettingValue<N>>;
  }

  environment(name: string): string | undefined {
    return environmentValue(name, this.#sources())?.text;
  }

  views(): SettingRow[] {
    return ROWS.map((row) =>
      viewSetting(row, this.resolved(row.name), this.#config.wrong.get(row.toml ?? '')),
    );
  }

  /** Applies one reading of both files. */
  apply(reads: { env: FileRead; config: FileRead }): void {
    this.#env = evaluateEnv(reads.env, {
      last: this.#lastEnv,
      enforced: this.#saved.apiEnv && !this.#inheritsEnforcement(),
      uid: process.geteuid?.() ?? null,
    });
    this.#lastEnv = this.#env;
    for (const name of this.#env.values.keys())
      if (Object.hasOwn(this.#inherited, name)) this.#everInFile.add(name);
    this.#config = evaluateConfig(reads.config, this.#configMemory());
    this.#updateKnown();
    const sources = this.#sources();
    this.#resolved = new Map(ROWS.map((row) => [row.name, resolve(row, sources)]));
    this.#secrets.update(this.#env.values, Object.entries(this.#inherited));
    this.#collectProblems(sources);
  }

  /** Stores that enforcement is about to be turned on, so that a crash in between does not lose it. */
  async saveEnforcementAhead(): Promise<void> {
    await this.#memory.save({ ...this.#saved, config: true });
  }

  /** Stores the current state for a start at which the files cannot be read. */
  async saveLastGood(): Promise<void> {
    await this.#memory.save(this.#saved);
  }

  /** Returns the values by `table.key` that a write into config.toml with this content must add. */
  retainedValues(config: Buffer | null): ReadonlyMap<string, unknown> {
    return retainedValues(config, this.#configMemory());
  }

  #configMemory(): ConfigMemory {
    return { lastGood: this.#saved.lastGood, enforced: this.#saved.config };
  }

  #sources(): Sources {
    return {
      fileEnv: this.#env.values,
      everInFile: this.#everInFile,
      inheritedEnv: this.#inherited,
      unread: this.#env.unread,
      toml: this.#config.values,
    };
  }

  #inheritsEnforcement(): boolean {
    return (this.#inherited.SVC_REQUIRE_AUTH ?? '').trim() !== '';
  }

  #updateKnown(): void {
    const { state, values } = this.#config;
    if (state === 'good') {
      this.#saved = { ...this.#saved, lastGood: values, config: values.get(ENFORCEMENT) === true };
    }
    if (this.#env.state !== 'broken') {
      this.#saved = { ...this.#saved, apiEnv: enforcesByEnv(this.#env.values) };
    }
  }

  /** Equal keys are a problem: each app has the rights of an admin (docs/spec/contract.md#equal-keys). */
  #equalKeys(sources: Sources): Problem[] {
    const client = this.resolved('clientKey').value;
    if (client === '' || client !== this.resolved('adminKey').value) return [];
    const inFile = environmentValue('SVC_CLIENT_KEY', sources)?.origin === 'file';
    const line = (inFile && this.#env.lines.get('SVC_CLIENT_KEY')) || null;
    return [{ file: inFile ? ENV_FILE : 'environment', line, message: EQUAL_KEYS }];
  }

  /** Collects all problems and logs those that are new. */
  #collectProblems(sources: Sources): void {
    const warnings = ROWS.flatMap((row) => {
      const warning = this.resolved(row.name).warning;
      if (warning === undefined || row.env === undefined) return [];
      const inFile = environmentValue(row.env, sources)?.origin === 'file';
      const line = (inFile && this.#env.lines.get(row.env)) || null;
      return [{ file: inFile ? ENV_FILE : 'environment', line, message: warning }];
    });
    this.#problems = [
      ...this.#env.problems,
      ...warnings,
      ...this.#equalKeys(sources),
      ...this.#config.problems,
    ];
    this.#newProblems.log(this.#problems, (problem) => this.#log.warn(textOf(problem)));
  }
}
