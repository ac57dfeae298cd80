import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach } from 'vitest';
import { tinyChat } from './gguf/tiny-chat.ts';
import { encodeGguf } from './gguf/writer.ts';
import { type FakeHub, startHub } from './hub.ts';
import { type BenchOptions, type PullBench, pullBench } from './pull-bench.ts';

export const REPO = 'maker/Tiny-Chat-GGUF';
export const FILE = 'tiny-chat.Q4_K_M.gguf';
/** The file of the repository: a real model. */
export const WEIGHTS = Buffer.from(encodeGguf(tinyChat({ name: 'Tiny', width: 32 })));

/** Creates a hub with one repository and its pulls for each test of a file. */
export class PullHub {
  #hub: FakeHub | null = null;
  #bench: PullBench | null = null;
  /** Cleanup functions of the test, run in reverse order. */
  readonly ends: (() => Promise<void> | void)[] = [];

  constructor() {
    beforeEach(async () => {
      this.#hub = await startHub({
        [REPO]: { files: { [FILE]: WEIGHTS, 'README.md': Buffer.from('# Tiny') }, licence: 'mit' },
      });
      this.ends.push(() => this.#hub?.close());
    });
    afterEach(async () => {
      for (const end of this.ends.splice(0).reverse()) await end();
    });
  }

  get hub(): FakeHub {
    if (this.#hub === null) throw new Error('the hub is not started');
    return this.#hub;
  }

  get bench(): PullBench {
    if (this.#bench === null) throw new Error('nothing is open');
    return this.#bench;
  }

  open = async (options: BenchOptions = {}): Promise<PullBench> => {
    this.#bench = await pullBench(this.hub.url, options);
    this.ends.push(this.#bench.close);
    return this.#bench;
  };

  /** Lists everything below the models folder, including hidden files. */
  onDisk = (): string[] =>
    readdirSync(this.bench.models, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => join(parentPath, name).slice(this.bench.models.length + 1))
      .filter((name) => name !== 'svc-demo.gguf');
}
