import type { Preset } from '../../settings/name-tables.ts';
import type { Settings } from '../../settings/settings.ts';
import { matchesGlob } from '../../upstreams/globs.ts';

/** The aliases and presets of config.toml. */
export interface NameTables {
  readonly aliases: Readonly<Record<string, string>>;
  readonly presets: Readonly<Record<string, Preset>>;
}

/** One name that the owner configured. */
export interface ConfiguredName {
  readonly kind: 'alias' | 'preset';
  readonly name: string;
  /** The name that it stands for: of a slot, a model or another configured name. */
  readonly target: string;
  /** The settings of a preset, also of one that an alias leads to; null for none. */
  readonly preset: Preset | null;
}

/** What one exact name stands for. */
export interface NameEntry {
  readonly kind: ConfiguredName['kind'];
  readonly target: string;
}

/** Why an entry has no effect. */
export interface NameProblem {
  readonly kind: ConfiguredName['kind'];
  readonly name: string;
  readonly target: string;
  readonly message: string;
}

const isPattern = (name: string): boolean => name.includes('*');

/**
 * The names of `[aliases]` and `[presets]` (docs/spec/contract.md#configured-aliases). Entries of a cycle, and
 * presets that lead to another preset, are problems and no names. Immutable.
 */
export class ConfiguredNames {
  readonly problems: readonly NameProblem[];
  readonly #exact = new Map<string, NameEntry>();
  readonly #patterns: [pattern: string, target: string][] = [];
  readonly #presets: ReadonlyMap<string, Preset>;

  constructor({ aliases, presets }: NameTables) {
    this.#presets = new Map(Object.entries(presets));
    for (const [name, target] of Object.entries(aliases)) {
      if (isPattern(name)) this.#patterns.push([name, target]);
      else this.#exact.set(name, { kind: 'alias', target });
    }
    const twice: NameProblem[] = [];
    for (const [name, { model }] of this.#presets) {
      if (this.#exact.has(name))
        twice.push({
          ...{ kind: 'alias', name, target: this.#exact.get(name)?.target ?? '' },
          message: 'has no effect: a preset has the same name',
        });
      this.#exact.set(name, { kind: 'preset', target: model });
    }
    this.problems = [...twice, ...this.#dropUnusable()];
  }

  get isEmpty(): boolean {
    return this.#exact.size === 0 && this.#patterns.length === 0;
  }

  get hasPresets(): boolean {
    return this.#presets.size > 0;
  }

  /** Returns the exact names, aliases first. */
  names(): string[] {
    return [...this.#exact.keys()];
  }

  patterns(): readonly (readonly [pattern: string, target: string])[] {
    return this.#patterns;
  }

  /** Returns the entry of an exact name. */
  entry(name: string): NameEntry | undefined {
    return this.#exact.get(name);
  }

  /** Returns the target of the first pattern that matches. */
  matching(name: string): string | undefined {
    return this.#patterns.find(([pattern]) => matchesGlob(pattern, name))?.[1];
  }

  preset(name: string): Preset | null {
    return this.#presets.get(name) ?? null;
  }

  #dropUnusable(): NameProblem[] {
    const found = [...this.#exact].flatMap(([name, { kind, target }]) => {
      const message = this.#objection(name);
      return message === null ? [] : [{ kind, name, target, message }];
    });
    for (const { name } of found) this.#exact.delete(name);
    return found;
  }

  #objection(name: string): string | null {
    const path = [name];
    let presets = 0;
    for (let at = this.#exact.get(name); at !== undefined; at = this.#exact.get(path.at(-1) as string)) {
      if (at.kind === 'preset') presets++;
      if (presets > 1) return 'leads from one preset to another; a preset names a model, a slot or an alias';
      if (path.includes(at.target)) return `leads back to itself: ${[...path, at.target].join(' → ')}`;
      path.push(at.target);
    }
    return null;
  }
}

export const NO_NAMES = new ConfiguredNames({ aliases: {}, presets: {} });

/** Returns a function that reads the current names. They are built again only after a change of the settings. */
export function liveNames(settings: Pick<Settings, 'value'>): () => ConfiguredNames {
  let [aliases, presets] = [settings.value('aliases'), settings.value('presets')];
  let names = new ConfiguredNames({ aliases, presets });
  return () => {
    const [nextAliases, nextPresets] = [settings.value('aliases'), settings.value('presets')];
    if (nextAliases === aliases && nextPresets === presets) return names;
    [aliases, presets] = [nextAliases, nextPresets];
    names = new ConfiguredNames({ aliases, presets });
    return names;
  };
}
