import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach } from 'vitest';
import { createLog } from '../../lib/log.ts';
import { parseEnvFile } from '../env-file.ts';
import { openSettings } from '../open-settings.ts';
import type { Settings, SettingsOptions } from '../settings.ts';

/** New gateway folders for each test, and settings on them. */
export class SettingsBench {
  base = '';
  /** The log lines. */
  lines: string[] = [];
  readonly log = createLog({ level: 'debug', write: (line) => this.lines.push(line) });
  readonly #open: Settings[] = [];

  constructor() {
    beforeEach(() => {
      this.base = mkdtempSync(join(tmpdir(), 'svc-settings-'));
      this.lines = [];
    });
    afterEach(() => {
      for (const settings of this.#open.splice(0)) settings.close();
      rmSync(this.base, { recursive: true, force: true });
    });
  }

  config = (name = 'config.toml'): string => join(this.base, 'config', name);
  apiEnv = (): string => this.config('api.env');
  state = (name: string): string => join(this.base, 'state', name);
  put = (path: string, text: string): void => {
    mkdirSync(join(this.base, 'config'), { recursive: true, mode: 0o700 });
    writeFileSync(path, text, { mode: 0o600 });
  };
  text = (path: string): string => readFileSync(path, 'utf8');
  /** Returns a value of `api.env`. */
  fileKey = (name: string): string | undefined => parseEnvFile(readFileSync(this.apiEnv())).get(name);

  start = async (options: Partial<SettingsOptions> = {}): Promise<Settings> => {
    const env = { SVC_HOME: this.base, ...options.env };
    const settings = await openSettings({ log: this.log, watch: false, ...options, env });
    this.#open.push(settings);
    return settings;
  };
}
