import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { GatewayEvents } from '../../contract/events.ts';
import { EventBus } from '../../lib/async/event-bus.ts';
import { createLog } from '../../lib/log.ts';
import { Outbound } from '../../lib/net/outbound.ts';
import { SETTINGS } from '../../settings/catalogue.ts';
import type { SlotModel } from '../engines/engine.ts';
import { createSlots, type Slots, type SlotsOptions } from '../slots.ts';

/** Slots with temporary folders and default settings. `remove` removes everything. */
export class SlotsBench {
  readonly root = mkdtempSync(join(tmpdir(), 'slots-'));
  readonly folders = { config: join(this.root, 'config'), state: join(this.root, 'state') };
  readonly bus = new EventBus<GatewayEvents>();
  readonly logged: string[] = [];
  readonly outbound = new Outbound({ connectMs: () => 1_000 });
  environment: Record<string, string> = {};
  model: SlotModel | null = null;
  memory = 64 * 1024 ** 3;
  cores = 2;
  #slots: Slots | null = null;

  constructor() {
    mkdirSync(join(this.folders.config, 'slots'), { recursive: true });
    mkdirSync(this.folders.state);
  }

  slotFile(name: string, text: string): void {
    writeFileSync(join(this.folders.config, 'slots', `${name}.toml`), text);
  }

  open(over: Partial<SlotsOptions> = {}): Slots {
    const value = (name: keyof typeof SETTINGS) => SETTINGS[name].default;
    this.#slots = createSlots({
      settings: {
        folders: this.folders,
        value: value as SlotsOptions['settings']['value'],
        environment: (name) => this.environment[name],
      },
      log: createLog({ level: 'debug', write: (line) => this.logged.push(line) }),
      bus: this.bus,
      outbound: this.outbound,
      modelFor: () => this.model,
      headroom: () => ({ pool: 'host', free: this.memory }),
      cores: this.cores,
      ...over,
    });
    return this.#slots;
  }

  async remove(): Promise<void> {
    await this.#slots?.stop(0);
    await this.outbound.close();
    rmSync(this.root, { recursive: true, force: true });
  }
}
